"""Section 7.1: small problems for the paper's steps and the fast code, errors built in, lost gradients."""
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from scipy import special, stats
from torch import nn

from papers.sutton import class_pairs
from papers.sutton.experiments import BLOCK, DELTAS, examine, perturbations
from papers.sutton.noise import BallNoise, CubeNoise, matching_radius
from papers.sutton.tables import percent
from papers.sutton.theory.ball import tail
from papers.sutton.theory.models import planar_flip_probability
from report import display, reference
from report.verdict import equality
from shared.attacks.line import scalings
from shared.attacks.noise import draw, random_flips
from shared.inference import Careful, classes
from shared.susceptibility import percentage

SHAPE = (3, 4, 4)   # of images of the small problems
FLAT, CURVED, SIX = "linear network", "curved boundary", "curved boundary, six classes"
COLUMNS = ["C", "norm", *DELTAS]
R = list(DELTAS)    # columns of the images that noise flips


# ---- small problems, by the paper's steps and by the fast code -------------------------------------------
class Problem(NamedTuple):
    """A network, images [N, *SHAPE], labels of which every fifth is wrong, and points of the unit ball."""
    net: object
    images: torch.Tensor
    labels: torch.Tensor
    points: torch.Tensor


def plane(shape, generator):
    """A network with one logit, the signed distance from a plane through the origin, and its normal."""
    normal = torch.randn(shape, generator=generator)
    normal /= normal.norm()
    return lambda x: (x * normal).sum((1, 2, 3))[:, None], normal


def curved(outputs, generator):
    """A network with forty hidden units."""
    hidden, last = (torch.randn(n, m, generator=generator) / m**0.5
                    for n, m in ((40, np.prod(SHAPE)), (outputs, 40)))
    return lambda x: 3 * (x.flatten(1) @ hidden.T).tanh() @ last.T


