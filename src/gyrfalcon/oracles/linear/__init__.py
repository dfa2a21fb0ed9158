"""The linear model class: its oracle, its reward models and its reports."""
