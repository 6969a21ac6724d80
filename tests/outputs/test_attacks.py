"""Attacks on a small smooth network, threats, the judge, adversarial training, regions, directions."""
import dataclasses

import pytest
import torch

from shared.attacks import optimised
from shared.attacks.directions import directions
from shared.attacks.gradient import FGSM, PGD, Adversarial, scored
from shared.attacks.judge import fooled, judge
from shared.attacks.line import LineSearch
from shared.attacks.noise import RandomSearch
from shared.attacks.optimised import CarliniWagner, OptMargin
from shared.attacks.region import Region
from shared.attacks.threat import L1, L2, Linf, rms
from tests.outputs.examples import attacked, seeded, smooth_network, some_images, subject

pytestmark = pytest.mark.filterwarnings("ignore::shared.inference.NoExample")   # counted in each result


def test_threats(stored):
    x, z = some_images(name="x"), some_images(name="z")
    z[1], z[2] = x[1], x[2] + 0.01
    slope = torch.randn(x.shape, generator=seeded("attacks", "slope"))
    slope[0], slope[1] = 0, slope[1] * 1e-14      # nearly zero
    stored({"rms": rms(x, z), **{threat.norm: {
        "length": threat.length(z - x), "distance": threat.distance(x, z), "project": threat.project(z, x),
        "steepest": threat.steepest(slope), "random": threat.random(x, seeded("attacks", "draw"))}
        for threat in (Linf(0.2), L2(0.7), L1(1.0))}})


def test_directions(stored):
    stored([directions(10, 4, generator=seeded("attacks", "q")),
            directions(5, 5, negatives=True, generator=seeded("attacks", "q"))])


def test_judge(stored):
    net, x, y = subject()
    proposal = some_images(name="proposal") * 1.4 - 0.2
    proposal[0, 1, 2, 3], proposal[1, 0, 0, 0] = torch.nan, torch.inf
    results = [judge(net, x, y, proposal, threat) for threat in (Linf(0.2), L2(0.7), Linf(), L2(30.0))]
    targeted = [judge(net, x, y, proposal, threat, target=(y + 1) % 3, passes=torch.arange(6))
                for threat in (L2(0.9, targeted=True), Linf(targeted=True))]
    stored([results, targeted, [result.robust_accuracy for result in results + targeted]])


def test_scores_and_success(stored):
    net, x, y = subject()
    scores, slope, lost = scored(net.eval(), x, y)
    reached = [fooled(scores, y, targeted=True, probability=p) for p in (0.0, 0.3, 0.5, 0.9)]
    stored([scores, slope, lost, fooled(scores, y, targeted=False), reached])


def test_fgsm(stored):
    stored({"Linf": attacked(FGSM(Linf(0.15))), "L2": attacked(FGSM(L2(0.8))), "L1": attacked(FGSM(L1(2.0))),
            "targeted": attacked(FGSM(Linf(0.2, targeted=True)))})


def test_pgd(stored):
    stored({"Linf": attacked(PGD(Linf(0.15), 4, 0.06), "pgd"), "L2": attacked(PGD(L2(0.8), 3, 0.4), "pgd l2"),
            "L1": attacked(PGD(L1(3.0), 3, 1.0), "l1"),
            "clean start": attacked(PGD(Linf(0.15), 3, 0.06, random_start=False)),
            "targeted": attacked(PGD(L2(1.5, targeted=True), 4, 0.5), "pgd")})


def test_adversarial_training(stored):
    values = {}
    for name, attack in (("PGD", PGD(Linf(0.15), 4, 0.06)), ("FGSM", FGSM(Linf(0.15)))):
        for train_mode in (True, False):
            net, hook = smooth_network(batch_norm=True), Adversarial(attack, train_mode=train_mode)
            images = hook(net, some_images(), torch.arange(6) % 3, seeded("attacks", "hook"))
            values[f"{name} {train_mode}"] = images, net[2].running_mean
    stored(values)


def test_line_search(stored):
    stored({"default": attacked(LineSearch()), "squared": attacked(LineSearch(steps=40, largest=4.0)),
            "short": attacked(LineSearch(25, 0.3)), "margin": attacked(LineSearch(33, 2.0, loss="margin")),
            "targeted": attacked(LineSearch(50, 6.0, targeted=True)),
            "targeted margin": attacked(LineSearch(50, 6.0, loss="margin", targeted=True))})


