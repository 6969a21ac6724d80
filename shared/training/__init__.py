"""The training loop with hooks, recipes and checkpoints."""
