"""regions: boxes of adversarial examples and the labels of re-trained models in them, beside plain loops."""
import itertools
import math

import pytest
import torch
from torch import nn

from papers.shu.attacks.fgsm_search import FGSMSearch
from papers.shu.attacks.iterative import BasicIterative
from report import reference
from shared import regions as boxes
from shared import runtime
from shared.regions import intervals

SHAPE = (2, 3, 4)
SIZE = math.prod(SHAPE)


def seeded(*labels):
    return runtime.generator(0, "regions", *labels)


def network(name):
    """A small network of three classes."""
    result, draw = nn.Sequential(nn.Flatten(), nn.Linear(SIZE, 3)), seeded(name)
    with torch.no_grad():
        for p in result.parameters():
            p.copy_(2 * torch.rand(p.shape, generator=draw) - 1)
    return result


@pytest.fixture(scope="module")
def swept():
    """Four models, an image that all give the same class, that class, and its examples under an attack."""
    models = [network(n) for n in range(4)]
    images = torch.rand(400, *SHAPE, generator=seeded("x"))
    labels = boxes.answers(models, images)
    x = images[(labels == labels[0]).all(0)][:1]
    y = boxes.answers(models, x)[0]
    attack = BasicIterative("L2", epsilon=tuple(0.01 * (i + 1) for i in range(30)), iterations=5, halvings=6)
    return models, x, y, boxes.sweep(models[0], x, y, attack, count=30)


def examples():
    """An image, and images that differ from it: most values in some, some in all, some in none."""
    x = torch.rand(1, *SHAPE, generator=seeded("examples"))
    draw = torch.rand(9, *SHAPE, generator=seeded("examples", "moves"))
    moves = torch.where(draw < 0.7, 0.3 * (draw - 0.35), 0)
    moves[:, :, 0], moves[:, 0, 2] = 0.0003, 0.2      # too little to count; in all by the same
    return x, (x + moves).clamp(0, 1)


# ---- sweeps ----------------------------------------------------------------------------------------------
def test_a_sweep_holds_every_adversarial_example_once(swept):
    models, x, y, result = swept
    assert result.succeeded == 30 >= len(result.images) > 9
    assert len({tuple(z.flatten().tolist()) for z in result.images}) == len(result.images)
    assert (result.classes != y).all() and result.classes.equal(models[0](result.images).argmax(1))
    twice = result.joined(result)
    assert twice.images.equal(result.images) and twice.classes.equal(result.classes)
    assert twice.succeeded == 60


def test_an_image_that_is_misclassified_or_not_one_is_named(swept):
    models, x, y, _ = swept
    with pytest.raises(runtime.UserError, match=f"classified as {int(y)}, not {int(y) - 1}; take"):
        boxes.sweep(models[0], x, y - 1, FGSMSearch())
    with pytest.raises(runtime.UserError, match=r"a sweep is of one image, .*; these are \[2"):
        boxes.sweep(models[0], x.repeat(2, 1, 1, 1), y.repeat(2), FGSMSearch())


# ---- intervals and boxes ---------------------------------------------------------------------------------
def by_hand(x, images, keep):
    """[(value, low, high, changed)] in order, by loops over values and images."""
    rows = []
    for v in range(SIZE):
        values = [float(z.flatten()[v]) for z in images]
        changed = sum(round((value - float(x.flatten()[v])) * 1000) != 0 for value in values)
        if changed and changed >= keep * len(images):
            rows.append((v, min(values), max(values), changed))
    return sorted(rows, key=lambda r: (-round((r[2] - r[1]) * 100_000), -r[3], r[0]))


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.8, 1.0])
def test_intervals_and_their_order_are_those_of_a_loop(keep):
    x, images = examples()
    box = intervals(x, torch.cat([images, images[:3]]), keep=keep, least=9)     # equal ones count once
    rows = by_hand(x, images, keep)
    assert len(rows) >= 4 and box.values.tolist() == [r[0] for r in rows]
    assert box.changed.tolist() == [r[3] for r in rows]
    torch.testing.assert_close(box.low, torch.tensor([r[1] for r in rows]), rtol=0, atol=0)
    torch.testing.assert_close(box.high, torch.tensor([r[2] for r in rows]), rtol=0, atol=0)
    later = intervals(x, images, keep=0.0, least=1).kept(keep, len(images))
    assert later.values.equal(box.values) and later.changed.equal(box.changed)


