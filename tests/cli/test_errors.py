from __future__ import annotations

import errno

import pytest
import typer

from gyrfalcon.cli._errors import Stopped, code_of, sentence_of, sentences

FULL = OSError(errno.ENOSPC, "No space left on device", "out/page.html")


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (ValueError("theta is 2"), 2, "theta is 2."),
        (FileNotFoundError(2, "No such file", "grid.toml"), 2, "grid.toml: No such file."),
        (FULL, 1, "out/page.html: No space left on device; free some space and run the command again."),
        (KeyboardInterrupt(), 130, "Stopped."),
        (Stopped("stopped; 3 of 4.", 130), 130, "stopped; 3 of 4."),
        (ModuleNotFoundError("No module", name="distributed.client"), 1, "pip install 'gyrfalcon[cluster]'."),
        (ModuleNotFoundError("No module", name="matplotlib"), 1, "pip install 'gyrfalcon[cli]'."),
        (ImportError("this sweep needs joblib; install it."), 1, "this sweep needs joblib; install it."),
        (OverflowError("math range error"), 2, "give a more moderate one."),
        (MemoryError(), 1, "There is not enough memory"),
    ],
)
def test_an_expected_error_is_a_sentence_and_a_code(
    error: BaseException, code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as exit_, sentences(debug=False):
        raise error
    assert exit_.value.exit_code == code_of(error) == code
    assert sentence in capsys.readouterr().err
    assert sentence in sentence_of(error)


@pytest.mark.parametrize(
    "error",
    [
        TypeError("a bug"),
        ImportError("cannot import name 'x' from 'gyrfalcon'", name="gyrfalcon"),
        ModuleNotFoundError("No module named 'gyrfalcon.x'", name="gyrfalcon.x"),
        BrokenPipeError(errno.EPIPE, "Broken pipe"),
    ],
)
def test_what_nobody_expects_keeps_its_traceback(error: Exception) -> None:
    with pytest.raises(type(error)), sentences(debug=False):
        raise error


def test_debug_keeps_every_traceback() -> None:
    with pytest.raises(ValueError, match="theta"), sentences(debug=True):
        raise ValueError("theta is 2")
