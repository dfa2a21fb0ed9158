"""The commands `gyrfalcon paper` and `gyrfalcon demo`."""
