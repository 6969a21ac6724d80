"""ROBY beside its forward pass, the attack of the paper, and Algorithm 1 sample by sample (`chen`)."""
import torch

from benchmarks import factor, median, repeated, rounds, sized, table, trained
from shared import roby, runtime
from shared.attacks.gradient import PGD
from shared.attacks.threat import Linf
from shared.inference import chunk_for, frozen, logits

NETS = ("chen-lenet", "chen-fcn")
OPTIONS = {"chen-fcn": {"layers": 2, "neurons": sized(1000, 20)}}
IMAGES, ATTACKED, SLOW, STEPS = sized((10_000, 200, 1_000, 40), (100, 4, 50, 2))
REPEATS = 5


def sample_by_sample(features, labels):
    """Algorithm 1 as printed, a sample at a time: FSA, FSD and ROBY."""
    def norm(values):
        return [(v - min(values)) / (max(values) - min(values)) for v in values]

    classes = int(labels.max()) + 1
    samples = [[f for f, y in zip(features, labels) if y == k] for k in range(classes)]
    centres, widths = [], []
    for own in samples:
        total = torch.zeros_like(own[0])
        for f in own:
            total = total + f
        centres.append(total / len(own))
    for own, centre in zip(samples, centres):
        widths.append(sum(float((f - centre).norm()) for f in own) / len(own))
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    distances = [float((centres[i] - centres[j]).norm()) for i, j in pairs]
    overlaps = [widths[i] + widths[j] - d for (i, j), d in zip(pairs, distances)]
    return tuple(sum(values) / len(values) for values in (norm(widths), norm(distances), norm(overlaps)))


def run(dataset):
    """Print a table: seconds, and factors over rounds in which the functions take turns."""
    x, y = repeated(dataset.x_test, IMAGES), repeated(dataset.y_test, IMAGES)
    rows = []
    for name in NETS:
        net = trained(name, dataset, **OPTIONS.get(name, {}))
        pgd, images = PGD(Linf(0.3), STEPS, 0.01), x[:ATTACKED].float() / 255
        start = pgd.draw(images, runtime.generator(0))

        def attack(net=net, pgd=pgd, images=images, start=start):
            with frozen(net):
                runtime.chunked(lambda *part: pgd.propose(net, *part)[0], images, y[:ATTACKED], start,
                                chunk=chunk_for(net, images))

        scores = logits(net, x)
        times = rounds(lambda net=net: logits(net, x), lambda net=net: roby.measure(net, x, y), attack,
                       lambda scores=scores: roby.roby(roby.layout(scores, y)),
                       lambda scores=scores: roby.roby(roby.layout(scores[:SLOW], y[:SLOW])),
                       lambda scores=scores: sample_by_sample(scores[:SLOW], y[:SLOW]), repeats=REPEATS)
        forward, measured, attacked, of_scores, few, slow = zip(*times)
        share = median([100 * m / (a * IMAGES / ATTACKED) for m, a in zip(measured, attacked)])
        rows.append([name, f"{median(forward):.3f}", f"{median(measured):.3f}",
                     f"{factor(measured, forward):.2f}", f"{1000 * median(of_scores):.1f}", f"{share:.2f}",
                     f"{factor(slow, few):.0f}"])
    table(f"ROBY on {IMAGES:,} images", ["network", "forward s", "ROBY s", "ROBY / forward", "of logits ms",
                                         "of PGD %", "Algorithm 1 / ours"], rows,
          f"ROBY has its own forward pass. Of PGD: the time of ROBY over that of {STEPS} steps on as many "
          f"images, from {ATTACKED} attacked ones, both in float32 (the paper prints 0.64 to 1.18). "
          f"Algorithm 1 sample by sample on {SLOW:,} samples, from logits.")
