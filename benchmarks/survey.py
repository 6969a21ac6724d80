"""The boundary survey of `he` beside the authors' loop over images: images classified, seconds, memory."""
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import torch

from benchmarks import factor, median, rounds, sized, table, trained
from report import registry
from shared import runtime
from shared.attacks.directions import directions
from shared.attacks.optimised import CarliniWagner
from shared.boundary import survey

STEP, TOP = 0.02, 0.48
LOOKS = round(TOP / STEP)
D, REPEATS = 28 * 28, 2
BRITTLE = CarliniWagner(rate=0.1, c=1.0, searches=2, iterations=sized(100, 5))
CASES = sized(
    (("ren-a", 3, D, None), ("ren-a", 8, D, BRITTLE), ("ren-a", 100, 16, None), ("ren-b", 8, 49, None)),
    (("ren-a", 2, 2, None), ("ren-a", 2, 2, BRITTLE)))
IMAGES_MEMORY, LOOKS_MEMORY = sized(200, 2), 1


def image_by_image(net, images, dirs, *, keep=False):
    """The authors' scheme: one image at a time, the directions that have not crossed in one batch, step by
    step until all have. Returns the step [N, K] that crossed, 0 where none did, and the images classified.

    keep  all directions stay in the batch until the last of their image has crossed
    """
    step, classified = torch.zeros(len(images), len(dirs), dtype=torch.int64), 0
    with torch.no_grad():
        for x, crossed_at in zip(images, step):
            reference = net(x[None]).argmax()
            for look in range(1, LOOKS + 1):
                left = (crossed_at == 0).nonzero()[:, 0]
                if not len(left):
                    break
                batch = torch.arange(len(dirs)) if keep else left
                points = (x + look * STEP * dirs[batch].view(-1, *x.shape)).clamp(0, 1)
                crossed = batch[net(points).argmax(1) != reference]
                crossed_at[crossed] = torch.where(crossed_at[crossed] == 0, look, crossed_at[crossed])
                classified += len(batch)
    return step, classified


def run(dataset):
    """Print a table and the peak memory of a large survey."""
    nets = {name: trained(name, dataset) for name in dict.fromkeys(name for name, *_ in CASES)}
    rows, differ = [], 0
    for name, count, orthogonal, attack in CASES:
        net, x = nets[name], dataset.x_test[:count].float() / 255
        if attack is not None:
            x = attack(net, x, dataset.y_test[:count]).x_adv
        dirs = directions(D, orthogonal, negatives=True, generator=runtime.generator(0))
        schemes = {"ours": partial(survey, net, x, dirs, step=STEP, top=TOP),
                   "loop": partial(image_by_image, net, x, dirs),
                   "kept": partial(image_by_image, net, x, dirs, keep=True)}
        results = {}

        def take(scheme, schemes=schemes, results=results):
            results[scheme] = schemes[scheme]()

        ours, loop, kept = zip(*rounds(*(partial(take, scheme) for scheme in schemes), repeats=REPEATS))
        distances, (step, _), (again, more) = results.values()
        looks = torch.where(distances.reached, (distances.distance / STEP).round().long(), 0)
        differ += int(((looks != step) | (again != step)).sum())
        needed = int(torch.where(step > 0, step, LOOKS).sum())
        what = "images" if attack is None else "OptBrittle"
        rows.append((f"{name}, {count} {what} x {len(dirs):,}", f"{needed:,}",
                     f"{distances.evaluations / needed:.4f}", f"{median(ours):.1f}", f"{median(loop):.1f}",
                     f"{factor(loop, ours):.2f}", f"{more / needed:.2f}", f"{median(kept):.1f}",
                     f"{factor(kept, ours):.2f}"))
    table(f"Boundary survey, steps of {STEP} up to {TOP}, {torch.get_num_threads()} thread(s)",
          ("net, images x directions", "evaluations needed", "ours / needed", "s", "by image, s",
           "times ours", "all kept / needed", "s", "times ours"), rows,
          "Needed: steps to the crossing, summed over all pairs. By image: an image at a time, with those "
          "directions that have not crossed; all kept: with all of them until the last has. "
          f"Medians over rounds that time all of them in turn. Pairs that differ: {differ}.",
          subprocess.run([sys.executable, "-c", "from benchmarks.survey import memory; memory()"],
                         check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.strip())


def memory():
    """Print the peak memory of a survey: in a process of its own, which has done nothing else."""
    net = registry.build("ren-a", generator=runtime.generator(0)).eval()
    x = torch.rand(IMAGES_MEMORY, 1, 28, 28, generator=runtime.generator(0, "images"))
    dirs = directions(D, D, negatives=True, generator=runtime.generator(0))
    before = peak()
    distances = survey(net, x, dirs, step=STEP, top=LOOKS_MEMORY * STEP)
    print(f"Peak memory of {len(x)} images x {len(dirs):,} directions, {distances.evaluations:,} "
          f"evaluations: {peak():.2f} GiB, {before:.2f} GiB of it before the survey.")


def peak():
    """Peak memory of this process in GiB. Linux counts in `ru_maxrss` what the parent process had, too."""
    status = Path("/proc/self/status")
    if status.is_file():
        return next(int(line.split()[1]) for line in status.read_text(encoding="utf-8").splitlines()
                    if line.startswith("VmHWM")) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
