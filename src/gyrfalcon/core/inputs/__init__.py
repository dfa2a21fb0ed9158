"""User inputs, validated and converted once: problems, schemas, tables and rewards."""
