"""`python -m shared.card`, the card of a model on the command line."""
import sys

from .. import runtime
from .command import main

runtime.prepare()
sys.exit(main())
