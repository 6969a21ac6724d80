"""`python -m shared.card`, the card of a model on the command line."""
from .command import run

run()
