"""The companion's page: the exhibits in the paper's order, then every claim with its verdict."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence

from gyrfalcon.reports.page import Mark, Page, Section, Table
from gyrfalcon_paper.claims.claim import Claim
from gyrfalcon_paper.exhibits.exhibit import Effort
from gyrfalcon_paper.shown import Shown

TITLE = "Contextual bandits beyond realizability, computed"

LEAD = (
    "A companion to “Tractable contextual bandits beyond realizability” (Krishnamurthy, Hadad and Athey, "
    "2021): every figure of the paper drawn from computed numbers, what it promises without a figure, and a "
    "verdict on every claim that a computation can check."
)

PARTS: dict[str, Callable[[str], bool]] = {
    "Introduction": lambda source: source.startswith("Section 1"),
    "Main results": lambda source: (
        source.startswith(("Section", "Theorem", "Example")) or source == "Corollary 1"
    ),
    "Appendix A: set-up, assumption and algorithm": lambda source: source.startswith("Appendix A"),
    "Appendix B: proofs": lambda source: source in {f"Lemma {n}" for n in range(1, 13)} | {"Appendix B.9"},
    "Appendix C: learning rates": lambda source: source in {"Lemma 13", "Corollary 2", "Lemma 14"},
    "Appendix D: solving the constrained regression": lambda source: source == "Appendix D",
    "Appendix E: sensitivity to realizability": lambda source: source == "Appendix E",
}
"""The paper's parts, each with the sources that it holds; the first that fits has the claim."""


def companion_page(shown: Sequence[Shown], claims: Sequence[Claim], effort: Effort) -> Page:
    """The page of these exhibits and claims."""
    return Page(
        TITLE,
        LEAD,
        [_method(effort), *map(_exhibit, shown), _claims(claims)],
        footer="Figures, the data behind them and claims.json are in the folder of this page.",
    )


def _method(effort: Effort) -> Section:
    import numpy
    import scipy

    from gyrfalcon import __version__

    command = f"gyrfalcon paper{' --quick' if effort.quick else ''} --out DIR"
    much = (
        "This is the quick version: fewer simulations and rounds than the full one, so that its error bands "
        "are wider and what takes long to show may not show."
        if effort.quick
        else "This is the full version."
    )
    return Section(
        "How it was computed",
        [
            f"{much} The command is <code>{command}</code>, of gyrfalcon {__version__} (Python "
            f"{platform.python_version()}, NumPy {numpy.__version__}, SciPy {scipy.__version__}). All seeds "
            "are fixed, and results depend neither on the number of processes nor on the clock: the same "
            "versions give the same page.",
            "Words such as “agrees” or “does not” are chosen by the computed numbers. Regret is expected "
            "regret, against the optimal policy. Bands are two standard errors either way over independent "
            "simulations, unless a caption says otherwise.",
        ],
    )


def _exhibit(shown: Shown) -> Section:
    files = {f"{kind.upper()}": path for kind, path in shown.figures.items()}
    files |= {f"{name} (CSV)": path for name, path in shown.data.items()}
    return Section(shown.title, shown.prose, figure=shown.pictures["svg"], caption=shown.caption, files=files)


def _claims(claims: Sequence[Claim]) -> Section:
    parts = {name: [claim for claim in claims if part_of(claim) == name] for name in PARTS}
    return Section(
        "Every claim, checked",
        [_counted(claims)],
        table=_contradicted(claims),
        sections=[Section(name, table=_table(own)) for name, own in parts.items() if own],
    )


def part_of(claim: Claim) -> str:
    """The part of the paper that a claim stands in."""
    source = claim.source.split(",")[0]
    return next(name for name, holds in PARTS.items() if holds(source))


def _counted(claims: Sequence[Claim]) -> str:
    count = {verdict: sum(claim.holds is verdict for claim in claims) for verdict in (True, False, None)}
    undecided = f", and {count[None]} could not be decided" if count[None] else ""
    return (
        f"Of {len(claims)} claims, {count[True]} hold as stated and {count[False]} do not{undecided}. Most "
        "are the paper's own; a few are what a reader may expect though the paper does not say it, and "
        "their notes tell. Where the paper slips, the notes have the form that does hold. The same rows, "
        "with their numbers, are in <code>claims.json</code>."
    )


def _contradicted(claims: Sequence[Claim]) -> Table | None:
    wrong = [claim for claim in claims if claim.holds is False]
    if not wrong:
        return None
    return Table(
        ("Where", "What does not hold"),
        [(claim.source, claim.statement) for claim in wrong],
        "Those that do not hold, in short.",
    )


def _table(claims: Sequence[Claim]) -> Table:
    return Table(
        ("Where", "The paper's claim", "Computed", "Verdict"),
        [(claim.source, claim.statement, _found(claim), Mark(claim.holds)) for claim in claims],
    )


def _found(claim: Claim) -> str:
    return f"{claim.computed.rstrip('.')}. <i>{claim.note}</i>" if claim.note else claim.computed
