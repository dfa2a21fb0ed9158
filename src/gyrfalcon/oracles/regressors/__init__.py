"""Any weighted regressor, scikit-learn's for example, as a model class."""
