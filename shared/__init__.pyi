"""The short names of the package, in one list: `__init__` looks them up here, type checkers read it."""
from . import borderline as borderline
from . import inference as inference
from . import regions as regions
from . import roby as roby
from . import runtime as runtime
from . import statistics as statistics
from .attacks.directions import directions as directions
from .attacks.gradient import FGSM as FGSM
from .attacks.gradient import PGD as PGD
from .attacks.gradient import Adversarial as Adversarial
from .attacks.judge import Attack as Attack
from .attacks.judge import Result as Result
from .attacks.judge import judge as judge
from .attacks.line import LineSearch as LineSearch
from .attacks.noise import RandomSearch as RandomSearch
from .attacks.optimised import CarliniWagner as CarliniWagner
from .attacks.optimised import OptMargin as OptMargin
from .attacks.region import Region as Region
from .attacks.threat import L1 as L1
from .attacks.threat import L2 as L2
from .attacks.threat import Linf as Linf
from .boundary import purity as purity
from .boundary import survey as survey
from .card import card as card
from .data.sets import load as load
from .inference import accuracy as accuracy
from .inference import adapt as adapt
from .inference import labels as labels
from .inference import logits as logits
from .runtime import UserError as UserError
from .similarity import ssim as ssim
from .training.fit import fit as fit
from .training.recipe import Recipe as Recipe

__version__: str
__all__: list[str]
