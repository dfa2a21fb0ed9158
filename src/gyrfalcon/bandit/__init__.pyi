# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.bandit.audit import audit_decision_log as audit_decision_log
from gyrfalcon.bandit.audit_report import AuditReport as AuditReport
from gyrfalcon.bandit.audit_report import Difference as Difference
from gyrfalcon.bandit.explanation import ActionExplanation as ActionExplanation
from gyrfalcon.bandit.explanation import Explanation as Explanation
from gyrfalcon.bandit.history import SettingsChange as SettingsChange
from gyrfalcon.bandit.status import ActionStatus as ActionStatus
from gyrfalcon.bandit.status import BanditStatus as BanditStatus
from gyrfalcon.logs.compaction import Compaction as Compaction
from gyrfalcon.logs.compaction import compact_decision_log as compact_decision_log
from gyrfalcon.logs.lines.folder import LogFolder as LogFolder
from gyrfalcon.logs.lines.rows import LoggedDecisions as LoggedDecisions
from gyrfalcon.logs.reading import read_decision_log as read_decision_log

__all__: list[str]
