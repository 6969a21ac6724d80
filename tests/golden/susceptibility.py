"""Stability: judging, attacks, random perturbations, large images, one problem measured, rows of tables."""
import contextlib
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import torch
from torch import nn

from papers.sutton import experiments, tables
from report import registry
from shared import runtime, susceptibility
from shared.attacks import line, noise, search
from shared.data import sets
from shared.inference import Careful, Decision, label_margins, margins
from tests.golden import Cases, bf16, flat, refused
from tests.golden.inference import SHAPE, Coarse, drawn, network, pixels

case = Cases()

CPU = torch.device("cpu")

# ---- what is called, by the names of today -----------------------------------------------------------------
squared_error, lost_margin = line.squared_error, line.lost_margin
gradients, unit = line.gradients, line.unit
scalings, attacked, Attack = line.scalings, line.smallest_steps, line.Steps
first_flips, Attacked = search.first_flips, susceptibility.Attacked
points, first_draws, examine = experiments.perturbations, experiments.first_draws, experiments.examine
uniform_ball, draw, random_flips = noise.uniform_ball, noise.draw, noise.random_flips
CubeNoise, BallNoise, matching_radius = noise.CubeNoise, noise.BallNoise, noise.matching_radius
problem, measure_pair, panel = experiments.problem, experiments.measure_pair, experiments.panel
percentage, summary = susceptibility.percentage, susceptibility.summary
audit, measure = susceptibility.audit, susceptibility.measure


