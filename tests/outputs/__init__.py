"""Stored outputs of the instruments of `shared`: what they have computed they go on computing.

Each test calls an instrument on a small seeded example and compares what it returns with the file of the
test's name, such as `test_attacks/test_pgd.npz`. pytest-regressions writes the file where it is missing.
"""
