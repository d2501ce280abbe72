r"""Section 4 as functions: every lemma, proposition and remark of the paper, and results beyond it.

Notation, as in the paper: K arms; arm i has mean mu_i, essential infimum a_i and lower-mass
constant A_i (P(X_i <= a_i + e) >= A_i e for 0 < e <= 1/A_i); mu* and a* are the largest mean and
infimum; Delta_mu,i = mu* - mu_i and Delta_a,i = a* - a_i (`Problem.mean_gaps` and
`Problem.minimum_gaps`). A is one constant that suits every arm, the smallest of the A_i. An arm is
optimal if Delta_mu,i = 0; k arms are.

The order of arguments is always: the problem or law, t, then eps, delta or a level. A bound reads A
and the margins from the problem; the keyword A puts a smaller constant in the place of its own.
Numbers may be arrays, which broadcast. Gaps up to 1e-12 count as zero. Every function refuses
what breaks the assumptions of its statement.
"""

from .exploration import forced_marab_regret, marab_rounds_regret, stuck_exponent
from .limit import (
    ScaledGeometricSum,
    expected_pulls,
    expected_regret,
    limit_regret,
    linear_asymptote,
    shared_minimum_share,
    stopping_probabilities,
    unsettled_chance,
)
from .marab import marab_cvar_regret, marab_stuck_probability
from .minimum import (
    event_complement,
    event_complement_exact,
    exponential_rate,
    lemma_4_1,
    lemma_4_1_power,
    lemma_4_2,
    lemma_4_2_exact,
    lemma_4_2_power,
    lemma_4_2_product,
    minimum_exceedance,
)
from .propositions import (
    Assumptions,
    assumptions,
    auer_2002,
    constant_bound,
    constant_bound_margins,
    constant_bound_probability,
    prop_4_3,
    prop_4_3_expectation,
    prop_4_3_least_t,
    prop_4_4,
    prop_4_4_expectation,
    prop_4_4_least_t,
)

__all__ = [
    "Assumptions",
    "ScaledGeometricSum",
    "assumptions",
    "auer_2002",
    "constant_bound",
    "constant_bound_margins",
    "constant_bound_probability",
    "event_complement",
    "event_complement_exact",
    "expected_pulls",
    "expected_regret",
    "exponential_rate",
    "forced_marab_regret",
    "lemma_4_1",
    "lemma_4_1_power",
    "lemma_4_2",
    "lemma_4_2_exact",
    "lemma_4_2_power",
    "lemma_4_2_product",
    "limit_regret",
    "linear_asymptote",
    "marab_cvar_regret",
    "marab_rounds_regret",
    "marab_stuck_probability",
    "minimum_exceedance",
    "prop_4_3",
    "prop_4_3_expectation",
    "prop_4_3_least_t",
    "prop_4_4",
    "prop_4_4_expectation",
    "prop_4_4_least_t",
    "shared_minimum_share",
    "stopping_probabilities",
    "stuck_exponent",
    "unsettled_chance",
]
