"""Formulas of estimators and intervals with their sources, by name, for who checks an evaluation."""

from __future__ import annotations

WEIGHT = (
    "A row has reward <i>r</i>, action <i>a</i>, logged probabilities <i>p</i> and the policy's "
    "probabilities <i>π</i>; its weight is <i>w</i> = <i>π</i>(<i>a</i>) / <i>p</i>(<i>a</i>)."
)
MODEL = (
    "<i>q</i> are the rewards that a model predicts, and <i>v</i> is their mean under <i>π</i>. Each row is "
    "predicted by a model of earlier rows alone, unless predictions were given."
)
_DR = "Contribution of a row: <i>v</i> + <i>w</i> (<i>r</i> - <i>q</i>(<i>a</i>))"
_SUB_GAUSSIAN = (
    "<i>w</i> / (1 - <i>s</i> + <i>s</i> <i>w</i>) in place of <i>w</i>, for the shrinkage <i>s</i> "
    "(Metelli, Russo and Restelli 2021)."
)

OF_ESTIMATORS = {
    "dr": f"{_DR} (Dudik, Langford and Li 2011).",
    "sndr": f"{_DR}, with <i>w</i> over its mean in place of <i>w</i>.",
    "switch": (
        f"{_DR} where <i>w</i> is at most the limit, and <i>v</i> elsewhere (Wang, Agarwal and Dudik 2017)."
    ),
    "dros": (
        f"{_DR}, with <i>s</i> <i>w</i> / (<i>w</i><sup>2</sup> + <i>s</i>) in place of <i>w</i>, for the "
        "shrinkage <i>s</i> (Su and others 2020)."
    ),
    "sub_gaussian_dr": f"{_DR}, with {_SUB_GAUSSIAN}",
    "ips": "Contribution of a row: <i>w</i> <i>r</i>.",
    "snips": (
        "The sum of <i>w</i> <i>r</i> over that of <i>w</i> (Swaminathan and Joachims 2015). "
        "Contributions of rows are linear in their influence on that ratio."
    ),
    "clipped": "Contribution of a row: <i>r</i> times the smaller of <i>w</i> and the limit.",
    "sub_gaussian": f"Contribution of a row: <i>w</i> <i>r</i>, with {_SUB_GAUSSIAN}",
    "dm": "Contribution of a row: <i>v</i>.",
}
"""What a row contributes, by the names that `evaluate(estimator=...)` takes."""

_PHI = (
    "the expected sum over actions of <i>π</i><sup>2</sup> / <i>p</i>, which is known before the row's action"
)
_SPAN = (
    "The interval is the weighted mean, plus and minus normal quantiles of the root of the sum of squared, "
    "weighted distances to it. Differences are taken row by row, each value with weights of its own."
)
_MIN_VAR = (
    "MinVar (Zhan, Hadad, Hirshberg and Athey 2021, without contexts): contributions are weighted by the "
    f"inverse of {_PHI}."
)

OF_INTERVALS = {
    "minvar": f"{_MIN_VAR} {_SPAN}",
    "minvar_expected": (
        f"{_MIN_VAR} {_SPAN} The standard error is at least the one that logged distributions lead to expect."
    ),
    "stablevar": (
        "StableVar (Zhan, Hadad, Hirshberg and Athey 2021, without contexts): contributions are weighted by "
        f"the inverse root of {_PHI}. {_SPAN}"
    ),
    "normal": (
        "Normal: the mean of contributions, plus and minus normal quantiles of their standard deviation over "
        "the root of the number of rows."
    ),
    "bootstrap": (
        "Bootstrap: quantiles of 2,000 means of contributions that are drawn again, with replacement."
    ),
    "empirical_bernstein": (
        "Empirical Bernstein (Maurer and Pontil 2009): the mean of contributions, plus and minus "
        "√(2 <i>V</i> <i>L</i> / <i>n</i>) + 7 <i>R</i> <i>L</i> / (3 (<i>n</i> - 1)), for their variance "
        "<i>V</i>, their range <i>R</i> and <i>L</i> = ln(4 / (1 - level))."
    ),
    "contextual": (
        "Contextual MinVar (Zhan, Hadad, Hirshberg and Athey 2021): a contribution is weighted by the "
        "inverse of the sum over actions of <i>π</i><sup>2</sup> / <i>p</i> in its own context, normalised "
        "over all policies that decided."
    ),
    "cadr": (
        "CADR (Bibaut, Dimakopoulou, Kallus, Chambaz and van der Laan 2021): contributions are weighted by "
        "the inverse of their standard deviation under the policy that decided, estimated from earlier rows."
    ),
}
"""How values are weighted and bounded, by the names that `evaluate(interval=...)` takes."""

BETTING_SEQUENCE = (
    "Betting sequence (Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro 2022): scores of rewards in the "
    "unit interval and of their complements, capped from below, bound the value from both sides at any time."
)
