"""Galichet, Sebag and Teytaud (2013): its claims with their numbers, figures, battery and data."""
