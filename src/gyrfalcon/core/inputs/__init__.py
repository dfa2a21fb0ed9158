"""What users pass in, checked and converted once: problems, schemas, tables and rewards."""
