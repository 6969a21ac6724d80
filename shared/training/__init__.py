"""The training loop with hooks, and the zoo of kept networks."""
