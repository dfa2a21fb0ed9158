"""Target policies, and the policies that decided in a log, on the contexts of its rows."""
