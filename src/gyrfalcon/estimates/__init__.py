"""What logs say by themselves: scores of policies row by row, and how wrong a model class is."""
