"""The attacks of `shu` on a small smooth network, as Foolbox 2 runs them."""
import dataclasses

import pytest

from papers.shu.attacks.fgsm_search import FGSMSearch
from papers.shu.attacks.iterative import BasicIterative, MomentumIterative
from papers.shu.attacks.newton import NewtonFool
from papers.shu.attacks.pointwise import Pointwise, uniform
from tests.outputs.examples import attacked, seeded, some_images, subject

pytestmark = pytest.mark.filterwarnings("ignore::shared.inference.NoExample")   # counted in each result


def test_fgsm_search(stored):
    beyond = FGSMSearch(count=40, fine=5, beyond=(0.0, 0.1, 0.03))
    stored({"default": attacked(FGSMSearch()), "coarse": attacked(FGSMSearch(count=10, fine=3)),
            "beyond": attacked(beyond), "targeted": attacked(dataclasses.replace(beyond, targeted=True))})


def test_basic_iterative(stored):
    several = BasicIterative("L2", (0.02, 0.2, 1.0), halvings=5)
    certain = BasicIterative("L2", epsilon=0.1, growths=9, halvings=5, probability=0.8, targeted=True)
    linf = BasicIterative(epsilon=(0.05, 0.5), step=0.02, iterations=3, growths=4, halvings=6)
    stored({"L1": attacked(BasicIterative("L1", iterations=5, halvings=4)), "L2": attacked(several),
            "Linf": attacked(linf),
            "one ball": attacked(BasicIterative(epsilon=0.4, growths=1, halvings=0)),
            "targeted": attacked(dataclasses.replace(several, targeted=True)), "certain": attacked(certain)})


def test_momentum_iterative(stored):
    decaying = MomentumIterative("L2", epsilon=0.1, decay=0.5, iterations=4, growths=5, halvings=3)
    stored({"Linf": attacked(MomentumIterative(halvings=5)), "L2": attacked(decaying),
            "targeted": attacked(dataclasses.replace(decaying, targeted=True))})


def test_newton_fool(stored):
    stored([attacked(NewtonFool(*options)) for options in ((0.3, 7), ((0.02, 0.1), 30), (5.0, 3))])


def test_pointwise(stored):
    attacks = {"few": Pointwise(levels=8, repetitions=1, halvings=2, rounds=1),
               "more": Pointwise(levels=20, repetitions=4, halvings=4, rounds=3),
               "sure": Pointwise(levels=10, repetitions=2, rounds=2, probability=0.7, targeted=True)}
    draw = attacks["few"].draw(some_images(), seeded("attacks", "draw"))
    values = {name: attacked(attack, name, on=subject("pointwise 1")) for name, attack in attacks.items()}
    stored({**values, "uniform": [uniform(draw.double(), n) for n in (0, 20)]})


def test_default_settings(stored):
    attacks = [FGSMSearch(), BasicIterative(), MomentumIterative(), NewtonFool(), Pointwise()]
    stored({"defaults": [str(attack) for attack in attacks]})
