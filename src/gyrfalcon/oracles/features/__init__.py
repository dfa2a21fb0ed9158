"""Feature maps phi(x, a): layouts, basis expansions and unions of them."""