def small_problems(count, draws, seed, generator):
    """`({name: Problem}, distances, noise)`: distances of the images from the plane; noise of two classes.

    generator   words -> `torch.Generator`, such as `Run.generator`
    """
    around, pictures, within = (torch.randn(count, *SHAPE, generator=generator(name))
                                for name in ("around", "pictures", "within"))
    flat, normal = plane(SHAPE, generator("plane"))
    distances = torch.linspace(0.11, 6.3, count) * (2 * (torch.arange(count) % 2) - 1)
    within += (distances[:, None] - flat(within)).view(-1, 1, 1, 1) * normal
    noise = draw(draws, SHAPE, generator("draws"))
    blocks = torch.cat([perturbations(n, SHAPE, seed) for n in range(-(-draws // BLOCK))])[:draws]
    problems = {}
    for name, net, images, points in ((FLAT, flat, within, noise.points),
                                      (CURVED, curved(1, generator("bent")), around, noise.points),
                                      (SIX, curved(6, generator("six")), pictures, blocks)):
        wrong, scores = torch.arange(count) % 5 == 0, net(images)
        labels = (classes(scores) + wrong) % max(scores.shape[1], 2)
        problems[name] = Problem(net, images, labels, points)
    return problems, distances.abs().numpy(), noise


def by_loop(problem, procedure, /, *, points=None, **changes):
    """A row an image: whether it is in C, norm of its attack (0: none), first flipping point at each delta.

    procedure   the paper's steps for one image; `points` and `changes` build an error into them
    """
    points = problem.points if points is None else points
    return pd.DataFrame([procedure(problem.net, image, label, points, **changes)
                         for image, label in zip(problem.images, problem.labels.tolist())],
                        columns=COLUMNS, dtype=float)


def by_fast_code(problem, noise, generator):
    """`(rows, shares)` of two classes, by the code of Sections 7.2.1 to 7.2.3; shares in percent."""
    judge, images, labels = Careful(problem.net), problem.images, problem.labels
    result, attacked = class_pairs.measure_images(
        judge, images, labels, noise, DELTAS, images_attack=None, images_random=None, generator=generator,
        device=torch.device("cpu"))
    rows = _rows(judge.margins(images, labels) > 0, attacked.rows, attacked.size, result["sampled"]["first"],
                 len(noise.points))
    return rows, [percent(result, key) for key in ("accuracy", "attack", *DELTAS)]


def by_code_for_many_classes(problem, seed):
    """The rows by the code of Section 7.2.4."""
    draws = len(problem.points)
    result = examine(*problem[:3], deltas=DELTAS, draws=draws, seed=seed)
    hit = result["l2"] > 0
    return _rows(result["correct"], np.flatnonzero(result["correct"])[hit], result["l2"][hit],
                 result["first"], draws)


def _rows(correct, attacked, norms, firsts, draws):
    rows = np.c_[correct, np.zeros(len(correct)), np.full((len(correct), len(DELTAS)), draws)]
    rows[attacked, 1:] = np.c_[norms, np.transpose(firsts)]
    return pd.DataFrame(rows, columns=COLUMNS)


class Comparison:
    """The paper's steps as a loop, and the fast code, on the small problems.

    loop, fast    {problem: a row an image}
    shares, own   {problem of two classes: percentages}, by the fast code and by the loop
    sets          {problem: which images are in C, A and R, and the share of points that flips each image}
    """
    def __init__(self, procedure, images, draws, page):
        self.procedure = procedure
        self.problems, self.distances, self.noise = small_problems(images, draws, page.seed, page.generator)
        self.loop = {name: by_loop(problem, procedure) for name, problem in self.problems.items()}
        self.fast = {SIX: by_code_for_many_classes(self.problems[SIX], page.seed)}
        self.shares, self.sets = {}, {}
        for name in (FLAT, CURVED):
            self.fast[name], self.shares[name] = by_fast_code(self.problems[name], self.noise,
                                                              page.generator("order"))
        for name, rows in self.loop.items():
            flipped = by_loop(self.problems[name], procedure,
                              result=lambda flips: float(flips.double().mean()))
            self.sets[name] = (rows[R] < draws).assign(
                C=rows.C == 1, A=rows.norm > 0, label=self.problems[name].labels).join(
                flipped[R].add_prefix("share "))
        self.own = {name: [100 * s.C.mean(), 100 * s.A.sum() / s.C.sum(), *(100 * s[R].sum() / s.A.sum())]
                    for name, s in self.sets.items() if name in self.shares}

    def same(self):
        """On how many images, of how many, the loop and the fast code agree in everything."""
        agree = [(self.loop[name] == self.fast[name]).all(axis=1) for name in self.problems]
        return {"same": int(sum(rows.sum() for rows in agree)), "images": sum(map(len, agree))}

    def gives(self, part):
        """Formula over the sets -> whether it gives this part of the shares by the fast code."""
        return lambda formula: all(np.allclose(formula(self.sets[name]), self.shares[name][part], rtol=0,
                                               atol=1e-9) for name in self.shares)

    def equals(self, names, columns):
        """Changes of the loop -> whether it gives these columns of the fast code for each image."""
        return lambda changes: all(by_loop(self.problems[name], self.procedure, **changes)[columns].equals(
            self.fast[name][columns]) for name in names)


def crossings(steps, trials, generator):
    """Random perturbations beside planes of several dimensions, at the distance of their attack.

    `[{"n", "delta", "exact", "low", "high", "image"}]`: the exact share of single perturbations that cross
    the plane, the 99.99% interval of the measured one, and the share of images that 2,000 flip, in percent.
    """
    away = 0.9999 * 39 * float(scalings()[1])   # just inside a step, which then is the attack
    rows = []
    for side in (2, 4, 8, 16, 32):
        net, towards = plane((3, side, side), generator("side", side))
        image, label, n = away * towards[None], torch.ones(1, dtype=torch.int64), towards.numel()
        norm = torch.tensor(steps(net, image[0], 1, 0 * image)[1:2])
        batches = (draw(min(2000, trials - begin), towards.shape, generator("against", side, begin))
                   for begin in range(0, trials, 2000))
        hits = np.sum([[int(random_flips(Careful(net).flips, image, label, norm, points, delta,
                                         exact=True).count) for delta in DELTAS[1:]] for points in batches],
                      axis=0)
        for delta, count in zip(DELTAS[1:], hits.tolist()):
            ratio = away / (delta * float(norm))
            rows.append({"n": n, "delta": delta, "exact": 100 * float(tail(n, ratio)),
                         "image": 100 * float(planar_flip_probability(n, ratio)),
                         **percentage(count, trials, confidence=0.9999)})
    return rows


def sound_noise(hooks, half_width, dimension, generator):
    """Whether noise of an L-infinity and an L2 ball has the laws of the text, equal mean norms to within 2%,
    and a sample for each image.

    hooks   of `fit`, with half the width `half_width` and the matching radius, for images of so many values
    """
    radius, blank = matching_radius(half_width, dimension), torch.zeros(400, 3, 1, dimension // 3)
    cube, ball = (hook(None, blank, None, generator).flatten(1).double() for hook in hooks)
    norms, radii = cube.norm(dim=1), ball.norm(dim=1)
    laws = ((cube.flatten()[:20_000], (-half_width, 2 * half_width)),
            ((radii / radius) ** dimension, (0, 1)))
    return bool(cube.abs().max() <= half_width and radii.max() <= radius * (1 + 1e-6)
                and abs(norms.mean() / radii.mean() - 1) <= 0.02
                and all(stats.kstest(x.numpy(), "uniform", ends).pvalue >= 1e-6 for x, ends in laws)
                and not any(torch.equal(*some[:2]) for some in (cube, ball)))


# ---- the paper's own form must fit the code in use; forms with one error built in must not ---------------
PERCENTAGES = {     # of the sets of images
    "equation-6": {
        "not in percent": lambda s: s.C.mean(),
        "the share that is wrong": lambda s: 100 - 100 * s.C.mean(),
        "of one class only": lambda s: 100 * s[s.label == 1].C.mean()},
    "equation-7": {
        "of all images": lambda s: 100 * s.A.mean(),
        "misclassified images count as attacked": lambda s: 100 * (s.A | ~s.C).mean(),
        "those without an attack": lambda s: 100 - 100 * s.A.sum() / s.C.sum()},
    "equation-8": {
        "of the correctly classified images": lambda s: 100 * s[R].sum() / s.C.sum(),
        "of all images": lambda s: 100 * s[R].mean(),
        "the share of perturbations": lambda s: 100 * s.filter(like="share").sum().to_numpy() / s.A.sum()}}
STEPS = scalings()[1:]
ATTACKS = {         # changes of the loop
    "downhill": {"towards": lambda slope: -slope / slope.norm()},
    "the sign of the gradient": {"towards": torch.sign},
    "the gradient as long as it is": {"towards": lambda slope: slope},
    "the largest step that changes the class": {"steps": STEPS.flip(0)},
    "each step added to the last": {"steps": STEPS.cumsum(0)},
    "half as many steps": {"steps": scalings(len(scalings()) // 2)[1:]}}
MANY_CLASSES = {
    "another loss (cross-entropy)": {
        "loss": lambda scores, label: nn.functional.cross_entropy(scores[None], torch.tensor([label]))},
    "towards the second class": {"loss": lambda scores, label: scores.topk(2).values[1] - scores[label]},
    "only if not among the first two": {
        "success": lambda scores, label: (scores.topk(2).indices != label).all(1)},
    "only if the next class": {"success": lambda scores, label: classes(scores) == (label + 1) % 6}}


def perturbation_errors(points, generator):
    """Changes of the loop: other random perturbations than those of the text, or another success."""
    return {"all must succeed": {"result": lambda flips: 0 if flips.all() else len(flips)},
            "not in norms of the attack": {"radius": lambda delta, norm: delta},
            "points of an L∞ ball": {"points": 2 * torch.rand(points.shape, generator=generator) - 1},
            "on one side only": {"points": points.abs()},
            "the norm of the attack at every δ": {"radius": lambda delta, norm: norm}}


def noise_errors(half_width, n):
    """Pairs of hooks with one error built in: noise of an L-infinity ball and of the matching L2 ball."""
    cube, ball = CubeNoise(half_width), BallNoise(matching_radius(half_width, n))
    return {
        "the L∞ ball half as wide": (CubeNoise(half_width / 2), ball),
        "radius a √n": (cube, BallNoise(half_width * n**0.5)),
        "on the sphere": (
            cube, lambda *given: ball.radius * nn.functional.normalize(ball(*given).flatten(1))),
        "normal instead of uniform": (lambda net, x, y, g: x + half_width / 3**0.5 * torch.randn(
            x.shape, generator=g), ball),
        "one sample for all images": (lambda net, x, y, g: cube(net, x[:1], y, g).expand_as(x), ball)}


def mean_norms_agree(generator):
    """Whether both kinds of noise have mean norms within 2% of each other, for three half-widths."""
    def norm(hook, a):
        blank = torch.zeros(200, 3, 32, 32)
        return float(hook(None, blank, None, generator("lengths", a)).flatten(1).norm(dim=1).mean())

    return all(abs(norm(CubeNoise(a), a) / norm(BallNoise(matching_radius(a, 3072)), a) - 1) < 0.02
               for a in (0.1, 0.5, 1.0))


class Checks:
    """The checks of one page, published one by one; `show` ends them with all errors built in."""

    def __init__(self, page):
        self.page, self.detected = page, {}

    def check(self, item, fits, own, errors, *, exact=True, noticed=False, sides=None, **data):
        """Publish a derived item.

        fits      form -> whether it gives what the code in use gives; `own` must, none of `errors` may
        errors    {what is wrong with it: form}
        exact     whether a further check of the item succeeds
        noticed   whether `data` counts the errors that were noticed, too
        sides     what agrees, in words, where these are no two computations
        """
        detected = self.detected[item] = {error: not fits(form) for error, form in errors.items()}
        evidence = equality(fits(own) and exact, changed=detected.values())
        self.page.statement(item, evidence=evidence | ({"sides": sides} if sides else {}),
                           data=data | ({"changes_noticed": sum(detected.values())} if noticed else {}))

    def show(self):
        """Show all errors built in, folded; returns how many there are and how many are noticed."""
        label = {item: reference.paper(self.page.paper_key)[item].label for item in self.detected}
        display.table(["definition", "errors built in", "noticed"],
                      [[label[item], "; ".join(by_error), f"{sum(by_error.values())} of {len(by_error)}"]
                       for item, by_error in self.detected.items()],
                      "Errors that we built into steps or formulas; how many of them the comparison notices",
                      sentences=True, fold="All errors that we built in")
        return {"caught": sum(sum(by_error.values()) for by_error in self.detected.values()),
                "mutants": sum(map(len, self.detected.values()))}


def draw_shares(loop, fast):
    """Accuracy, attack and noise in percent, `{problem: [value, ...]}`, by the loop and by the fast code."""
    figure, axes = plt.subplots(1, len(fast), figsize=(6.4, 2.8), sharey=True)
    labels = ["accuracy", "attack", *(f"noise, {delta} ×" for delta in DELTAS)]
    for ax, name in zip(axes, fast):
        ax.plot(loop[name], range(len(labels)), "o", ms=12, mfc="none", color=display.PALETTE[1],
                label="loop")
        ax.plot(fast[name], range(len(labels)), "o", ms=5, color=display.PALETTE[0], label="fast code")
        ax.set(xlim=(-5, 105), xlabel="% of images", title=name)
    axes[0].set_yticks(range(len(labels)), labels)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


# ---- where the gradient of the squared error vanishes in single precision --------------------------------
LOGITS = np.linspace(0, 60, 2401)  # absolute values: of class 1 above 0, of class 0 below
TINY = torch.finfo(torch.float32).tiny  # smaller numbers are subnormal


def slopes(label):
    """Absolute derivative by the logit of an image that is classified correctly as 0 or 1, at `LOGITS`."""
    z = torch.tensor(LOGITS if label else -LOGITS, dtype=torch.float32, requires_grad=True)
    slope, = torch.autograd.grad(((z.sigmoid() - label) ** 2).sum(), z)
    return slope.abs().double().numpy()


def last_logit(label, least=0.0):
    """The largest of `LOGITS` at which the derivative is above 0, or as large as `least`."""
    return float(LOGITS[(slopes(label) > 0) & (slopes(label) >= least)].max())


def draw_slopes():
    """The derivative over the absolute logit, exact and in single precision, for both classes."""
    figure, ax = plt.subplots(figsize=(5.6, 3.8))
    exact = 2 * special.expit(-LOGITS) ** 2 * special.expit(LOGITS)
    ax.plot(LOGITS, exact, color=display.PALE, lw=9, label="exact")
    for label, sign, colour, line, width in zip((1, 0), "><", display.PALETTE, display.LINES, (5, 2)):
        size, end = np.where(slopes(label) > 0, slopes(label), np.nan), last_logit(label)
        ax.plot(LOGITS, size, line, color=colour, lw=width, label=f"32 bits, class {label}, z {sign} 0")
        ax.plot(end, size[LOGITS == end], "o", color=colour, ms=9)
    ax.axvspan(last_logit(1), LOGITS[-1], color=display.PALETTE[0], alpha=0.12)
    ax.text(last_logit(1) + 1, 1e-46, "class 1: no gradient", fontsize=11)
    ax.set(yscale="log", xlabel="absolute value of the logit z", ylabel="gradient of the squared error",
           ylim=(1e-52, 10), title="Very confident predictions have no gradient")
    ax.legend(loc="upper right")
    return figure


def vanishing():
    """Facts: logits at which the gradient vanishes, and what a program makes of an image of NaN.

    Its output compares as class 0: an image of class 1 then counts as attacked by the first step, one of
    class 0 at `flips` of the steps.
    """
    of_nan = classes(torch.full((len(scalings()), 1), torch.nan))       # the predicted class at each step
    return {"one": last_logit(1), "zero": last_logit(0), "flushed": last_logit(0, TINY),
            "flips": int((of_nan != 0).sum()), "norm": float(scalings()[int((of_nan != 1).int().argmax())])}
