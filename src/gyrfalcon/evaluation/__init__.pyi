# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it.
from gyrfalcon.evaluation.embeddings import counted_embeddings as counted_embeddings
from gyrfalcon.evaluation.embeddings import embedding_likelihoods as embedding_likelihoods
from gyrfalcon.evaluation.embeddings import logistic_embedding_likelihoods as logistic_embedding_likelihoods
from gyrfalcon.evaluation.estimate import Estimate as Estimate
from gyrfalcon.evaluation.estimate import contrast as contrast
from gyrfalcon.evaluation.importance_weighted import clipped_inverse_propensity as clipped_inverse_propensity
from gyrfalcon.evaluation.importance_weighted import inverse_propensity as inverse_propensity
from gyrfalcon.evaluation.importance_weighted import (
    self_normalised_inverse_propensity as self_normalised_inverse_propensity,
)
from gyrfalcon.evaluation.importance_weighted import (
    sub_gaussian_inverse_propensity as sub_gaussian_inverse_propensity,
)
from gyrfalcon.evaluation.marginalised import (
    marginalised_inverse_propensity as marginalised_inverse_propensity,
)
from gyrfalcon.evaluation.model_assisted import direct_method as direct_method
from gyrfalcon.evaluation.model_assisted import doubly_robust as doubly_robust
from gyrfalcon.evaluation.model_assisted import self_normalised_doubly_robust as self_normalised_doubly_robust
from gyrfalcon.evaluation.model_assisted import shrunk_doubly_robust as shrunk_doubly_robust
from gyrfalcon.evaluation.model_assisted import sub_gaussian_doubly_robust as sub_gaussian_doubly_robust
from gyrfalcon.evaluation.model_assisted import switch_doubly_robust as switch_doubly_robust
from gyrfalcon.evaluation.predictions import predictions_by_time as predictions_by_time
from gyrfalcon.evaluation.streaming import estimate_in_batches as estimate_in_batches
from gyrfalcon.evaluation.switching import switch as switch
from gyrfalcon.evaluation.tuning import select_max_weight as select_max_weight
from gyrfalcon.evaluation.tuning import select_shrinkage as select_shrinkage

__all__: list[str]
