# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.core.decision_table import DecisionTable as DecisionTable
from gyrfalcon.logs.formats.mapped.frames import table_from_frame as table_from_frame
from gyrfalcon.logs.formats.mapped.mapping import ColumnMapping as ColumnMapping
from gyrfalcon.logs.formats.open_bandit.feedback import obp_feedback as obp_feedback
from gyrfalcon.logs.formats.open_bandit.feedback import table_from_obp as table_from_obp
from gyrfalcon.logs.formats.open_bandit.tables import open_bandit_data as open_bandit_data
from gyrfalcon.logs.opening import read_log as read_log
from gyrfalcon.logs.opening import write_log as write_log
from gyrfalcon.logs.parquet.reader import LogReader as LogReader
from gyrfalcon.logs.parquet.writer import LogWriter as LogWriter
from gyrfalcon.logs.policies import stored_policies as stored_policies
from gyrfalcon.logs.policies import stored_policy as stored_policy
from gyrfalcon.logs.set_aside import write_set_aside as write_set_aside

__all__: list[str]
