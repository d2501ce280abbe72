"""Compiled loops: arrays in, arrays out. They know nothing of what is above them."""