def test_a_box_holds_its_samples_and_leaves_the_other_values_clean():
    x, images = examples()
    box = intervals(x, images, keep=0.0, least=1)
    for b in (1, 5, len(box.values)):
        part = box.first(b)
        flat = part.sample(400, generator=seeded("samples")).flatten(1)
        others = [v for v in range(SIZE) if v not in part.values.tolist()]
        assert flat[:, others].equal(x.flatten(1)[:, others].expand(400, -1))
        inside = flat[:, part.values]
        assert (inside >= part.low).all() and (inside <= part.high).all() and len(part.values) == b
        # means and deviations are those of a uniform law
        wide = part.widths > 1e-3
        places = ((inside - part.low) / part.widths)[:, wide]
        assert ((places.mean(0) - 0.5).abs() < 0.08).all() and (places.amin(0) < 0.05).all()
        assert ((places.std(0) - 12**-0.5).abs() < 0.03).all()
    whole = box.first(6).whole()
    assert whole.widths.tolist() == [1.0] * 6 and whole.values.equal(box.values[:6])
    assert whole.sample(50, generator=seeded("whole")).flatten(1)[:, whole.values].amax() > 0.97


@pytest.mark.parametrize("call, message", [
    (lambda x, z: intervals(x, z), "9 different adversarial examples; 80 are needed: sweep over more"),
    (lambda x, z: intervals(x, z[:0], least=0), "0 different adversarial examples"),
    (lambda x, z: intervals(x, x.repeat(9, 1, 1, 1), least=1), "no value is changed in 100% of the examples"),
    (lambda x, z: intervals(x, 255 * z, least=1), "pixels lie in"),
    (lambda x, z: intervals(x, z, least=9).first(0), "a box of 0 intervals; 5 values are changed"),
    (lambda x, z: intervals(x, z, least=9).first(6), "allowed are 1 to 5"),
    (lambda x, z: boxes.agreement(torch.zeros(1, 5), 0), "one network has no other to agree with"),
    (lambda x, z: boxes.alarm([4]), "one network raises no alarm"),
    (lambda x, z: boxes.kind([0.9]), "at least two networks"),
    (lambda x, z: intervals(x, z, least=9).first(2.5), "a box of 2.5 intervals"),
    (lambda x, z: intervals(x[..., :2], z, least=9), r"the clean image is \[1, 2, 3, 2\], the examples"),
    (lambda x, z: intervals(z, z, least=9), "one image"),
    (lambda x, z: boxes.sweep(network(0), x, torch.tensor([0]), None, count=0), "0 times"),
    (lambda x, z: boxes.answers([], z), "no network was passed"),
    *((lambda x, z, sizes=sizes, n=n: boxes.curve([network(0)], 0, intervals(x, z, least=9), sizes,
                                                  samples=n, generator=None), message)
      for sizes, n, message in (([], 4, "increasing sizes"), ([3, 2], 4, "increasing sizes"),
                                ([2], 0, "0 samples"), ([0, 2], 4, "a box of 0"), ([2, 6], 4, "a box of 6"))),
    *((lambda x, z, u=u, v=v: boxes.plane([], x, u * x, v * x, reach=1, size=3), "parallel")
      for u, v in ((1, -2), (0, 1), (1, 0)))])
def test_what_cannot_be_is_named_in_one_line(call, message):
    with pytest.raises(runtime.UserError, match=message) as error:
        call(*examples())
    assert "\n" not in str(error.value)


