"""Values in files, without pickle."""
