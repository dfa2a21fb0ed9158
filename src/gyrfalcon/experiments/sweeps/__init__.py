"""Grids of learners, worlds and seeds: resumable, parallel, in one data set."""
