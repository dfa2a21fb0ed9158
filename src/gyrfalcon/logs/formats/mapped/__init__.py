"""Tables of decisions from columns of any names, by a mapping."""
