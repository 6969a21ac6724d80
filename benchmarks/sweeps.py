"""A hundred settings of an attack on one image, together and in a hundred calls of Foolbox; ten LeNets."""
import contextlib
import dataclasses
import os
import warnings
from functools import partial

import torch
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn import functional as F

from benchmarks import factor, median, rounds, sized, table, trained
from benchmarks.attacks import Counted
from papers.shu import experiments
from papers.shu.experiments import MARGINS, SWEEPS
from report import registry
from shared import regions as boxes
from shared import runtime

with warnings.catch_warnings():      # Foolbox takes a filter from where SciPy no longer wants it taken
    warnings.simplefilter("ignore", DeprecationWarning)
    import foolbox

SETTINGS = sized(100, 2)             # of an attack
SIZES, WEIGHTS = experiments.SIZES[:SETTINGS], experiments.WEIGHTS[:SETTINGS]
SEARCHES, ITERATIONS = 2, sized(25, 1)   # of Carlini & Wagner's attack, at each of the hundred settings
STEPS, BATCH, LENETS = sized((10, 64, 10), (1, 2, 2))    # of training


def calls(net, x, y, attacks, sizes):
    """One call of Foolbox for each attack and size."""
    model = foolbox.PyTorchModel(net, (0, 1), device="cpu")
    for attack, size in zip(attacks, sizes):
        attack(model, x, y, epsilons=size)


def peers():
    """The attacks of `sweeps` as Foolbox has them, one a setting, and the sizes of their balls."""
    def cw(c, confidence):
        return foolbox.attacks.L2CarliniWagnerAttack(
            binary_search_steps=SEARCHES, steps=ITERATIONS, stepsize=5e-3, initial_const=c,
            confidence=confidence, abort_early=False)

    bim = {name: [getattr(foolbox.attacks, f"{kind}BasicIterativeAttack")(abs_stepsize=0.05 * whole, steps=10)
                  for _ in SIZES]
           for name, kind, whole in (("bim-linf", "Linf", 1), ("bim-l2", "L2", 28), ("bim-l1", "L1", 784))}
    sizes = {"bim-linf": 1, "bim-l2": 28, "bim-l1": 784}
    return {**{name: (attack, [sizes[name] * size for size in SIZES]) for name, attack in bim.items()},
            "cw2": ([cw(c, kappa) for c, kappa in zip(WEIGHTS, SETTINGS // 2 * MARGINS)], [None] * SETTINGS)}


@contextlib.contextmanager
def on(threads):
    """So many threads of torch, within."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def sweeps(net, x, y, threads):
    """Rows of seconds and passes of both, one an attack; passes are images that go forward."""
    settings = {"cw2": dict(c=WEIGHTS, searches=SEARCHES, iterations=ITERATIONS, stop="never")}
    rows = []
    for name, (attacks, sizes) in peers().items():
        attack = dataclasses.replace(SWEEPS[name], **settings.get(name, {"epsilon": SIZES}))
        ours = partial(boxes.sweep, x=x, y=y, attack=attack, count=SETTINGS)
        counts = []
        for run in (ours, partial(calls, x=x, y=y, attacks=attacks, sizes=sizes)):
            counted = Counted(net)
            run(counted)
            counts.append(counted.seen)
        own, foolbox_times = zip(*rounds(partial(ours, net),
                                   partial(calls, net, x, y, attacks, sizes), repeats=3))
        per_image = [[1e6 * t / count for t in times] for times, count in zip((own, foolbox_times), counts)]
        rows.append((name, str(threads), *(f"{count:,}" for count in counts), f"{median(own):.1f}",
                     f"{median(foolbox_times):.1f}", *(f"{median(times):.0f}" for times in per_image),
                     f"{factor(per_image[1], per_image[0]):.1f}"))
    return rows


def looped(nets, x, y):
    for net in nets:
        sgd = torch.optim.SGD(net.parameters(), 0.01)
        for images, labels in zip(x, y):
            sgd.zero_grad()
            F.cross_entropy(net(images), labels).backward()
            sgd.step()


def stacked(nets, x, y):
    weights, _ = stack_module_state(nets)

    def loss(weights, images, labels):
        return F.cross_entropy(functional_call(nets[0], weights, (images,)), labels)

    step = vmap(grad(loss), in_dims=(0, None, None), randomness="different")
    for images, labels in zip(x, y):
        slopes = step(weights, images, labels)
        weights = {name: (w - 0.01 * slopes[name]).detach() for name, w in weights.items()}


def lenets(dataset):
    """Ten networks trained for some steps: one after the other, and as one stack."""
    rows = torch.arange(STEPS * BATCH)
    x = (dataset.x_train[rows].float() / 255).view(STEPS, BATCH, *dataset.x_train.shape[1:])
    y = dataset.y_train[rows].view(STEPS, BATCH)
    nets = [registry.build("shu-lenet", generator=runtime.generator(n, "bench")) for n in range(LENETS)]
    times = list(zip(*rounds(partial(looped, nets, x, y), partial(stacked, nets, x, y), repeats=3)))
    table(f"Training {LENETS} LeNets for {STEPS} steps of {BATCH} images", ("way", "s", "time / loop"),
          [(way, f"{median(t):.2f}", f"{factor(t, times[0]):.1f}")
           for way, t in zip(("one after the other", "as one stack"), times)])


def run(dataset):
    """Print the tables."""
    net = trained("shu-lenet", dataset)
    x, y = dataset.x_test[:50].float() / 255, dataset.y_test[:50]
    first = (boxes.answers([net], x)[0] == y).nonzero()[0]
    rows = []
    for threads in sized(sorted({1, os.cpu_count()}), [1]):
        with on(threads):
            rows += sweeps(net, x[first], y[first], threads)
    table("A hundred settings of an attack on one image: together, and in a hundred calls of Foolbox, LeNet",
          ("attack", "threads", "passes, ours", "Foolbox", "s, ours", "Foolbox", "µs a pass, ours", "Foolbox",
           "times"), rows,
          "Ours looks for the size of the ball and so makes more passes; Foolbox 3 does not. The last column "
          "compares equally many passes. Foolbox has one image a call, which a second thread hardly helps.")
    lenets(dataset)
