"""The paper beside its computation: figures, claims and the demo."""
