"""The paper, computed: every figure and claim of it, as data, pictures and one page."""