def test_random_search(stored):
    stored({"Linf": attacked(RandomSearch(Linf(0.7), 60), "linf"),
            "L2": attacked(RandomSearch(L2(3.0), 60), "l2"),
            "one point": attacked(RandomSearch(L2(2.0), 1), "few"),
            "default": attacked(RandomSearch(Linf(0.4)), "default", count=2),
            "targeted": attacked(RandomSearch(Linf(1.0, targeted=True), 40), "to")})


def test_carlini_wagner(stored):
    plain = CarliniWagner(rate=0.05, c=0.3, searches=3, iterations=15)
    options = ({}, {"c": 0.003, "searches": 4}, {"confidence": 0.5}, {"scale": 0.1}, {"reach": 0.6},
               {"iterations": 5, "searches": 6, "rate": 0.3},
               {"targeted": True, "rate": 0.1, "c": 1.0, "searches": 2, "iterations": 12})
    stored([attacked(dataclasses.replace(plain, **option), count=5) for option in options])


def test_rules_that_end_a_search(stored):
    values = {stop: attacked(CarliniWagner(rate=0.2, c=0.3, searches=2, iterations=30, stop=stop), count=5)
              for stop in optimised.STOPS}
    batch = CarliniWagner(rate=0.2, c=0.5, searches=2, iterations=20, stop="batch")
    stored({**values, "in parts": attacked(batch, count=5, chunk=4)})


def test_searches_with_several_settings(stored):
    """A tuple holds the setting of each image; a probability takes the place of the margin."""
    several = CarliniWagner(rate=0.2, c=(0.2, 1.0, 5.0), confidence=(0.0, 0.4), searches=4, iterations=25)
    likely = dataclasses.replace(several, probability=0.5, targeted=True)
    margin = OptMargin(rate=0.1, c=(0.5, 2.0), searches=4, iterations=25, noise=0.1, members=3,
                       probability=0.4)
    stored([attacked(attack, "noise", count=5) for attack in (several, likely, margin)])


def test_optmargin(stored):
    plain = OptMargin(rate=0.1, c=0.5, searches=3, iterations=12, noise=0.2, members=3)
    options = ({}, {"members": 1}, {"confidence": 0.2, "searches": 2}, {"targeted": True})
    noises = OptMargin(rate=0.1, c=0.5).noises(torch.Size((1, 5, 5)), seeded("attacks", "noises"))
    stored([noises, [attacked(dataclasses.replace(plain, **option), "noise", count=5) for option in options]])


def test_region(stored):
    net, x, _ = subject()
    region = Region(0.3, samples=30)
    stored({"votes": region.votes(net, x, generator=seeded("attacks", "cloud")),
            "classes": region(net, x, generator=seeded("attacks", "cloud"), chunk=4),
            "default": Region(0.02).votes(net, x[:2], generator=seeded("attacks", "default")),
            "RMS": region.expected_rms})


def test_one_logit(stored):
    net, x, y = subject("one", "one", 1)
    searches = {"rate": 0.1, "searches": 2, "iterations": 8}
    attacks = {"fgsm l2": FGSM(L2(0.8)), "pgd": PGD(Linf(0.15), 4, 0.06), "line": LineSearch(40, 4.0),
               "one": RandomSearch(L2(3.0), 60), "cw": CarliniWagner(c=1.0, targeted=True, **searches),
               "margin": OptMargin(c=0.5, noise=0.2, members=3, **searches)}
    stored({"judge": judge(net, x, y, 1 - x, Linf(0.4)),
            "votes": Region(0.4, samples=9).votes(net, x, generator=seeded("attacks", "one")),
            **{name: attacked(attack, name, on=(net, x, y), count=5) for name, attack in attacks.items()}})


def test_default_settings(stored):
    attacks = [LineSearch(), CarliniWagner(1, 1), OptMargin(1, 1), RandomSearch(L2(1)), PGD(L2(1), 1, 1),
               Adversarial(FGSM(L2(1))), Region(1)]
    stored({"defaults": [str(attack) for attack in attacks]})