# ---- the labels of several models ------------------------------------------------------------------------
def test_rates_agreement_and_curves_are_those_of_loops(swept):
    models, x, y, result = swept
    images, label = result.images, int(y)
    labels = [[int(model(z[None]).argmax()) for z in images] for model in models]
    assert boxes.answers(models, images).tolist() == labels
    wrong = [sum(c != label for c in row) / len(row) for row in labels]
    assert boxes.error_rates(models, images, y).tolist() == wrong
    counts = [[0] * 4, [0] * 4]
    for first, *others in zip(*labels):
        counts[first != label][others.count(first)] += 1
    assert boxes.agreement(torch.tensor(labels), y).tolist() == counts

    box = intervals(x, result.of(int(result.classes[0])), keep=0.0, least=1)
    curve = boxes.curve(models, y, box, [2, 7, 11], samples=60, generator=seeded("curve"))
    points = box.points(60, generator=seeded("curve"))
    for n, b in enumerate(curve["sizes"]):
        z = x.flatten(1).repeat(60, 1)
        z[:, box.values[:b]] = points[:, :b]
        z = z.view(60, *SHAPE)
        assert curve["rates"][n] == boxes.error_rates(models, z, y).tolist()
        assert curve["agreement"][n] == boxes.agreement(boxes.answers(models, z), y).tolist()
        squared = [float(((image - x[0]).double()**2).sum()) for image in z]
        for name, values in (("squared", squared), ("plain", [s**0.5 for s in squared])):
            expected = [min(values), sum(values) / 60, max(values)]
            assert curve[name][n] == pytest.approx(expected, rel=1e-5)
        assert curve["log_measure"][n] == pytest.approx(sum(math.log(w) for w in box.widths[:b].tolist()))


def test_the_alarm_is_the_share_of_draws_of_networks_that_disagree():
    labels = torch.randint(2, (5, 40), generator=seeded("alarm"))
    agreed = boxes.agreement(labels, 0).sum(0)
    for k, share in enumerate(boxes.alarm(agreed).tolist(), start=2):
        draws = [len(set(labels[[0, *others], n].tolist())) > 1
                 for others in itertools.combinations(range(1, 5), k - 1) for n in range(40)]
        assert share == pytest.approx(sum(draws) / len(draws))


def test_the_paper_s_own_regions_are_of_the_kinds_it_names():
    rows = {r["attack"]: boxes.kind([r[f"M{k}"] for k in range(1, 11)])
            for r in reference.paper("shu")["table-2"].rows}
    assert rows == {"NF": "foreign", "CW2": "foreign", "FGSM": "own", "BIM Linf": "own", "MI": "own",
                    "PW": "transferable"}


def test_noise_lies_at_the_distances_asked_for():
    x = torch.full((1, *SHAPE), 0.5)
    z = boxes.noise(x, torch.tensor([0.1, 0.4, 3000.0]), generator=seeded("noise"))
    assert (z - x).flatten(1).norm(dim=1)[:2].tolist() == pytest.approx([0.1, 0.4], rel=1e-5)
    assert z[2].unique().tolist() == [0.0, 1.0]


def test_a_plane_goes_through_the_image_along_both_directions(swept):
    models, x, *_ = swept
    u, v = (0.05 * torch.randn(x.shape, generator=seeded(n)) for n in "uv")
    labels, axes = boxes.plane(models, x, u, v, reach=0.2, size=5)
    assert labels.shape == (4, 5, 5) and labels[:, 2, 2].equal(boxes.answers(models, x)[:, 0])
    first, second = axes.flatten(1)
    assert float(first @ second) == pytest.approx(0, abs=1e-6) and float(second.norm()) == pytest.approx(1)
    torch.testing.assert_close(first * u.norm(), u.flatten())
    point = (x - 0.1 * axes[1] + 0.2 * axes[0]).clamp(0, 1)      # row 1 along v, column 4 along u
    assert labels[:, 1, 4].equal(boxes.answers(models, point)[:, 0])
