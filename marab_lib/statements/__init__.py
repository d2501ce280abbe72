"""The paper's statements as numbers: each function gives an estimate with its interval.

One file a section. The notebooks show these numbers, and `marab_lib.claims` judges them.
"""
