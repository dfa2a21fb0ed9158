"""How often intervals of policies' values hold them on logs of learners."""
