"""Names of `gyrfalcon.experiments.processes`."""

from gyrfalcon.experiments.processes import OnPiece, PieceFailedError, Task, run_all

__all__ = ["OnPiece", "PieceFailedError", "Task", "run_all"]
