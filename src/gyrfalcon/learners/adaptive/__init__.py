"""AdaptiveFalcon: optimism, quick refits, a value gate and a model class chosen from the data."""