def apart(count, shape, generator, *, device="cpu"):
    """As `draw`, of no nearly equal norms, by which they are ordered; of many, equal ones in a row."""
    copies = -(-count // 50)
    some = draw(-(-count // copies), shape, generator, device=device)
    assert (some.l2.diff() > 1e-5).all(), f"two norms differ by {float(some.l2.diff().min()):.1g}"
    return noise.Draws(*(each.repeat_interleave(copies, 0)[:count] for each in some))


class Judge(Careful):
    """What decides whether images lose their class, called with images and labels."""

    def __call__(self, images, labels):
        return self.flips(images, labels)


class LargeJudge(Judge):
    """The same with eight images at once."""

    def __init__(self, net, doubt, chunk=8):
        super().__init__(net, doubt, chunk)


def measured_doubt(net, images, labels, **options):
    return Careful.measured(net, images, labels, **options).doubt


def doubt(*args, **options):
    return experiments._careful(*args, **options).doubt


def generator(*labels):
    return runtime.generator(0, "golden", "stability", *labels)


def images(count, *labels):
    return pixels(drawn(count, "stability", *labels))


def answers(net, x, wrong=0):
    """The net's own answers, every `wrong`-th of them another."""
    with torch.no_grad():
        scores = net.eval()(x)
    many = scores.shape[1]
    found = scores.argmax(1) if many > 1 else (scores[:, 0] > 0).long()
    if wrong:
        found[::wrong] = (found[::wrong] + 1) % max(2, many)
    return found


# ---- judging -----------------------------------------------------------------------------------------------
@case
def margins_of_answers():
    told = {}
    for outputs in (1, 2, 5):
        net = Coarse(network(outputs, "margins"))
        x = images(12, "margins")
        y = answers(net, x, wrong=3)
        for able in (False, True):
            with bf16(able):
                told[f"{outputs} {able}"] = {
                    "exact": margins(net, x, y), "coarse": margins(net, x, y, bf16=True),
                    "doubt": measured_doubt(net, x, y), "factor": measured_doubt(net, x, y, factor=0.75)}
    scores = torch.tensor([[1.0, 2.0, 2.0], [0.0, -1.0, 5.0], [3.0, 3.0, 3.0]])
    return told | {"given": label_margins(scores, torch.tensor([0, 2, 1])),
                   "logit": label_margins(scores[:, :1], torch.tensor([0, 1, 0]))}


@case
def judges():
    """On the edge: a margin of 0 is another answer; one as large as the doubt is judged again."""
    net = Coarse(nn.Flatten(), lambda scores, x: scores + (scores == 0.25) - 1.5 * (scores == 1))
    x = torch.tensor([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0]).view(-1, 1, 1, 1)
    net.weight = nn.Parameter(torch.zeros(1))
    told = {}
    for able in (False, True):
        for limit in (None, 0.0, 0.25, 0.5, 1.25, 9.0):
            for label in (0, 1):
                with bf16(able):
                    told[f"{able} {limit} {label}"] = Judge(net, limit)(x, torch.full((7,), label))
    bent = Coarse(network(3, "judges"))
    y = answers(bent, images(60, "judges"), wrong=5)
    with bf16(True):
        told["bent"] = Judge(bent, 0.2)(images(60, "judges"), y)
        told["large"] = LargeJudge(bent, 0.2)(images(60, "judges"), y)
        told["small chunks"] = LargeJudge(bent, 0.2, chunk=7)(images(60, "judges"), y)
        told["none unsure"] = LargeJudge(bent, -1.0)(images(60, "judges"), y)
        told["edge"] = LargeJudge(net, 0.5)(x, torch.ones(7, dtype=torch.int64))
        told["large margins"] = [LargeJudge(bent, 0.2).margins(images(9, "judges"), y[:9], bf16=wanted)
                                 for wanted in (False, True)]
    return told


@case
def batches_of_a_large_judge():
    seen = []
    net = Coarse(network(2, "batches"), lambda scores, x: scores)
    net.register_forward_pre_hook(lambda net, args: seen.append(len(args[0])))
    LargeJudge(net, -1.0)(images(20, "batches"), torch.zeros(20, dtype=torch.int64))
    return seen


def by_table(table):
    """`(judge, perturbed)`: image r flips under perturbation s where table[r, s]; odd sums judged again."""
    def decide(tried, labels):
        assert (labels == tried[:, 0]).all()
        odd = int((tried.sum(1) % 2).sum())
        return Decision(table[tried[:, 0], tried[:, 1]], odd, odd // 2)

    return decide, lambda rows, steps: torch.stack([rows, steps], 1)


def table(rows, steps):
    """Images of all kinds: one never flips, one at once, one at last, the others ever more rarely."""
    chances = torch.logspace(-3, -0.5, rows).view(-1, 1)
    found = torch.rand(rows, steps, generator=generator("table")) < chances
    found[0], found[1, 0], found[2], found[2, -1] = False, True, False, True
    return found


@case
def first_flips_of_a_table():
    told = {}
    for rows, steps in ((12, 1), (12, 19), (12, 130), (5, 300)):
        for exact in (False, True):
            found = table(rows, steps)
            decide, perturbed = by_table(found)
            told[f"{rows} {steps} {exact}"] = first_flips(decide, torch.arange(rows), perturbed, steps,
                                                          exact=exact)
    flips = torch.ones(6, 50, dtype=torch.bool)
    told["all at once"] = first_flips(by_table(flips)[0], torch.arange(6), by_table(flips)[1], 50)
    told["no images"] = first_flips(None, torch.arange(0), None, 10)
    told["no perturbations"] = first_flips(None, torch.arange(3), None, 0)
    decide, perturbed = by_table(table(12, 130))
    with mock.patch.object(runtime, "chunk_size", lambda *args, **options: 1):
        small = first_flips(decide, torch.arange(12), perturbed, 130)
    return told | {"small chunks": small._replace(overturned=0)}   # the table's count is by chunk


@case
def percentages():
    told = [percentage(*each) for each in ((0, 10), (3, 12), (12, 12), (499, 500), (0, 0), (1, 1))]
    return told + [percentage(3, 12, confidence=0.5)]


# ---- attacks -----------------------------------------------------------------------------------------------
@case
def objectives():
    one = torch.tensor([[-40.0], [-3.0], [0.0], [0.5], [12.0], [20.0]])
    several = torch.tensor([[1.0, 2.0, -1.0], [0.0, 0.0, 0.0], [30.0, 2.0, 1.0]])
    told = {}
    for name, objective in (("squared", squared_error), ("margin", lost_margin)):
        told[name] = [objective(one, torch.tensor([0, 1, 0, 1, 0, 1])), objective(one, torch.ones(6).long()),
                      objective(several, torch.tensor([0, 1, 2])),
                      objective(several[:, :2], torch.ones(3).long())]
    return told


@case
def gradients_of_networks():
    told = {}
    for outputs in (1, 2, 5):
        net = network(outputs, "gradients", gain=3.0, dropout=0.5)
        net[3].eval()
        x = images(9, "gradients")
        y = answers(network(outputs, "gradients", gain=3.0), x, wrong=4)
        for name, objective in (("squared", squared_error), ("margin", lost_margin)):
            with torch.no_grad():
                found = gradients(net, x, y, objective)
            assert net.training and not net[3].training and not x.requires_grad
            assert all(weight.grad is None for weight in net.parameters())
            told[f"{outputs} {name}"] = {"gradients": found, "unit": unit(found[0])}
        with mock.patch.object(runtime, "chunk_size", lambda *args, **options: 4):
            told[f"{outputs} chunks"] = gradients(net, x, y, squared_error)
    return told


@case
def units():
    rows = torch.tensor([[3.0, 4.0], [0.0, 0.0], [1e-25, 0.0], [float("nan"), 1.0], [float("inf"), 1.0],
                         [3e38, 3e38], [-1e-30, 1e-30], [1e-45, 0.0]])
    return {"flat": unit(rows), "images": unit(rows.view(2, 2, 2, 2)), "none": unit(rows[:0])}


@case
def sizes_tried():
    return {"default": scalings(), "few": scalings(5), "largest": scalings(7, 0.5),
            "far": scalings(largest=9)}


def bent(outputs, count, *labels, wrong=0, gain=3.0):
    """A network, images and labels."""
    net = network(outputs, *labels, gain=gain)
    x = images(count, *labels)
    return net, x, answers(net, x, wrong)


@case
def attacks():
    told = {}
    for outputs in (1, 4):
        net, x, y = bent(outputs, 11, "attacks")
        direction, _ = unit(gradients(net, x, y, squared_error)[0])
        direction[::5] = 0
        for name, sizes in (("all", scalings()), ("few", scalings(6, 2.0)), ("small", scalings(10, 0.05))):
            found = attacked(Judge(net), x, y, direction, sizes)
            told[f"{outputs} {name}"] = {**found._asdict(), "norms": found.norms()}
    decide, seen = by_table(torch.zeros(1, 1, dtype=torch.bool))[0], torch.zeros(3, *SHAPE)
    told["nothing tried"] = attacked(decide, seen, torch.arange(3), seen, scalings())
    return told


@case
def attacks_judged_twice():
    net, x, y = bent(1, 20, "twice 2", gain=1.0)
    coarse = Coarse(net)
    direction, _ = unit(gradients(net, x, y, lost_margin)[0])
    with bf16(True):
        return {f"{limit}": attacked(Judge(coarse, limit), x, y, direction, scalings())
                for limit in (0.02, 0.2)}


@case
def attacks_at_the_edge():
    """The last size of all, and one past it: a plane at distances 1 to 4, sizes up to 3."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(1, 1, bias=False))
    with torch.no_grad():
        net[1].weight.fill_(1.0)
    x = torch.tensor([0.5, 1.0, 2.0, 3.0, 4.0]).view(-1, 1, 1, 1)
    return attacked(Judge(net), x, torch.ones(5).long(), -torch.ones_like(x), torch.tensor([0.0, 1, 2, 3]))


# ---- random perturbations ----------------------------------------------------------------------------------
@case
def draws_from_balls():
    return {"one": uniform_ball(6, (1,), generator("one")),
            "few": uniform_ball(5, (3, 2, 2), generator("few")),
            "many": uniform_ball(3, (3, 16, 16), generator("many")),
            "draws": draw(40, SHAPE, generator("draws")), "on": draw(3, (2,), generator("on"), device=CPU)}


@case
def random_perturbations():
    told = {}
    for outputs in (1, 3):
        net, x, y = bent(outputs, 6, "random")
        some, sizes = apart(90, SHAPE, generator("some")), torch.linspace(0.05, 0.6, 6)
        for delta in (1, 2.5, 10):
            told[f"{outputs} {delta}"] = random_flips(Judge(net), x, y, sizes, some, delta)
        told[f"{outputs} exact"] = random_flips(Judge(net), x, y, sizes, some, 5, exact=True)
    return told


@case
def noises():
    x = images(4, "noises")
    return {"cube": [CubeNoise(size)(None, x, None, generator("cube")) for size in (0.3, 1)],
            "ball": [BallNoise(size)(None, x, None, generator("ball")) for size in (0.3, 2)],
            "radius": [matching_radius(0.3, n) for n in (1, 3, 3072)]}


# ---- large images ------------------------------------------------------------------------------------------
@case
def draws_in_blocks():
    return {"blocks": [points(block, SHAPE, 3) for block in (0, 1)], "seed": points(0, (2, 2, 2), 4)}


@case
def first_draws_of_large_images():
    net, x, y = bent(4, 6, "first draws")
    sizes, told = torch.linspace(0.1, 0.5, 6), {}
    for draws in (1, 40, 41, 95):
        told[f"{draws}"] = first_draws(Judge(net), x, y, sizes, deltas=(1, 4), draws=draws, seed=2)
    with bf16(True):
        twice = LargeJudge(Coarse(net), 0.1)
        told["twice"] = first_draws(twice, x, y, sizes, deltas=(1, 4), draws=50, seed=2)
    told["none"] = first_draws(Judge(net), x[:0], y[:0], sizes[:0], deltas=(1, 4), draws=50, seed=2)
    return told


def far(scores, x):
    """Coarse where images leave [0, 1] by much: more than what the doubt was measured on shows."""
    beyond = (x.flatten(1).abs().amax(1, keepdim=True) - 1.2).clamp(min=0)
    return scores + 5 * beyond**3 * scores.sign().flip(1)


@case
def examined():
    told = {}
    for able in (True, False):
        net, x, y = bent(5, 9, "examined", wrong=4)
        with bf16(able):
            told[f"{able}"] = examine(Coarse(net).eval(), x, y, draws=45, seed=1)
            rough = Coarse(net, far).eval()
            told[f"few {able}"] = examine(rough, x, y, deltas=(1, 20), draws=12, largest=1.0)
    return told


@case
def examined_default():
    net, x, y = bent(3, 3, "default")
    with bf16(False):
        return examine(net.eval(), x, y)


@case
def examined_many():
    """More images than perturbations are drawn at once; some saturated, some without an attack."""
    net, x, y = bent(3, 900, "examined many 1", gain=300.0)
    margin = margins(net, x, y)
    rows = torch.cat([kind.nonzero()[:n, 0] for n, kind in ((15, margin < 6), (30, margin > 60))])
    x, y = x[rows], y[rows]     # in between, a gradient has few bits
    some = torch.where(torch.arange(45) % 6 == 0, y, (y + 1) % 3)
    coarse = Coarse(net, lambda scores, x: scores * 65 / 64).eval()
    with bf16(True):
        return {"many": examine(coarse, x, some, draws=3, largest=2.0),
                "no attack": examine(coarse, x, some, draws=3, largest=1e-4),
                "none known": examine(coarse, x, (y + 1) % 3, draws=3)}


@case
def examined_one_on_the_boundary():
    """A margin of 0 is no answer."""
    net, x, y = bent(3, 1, "examined one", gain=0.0)
    return examine(net.eval(), x, y, draws=2)


def plateau(coarsen=None):
    """A net of one logit, 0.99 on grey images and 0 from 0.99 on along one direction; four grey images."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(48, 1), nn.ReLU())
    with torch.no_grad():
        net[1].weight.fill_(48**-0.5)
        net[1].bias.fill_(0.99 - 48**0.5 / 2)
    return Coarse(net, coarsen).eval(), torch.full((4, *SHAPE), 0.5), torch.ones(4, dtype=torch.int64)


@case
def examined_where_16_bits_mislead():
    """Other answers under noise of norms 2 to 4.5, between those that doubt is measured at."""
    def mislead(scores, x):
        away = (x - 0.5).flatten(1).norm(dim=1, keepdim=True)
        return torch.where((away > 2) & (away < 4.5), -scores, scores)

    net, x, y = plateau(mislead)
    with bf16(True):
        return examine(net, x, y, deltas=(1, 4, 10), draws=3)["audit"]


# ---- one problem -------------------------------------------------------------------------------------------
def small_set(name="golden", channels=3):
    """Three classes of images [channels, 4, 4] that differ in brightness, in tracks of five and seven."""
    def made(count, part):
        y = torch.arange(count) % 3
        x = drawn(count, "set 2", part, shape=(channels, 4, 4)).float() * (0.3 + 0.3 * y).view(-1, 1, 1, 1)
        return x.to(torch.uint8), y

    (x_train, y_train), (x_test, y_test) = made(120, "train"), made(60, "test")
    tracks = torch.where(y_train == 0, torch.arange(120) // 15, torch.arange(120) // 21)
    return sets.Dataset(name=name, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test,
                        classes=("dark", "grey", "bright"), source="embedded", stand_in=None, fingerprint="",
                        extra={"track_train": tracks.to(torch.int32)})


def packed(value):
    """What is many numbers as few arrays, of alike ones each: of one name (`l2.mean`) and one type."""
    arrays = flat(value)
    kinds = {}
    for place, array in arrays.items():
        kind = "words" if array.dtype.kind == "U" else str(array.dtype)
        name = ".".join(place.split(".")[-2:]).replace("std", "mean")   # of one unit
        kinds.setdefault(f"{name} {kind}", []).append(array.ravel())
    return {"places": list(arrays), **{kind: np.concatenate(each) for kind, each in kinds.items()}}


@contextlib.contextmanager
def given(channels=3):
    """Context in which every data set is the small one, and no two draws have nearly equal norms."""
    with mock.patch.object(sets, "load", lambda name: small_set(name, channels)), \
            mock.patch.object(experiments, "draw", apart):
        yield


@case
def problems():
    told = {}
    with given():
        for a, b in ((0, 1), (2, 0)):
            told[f"{a} {b}"] = problem("golden", a, b)
            told[f"{a} {b} held out"] = problem("golden", a, b, held_out=(0.3, 0.12), seed=4)
            told[f"{a} {b} tracks"] = problem("golden", a, b, held_out=(0.4, 0.25), by_track=True)
        told["other set"] = problem("other", 0, 1, held_out=(0.01, 0.99))
        told["refused"] = [refused(problem, "golden", a, b)
                           for a, b in ((0, 0), (-1, 0), (0, -1), (3, 0), (0, 3), (0, 2))]
    with given(channels=1):
        told["grey"] = problem("golden", 1, 2)
    return told


@case
def summaries():
    values = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0])
    return [summary(values), summary(values, 8), summary(values[:1], 1), summary(values[:0]),
            summary(values[:0], 4)]


def uneven(scores, x):
    """Coarse by an amount that depends on how far the image is from grey, most at one distance."""
    away = (x - 0.5).flatten(1).norm(dim=1, keepdim=True)
    return scores + 0.05 * (6 * scores).sin() + 0.2 / (1 + (away - 4) ** 2)


def subjects(count, *labels, gain=3.0, wrong=0, coarsen=None):
    """A coarse net of one logit, uint8 images, labels."""
    net = Coarse(network(1, *labels, gain=gain), coarsen).eval()
    x = drawn(count, "stability", *labels)
    return net, x, answers(net, pixels(x), wrong)


def measured(net, x, y, *, limit=None, draws=30, deltas=(1, 5), images_attack=None, images_random=None):
    some = apart(draws, SHAPE, generator("points 3"))
    return measure(Judge(net, limit), x, y, some, deltas, images_attack=images_attack,
                   images_random=images_random, generator=generator("rows"), device=CPU)


@case
def measured_sets():
    told = {}
    for able, limit in ((False, None), (True, 0.1)):
        net, x, y = subjects(16, "measured 3", wrong=6)
        assert (margins(net, pixels(x), y).abs() > 0.05).all()      # what lengths are divided by
        with bf16(able):
            told[f"{limit}"] = measured(net, x, y, limit=limit)
            told[f"{limit} some"] = measured(net, x, y, limit=limit, images_attack=9, images_random=4)
    net, x, y = subjects(14, "saturated 3", gain=80.0, wrong=9)
    margin = margins(net, pixels(x), y)
    assert not ((margin > 14) & (margin < 20) & (y == 1) | (margin > 43) & (margin < 56) & (y == 0)).any()
    told["saturated"] = measured(net, x, y)
    told["none right"] = measured(net, x[:6], 1 - answers(net, pixels(x[:6])))
    told["hard"] = measured(*subjects(5, "hard", gain=0.01))
    return {name: packed(each) for name, each in told.items()}


@case
def bent_gradients():
    """Of label 0 with logits below -56, float32 gradients are exactly 0: another direction is tried."""
    net, x, y = subjects(300, "bent", gain=100.0)
    scores = margins(net, x, torch.ones_like(y))
    some = (scores < -56) | (scores.abs() < 10)
    found = measured(net, x[some], y[some])[0]
    return {"logit attack": packed(found["logit_attack"]), "of": int(some.sum())}


class Leaning(torch.autograd.Function):
    """The sum of each image; a gradient that is handed less than 0.9 leans by an angle of this tangent."""

    @staticmethod
    def forward(context, x, tangent):
        context.tangent, context.shape = tangent, x.shape
        return x.sum((1, 2, 3))[:, None] - x[0].numel() / 2

    @staticmethod
    def backward(context, handed):
        lean = torch.tensor([1.0, -1.0]).repeat(context.shape[1:].numel() // 2).view(context.shape[1:])
        lean = 1 + context.tangent * lean * (handed.abs() < 0.9).view(-1, 1, 1, 1)
        return handed.view(-1, 1, 1, 1) * lean, None


@case
def leaning_gradients():
    """Cosines of 1 - 0.3e-4 to 1 - 3e-4 between the two directions: one is enough above 1 - 1e-4."""
    x = 126 + 3 * (torch.arange(4).view(-1, 1, 1, 1) % 2).repeat(1, *SHAPE).to(torch.uint8)
    y, told = torch.arange(4) % 2, {}
    for off in (0.3e-4, 0.4e-4, 1.7e-4, 3e-4):
        found = measured(lambda z, off=off: Leaning.apply(z, (2 * off) ** 0.5), x, y, draws=2)[0]
        told[f"{off}"] = packed(found["logit_attack"])
    return told


@case
def doubts_at_distances():
    """Images are looked at as they are and under noise of norms up to 1, 5 and 50."""
    net, x, y = subjects(300, "doubts 2")
    near, some = 127 / 255, apart(280, SHAPE, generator("doubts 2"))
    peaks = [Coarse(net.net, lambda scores, x, at=at: scores + 1 / (1 + 9 * (
        (x - near).flatten(1).norm(dim=1, keepdim=True) - at).abs())) for at in (0.9, 4.5, 45)]
    with bf16(True):
        return [doubt(each, torch.full_like(x, 127), y, some, generator("rows")) for each in peaks]


@case
def answers_on_the_boundary():
    """A margin of 0 is no answer."""
    return packed(measured(*subjects(5, "neither", gain=0.0)))


@case
def measured_many():
    """More images than are kept draw by draw, of which 31 each are equal."""
    net, x, y = subjects(20, "many 1", gain=6.0)
    found, known = measured(net, x.repeat(31, 1, 1, 1), y.repeat(31), draws=3, deltas=(10,))
    return {"sampled": found["sampled"], "random": found["random"], "rows": known.rows}


@case
def doubts():
    net, x, y = subjects(300, "doubts 2", coarsen=uneven)
    peaks = {at: Coarse(net.net, lambda scores, x, at=at: scores + 1 / (1 + (
        (x - 0.5).flatten(1).norm(dim=1, keepdim=True) - at).abs())) for at in (1.5, 5, 30, 48)}
    many, few = (apart(count, SHAPE, generator("doubts 2")) for count in (280, 20))
    with bf16(True):
        return {"many": doubt(net, x, y, many, generator("rows")),
                "few": doubt(net, x, y, few, generator("rows")),
                "fewer": doubt(net, x[:10], y[:10], few, generator("rows")),
                "peaks": [doubt(each, x, y, many, generator("rows")) for each in peaks.values()],
                "options": [doubt(net, x, y, many, generator("rows"), images=5),
                            doubt(net, x, y, many, generator("rows"), radius=2.0)]}


# ---- susceptibility of any model ---------------------------------------------------------------------------
def susceptible(model, x, y, **options):
    given = {"generator": generator("susceptible"), "draws": 40, "count": 30, "largest": 3.0} | options
    with mock.patch.object(susceptibility, "draw", apart):
        found = susceptibility.susceptibility(model, x, y, **given)
    return {"found": found, "shares": [found.adversarial_share, *found.random_shares]}


@case
def susceptibilities():
    told = {}
    for outputs in (1, 4):
        net, x, y = bent(outputs, 9, "susceptible", wrong=4)
        net[3] = nn.Dropout(0.5)
        net.train()
        told[f"{outputs}"] = susceptible(net, x, y)
        told[f"{outputs} mode"] = [m.training for m in net.modules()]
        told[f"{outputs} margin"] = susceptible(net, x, y, loss=lost_margin, deltas=(0.5, 3.0))
        told[f"{outputs} clip"] = susceptible(net, x, y, clip=True, deltas=[2], largest=9.0)
        told[f"{outputs} function"] = susceptible(lambda z, net=net: net.eval()(z).squeeze(1), x, y, count=12)
        told[f"{outputs} none"] = susceptible(net, x[:0], y[:0])
        told[f"{outputs} all wrong"] = susceptible(net, x, 1 - answers(net, x).clamp(max=1))
        told[f"{outputs} one"] = susceptible(net, x[1:2], y[1:2], draws=1, deltas=(9,))
    return {name: packed(each) for name, each in told.items()}


@case
def susceptibilities_in_16_bits():
    told = {}
    for able in (False, True):
        for outputs in (1, 3):
            net, x, y = bent(outputs, 8, "susceptible", "twice 2", wrong=5, gain=1.0)
            with bf16(able):
                told[f"{able} {outputs}"] = susceptible(Coarse(net), x, y, bf16=True)
                told[f"{able} {outputs} exact"] = susceptible(Coarse(net), x, y)
                told[f"{able} {outputs} wrong"] = susceptible(Coarse(net), x[:0], y[:0], bf16=True)
    return {name: packed(each) for name, each in told.items()}


@case
def susceptibility_at_the_edge():
    """One value an image: on the edge, near it, far from it, and where the sigmoid is exactly 1."""
    x = torch.tensor([0.0, 0.25, 0.5, 0.625, 0.75, 1.0]).view(-1, 1, 1, 1)
    told, few = {}, dict(count=9, largest=0.5)
    for side in (0, 1):
        y = torch.full((6,), side)
        for steep in (1.0, 100.0):
            for loss in (squared_error, lost_margin):
                told[f"{side} {steep} {loss.__name__}"] = susceptible(
                    lambda z, steep=steep: steep * (z.flatten(1) - 0.5), x, y, loss=loss, **few)
        told[f"{side} clip"] = susceptible(lambda z: z.flatten(1) - 0.875, x, y, clip=True, count=9,
                                           largest=4.0)
    return told


@case
def susceptibility_by_default():
    net, x, y = bent(2, 3, "susceptible", "default")
    with mock.patch.object(susceptibility, "draw", apart):
        return packed(susceptibility.susceptibility(net, x, y, generator=generator("default")))


@case
def susceptibility_refused():
    net, x, y = bent(2, 2, "susceptible", "refused")

    def bad(model=net, x=x, y=y, **options):
        return refused(susceptible, model, x, y, **options)

    return {"fine": [bad(), bad(draws=1), bad(count=2), bad(deltas=(1e-9,)), bad(largest=1e-9)],
            "draws": [bad(draws=0), bad(draws=-1)], "count": [bad(count=1), bad(count=0)],
            "largest": [bad(largest=value) for value in (0.0, -1.0, float("nan"), float("inf"))],
            "deltas": [bad(deltas=each) for each in ((), (0,), (1, -1), (1, float("nan")), (float("inf"),))],
            "generator": bad(generator=None),
            "images": [bad(x=each) for each in (x * 2, x.double(), x[0])],
            "labels": [bad(y=each) for each in (y + 2, y - 2, y.int(), y[:1])],
            "model": [bad(model=each) for each in (lambda z: z, lambda z: z.flatten(1)[:, :2] / 0,
                                                   lambda z: torch.full((len(z), 2), 0.5))]}


@case
def infinite_sizes_of_no_images():
    """Of images they make nan, which is refused anyway."""
    net, x, y = bent(2, 1, "susceptible", "refused")
    return [refused(susceptible, net, x[:0], y[:0], **each)
            for each in ({}, {"largest": float("inf")}, {"deltas": (1, float("inf"))})]


def some_attacked(*labels, count=12, **options):
    """`(net, Attacked)` of images on which there is an attack."""
    net, x, y = subjects(count, *labels, **options)
    return net, measured(net, x, y, draws=2)[1]


@case
def audits():
    net, known = some_attacked("audits 1", coarsen=uneven)
    some = apart(50, SHAPE, generator("audits 1"))
    none = Attacked(*(each[:0] for each in known))
    many = apart(1100, SHAPE, generator("audits 1"))
    with bf16(True):
        return {f"{limit}": [audit(Judge(net, limit), known, some, (1, 4), generator=generator("audit")),
                             audit(Judge(net, limit), known, many, (1, 4, 10), generator=generator("audit")),
                             audit(Judge(net, limit), none, some, (1, 4), generator=generator("audit")),
                             audit(Judge(net, limit), known, many, (1,), generator=generator("audit"),
                                   images=9)]
                for limit in (None, 0.0, 0.03, 1.0)}


@case
def audits_on_a_plateau():
    """A margin of 0 is another answer, in 16 bits and in 32."""
    net, x, y = plateau(lambda scores, x: scores)
    known = Attacked(torch.arange(4), x, y, -torch.full_like(x, 48**-0.5), torch.full((4,), 0.99))
    some = apart(50, SHAPE, generator("plateau"))
    with bf16(True):
        return audit(Judge(net, 0.1), known, some, (1, 10), generator=generator("audit"))


@case
def panels():
    net, known = some_attacked("panels")
    some, told = apart(300, SHAPE, generator("panels")), {}
    for delta in (0.5, 3, 30):
        for label in (0, 1):
            told[f"{delta} {label}"] = panel(Judge(net), known, label, some, delta)
    told["all"] = panel(Judge(network(1, "panels", gain=-3.0)), known, 1, some, 1)
    for still in (99, 100):   # images of size 0, which no draw turns, before one that some draws turn
        rows = torch.cat([torch.full((still,), 3), torch.arange(3, 4)])
        size = torch.cat([torch.zeros(still), known.size[3:4]])
        late = Attacked(torch.arange(still + 1), known.images[rows], known.labels[rows],
                        known.direction[rows], size)
        told[f"late {still}"] = panel(Judge(net), late, int(known.labels[3]), some, 5)
    told["tries"] = panel(Judge(net), late, int(known.labels[3]), some, 5, tries=101)
    return told


@registry.architecture("golden-tiny")
def tiny():
    return nn.Sequential(nn.Flatten(), nn.Linear(48, 12), nn.Tanh(), nn.Linear(12, 1))


@case(within=1e-3)
def pairs():
    """Trained, so differences of machines grow."""
    options = dict(architecture="golden-tiny", epochs=15, draws=25)
    told = {}
    with given(), bf16(False), mock.patch.object(runtime, "device", lambda: CPU):
        told["plain"] = measure_pair("golden", 0, 2, panels=True, images_attack=9,
                                     **options)
        told["some"] = measure_pair("golden", 1, 2, held_out=(0.3, 0.2), by_track=True, seed=3,
                                    deltas=(2, 7), images_train=30, images_test=9, images_attack=7,
                                    images_random=3, **options)
        for noise, size in (("cube", 0.05), ("ball", 1.0)):
            told[noise] = measure_pair("golden", 0, 1, noise=noise, noise_size=size, images_attack=4,
                                       images_random=2, **options)
        told["refused"] = [refused(measure_pair, "golden", 0, 1, noise=noise, **options)
                           for noise in ("sphere", "", 0)]
    return {name: packed(each) for name, each in told.items()}


@case(within=1e-2)
def default_pair():
    """All that is not asked for: epochs, draws, sizes, the noise's size."""
    told = {}
    with given(), bf16(False), mock.patch.object(runtime, "device", lambda: CPU):
        told["default"] = measure_pair("golden", 0, 2, architecture="golden-tiny", images_random=2,
                                       images_attack=3)
        told["no noise"] = measure_pair("golden", 0, 2, architecture="golden-tiny", noise="cube", epochs=2,
                                        draws=2, images_train=9, images_test=9)
    return {name: packed(each) for name, each in told.items()}


@case
def a_pair_with_one_training_image():
    with given(), bf16(False), mock.patch.object(runtime, "device", lambda: CPU):
        found = measure_pair("golden", 0, 2, architecture="golden-tiny", epochs=1, draws=2, images_train=1,
                             images_test=4)
    return [found["dimension"], found["train"]["accuracy"]["of"], found["test"]["accuracy"]["of"]]


class Seen(Exception):
    pass


@case(within=0)
def when_rates_fall():
    """Epochs of the training, and after which of them the rate is halved."""
    seen = []

    def look(net, x, y, recipe, **options):
        seen.append([recipe.epochs, recipe.factor, *recipe.milestones])
        raise Seen

    with given(), mock.patch.object(experiments, "fit", look), contextlib.suppress(Seen):
        measure_pair("golden", 0, 2, architecture="golden-tiny")
    with given(), mock.patch.object(experiments, "fit", look), contextlib.suppress(Seen):
        measure_pair("golden", 0, 2, architecture="golden-tiny", epochs=7)
    return torch.tensor(seen)


# ---- tables ------------------------------------------------------------------------------------------------
def part(number):
    """What `measure_pair` tells of one set, as far as tables read it."""
    values = torch.rand(40, generator=generator("part", number)) + number

    def norms(scale, count):
        return {name: summary(scale * k * values[:count], 50)
                for k, name in enumerate(("l1", "l2", "linf"), 1)}

    ways = {name: {"susceptibility": percentage(hits, 50), **norms(scale, hits)}
            for name, hits, scale in (("attack", 30 + number, 1), ("logit_attack", 40, 2))}
    return {"saturated": 0, "accuracy": percentage(50, 60 + number), **ways,
            "random": [{"delta": delta, "susceptibility": percentage(hits + number, 30), **norms(delta, hits)}
                       for delta, hits in ((1, 0), (2, 7), (5, 12), (10, 20))]}


def found_units():
    return pd.DataFrame([{"class_a": a, "class_b": b, "train": part(n), "test": part(n + 3)}
                         for n, (a, b) in enumerate(((0, 1), (0, 2), (1, 2)))])


@case
def rows_of_tables():
    units, told = found_units(), {}
    for name, key in (("accuracy", "accuracy"), ("attacked", "attack"), ("disturbed", 2)):
        told[name] = tables.shares(units, key)
    logit = units.assign(**{split: [part | {"attack": part["logit_attack"]} for part in units[split]]
                            for split in tables.SPLITS})
    told["sizes"] = [tables.sizes(units, "l2"), tables.sizes(logit, "linf"),
                     tables.sizes(units, "l1", limit=1.5)]
    summary = tables.summary_shares(units)
    told |= {"summary": summary, "deltas": [r for r in summary if r["delta_inferred"] in (None, 5)],
             "summary sizes": [tables.summary_sizes(units), tables.summary_sizes(logit)],
             "consecutive": [tables.problem(row) for row in tables.consecutive(units).to_dict("records")],
             "none": len(tables.consecutive(pd.DataFrame()))}
    told["not tried"] = 3 not in [entry["delta"] for entry in part(0)["random"]]
    return {name: packed(each) for name, each in told.items()}


@case
def distributions():
    facts, none = part(1)["attack"]["l2"], summary(torch.zeros(0))
    return {"attack": tables.search(part(1), "attack")["linf"], "draw": tables.search(part(1), 5)["l1"],
            "points": [tables.points(facts), tables.points(none)],
            "quantile": [tables.quantile(facts, share) for share in (0, 0.013, 0.5, 1)],
            "none": [tables.quantile(none, 0.5) is None, tables.below(none, 1) is None],
            "below": [tables.below(facts, limit) for limit in (0, 2.5, 3.1, 9)],
            "equal": tables.below({"quantiles": [1.0, 1.0, 2.0]}, 1.0)}


@case
def printed_rows():
    rows = [{"class_a": a, "class_b": a + 1, "norm": norm, "value": a * k}
            for a in range(3) for k, norm in enumerate(("l1", "l2"))]
    item = SimpleNamespace(rows=rows)
    names = SimpleNamespace(rows=[{"index": 0, "name": "T-shirt / top"},
                                  {"index": 1, "name": "Dress"},
                                  {"index": 2, "name": "Colour 3"}])
    return {"norm": [f"{key} {row}" for key, row in tables.printed(item, norm="l2").items()],
            "value": [f"{key} {row}" for key, row in tables.printed(item, norm="l2", value=2).items()],
            "other": len(tables.printed(item, page=3)),
            "classes": tables.class_rows(names, ["t shirt/TOP", "coat", "color 3"]),
            "spelling": tables.class_rows(names, ["t shirt/TOP", "coat", "color 3"],
                                           [("color 3", "Colour-3")])}
