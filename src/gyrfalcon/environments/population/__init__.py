"""Population quantities of an environment by quadrature."""
