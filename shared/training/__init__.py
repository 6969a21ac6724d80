"""The training loop with hooks, and the zoo of kept networks."""
VERSION = 1
# 1  as first recorded
