"""What networks answer: pixels, modes, logits in chunks, classes, accuracy, 16 bits where that is sure."""
import torch
from torch import nn

from shared import runtime
from shared.models import inference
from tests.golden import Cases, bf16, refused

case = Cases()

SHAPE = (3, 4, 4)


def pixels(images):
    return inference.pixels(images)


def logits(net, images, **options):
    return inference.logits(net, images, **options)


def evaluating(net):
    return inference.frozen(net)


def classes(scores):
    return inference.classes(scores)


def classifier(net, **options):
    return inference.classifier(net, **options)


def accuracy(net, images, labels):
    return inference.accuracy(net, images, labels)


def careful(net, doubt):
    return inference.Careful(net, doubt)


def measured(net, images, **options):
    return inference.Careful.measured(net, images, **options)


def network(outputs, *labels, gain=1.0, shape=SHAPE, dropout=0.0):
    """A small bent network, whose weights the labels decide; logits of both signs, some `gain` in size."""
    size = torch.Size(shape).numel()
    layers = [nn.Flatten(), nn.Linear(size, 12), nn.Tanh(), nn.Dropout(dropout), nn.Linear(12, outputs)]
    net, draw = nn.Sequential(*layers), runtime.generator(0, "golden", "network", *labels)
    with torch.no_grad():
        for layer, scale in ((net[1], 2 / size**0.5), (net[4], gain / 12**0.5)):
            layer.weight.copy_(scale * torch.randn(layer.weight.shape, generator=draw))
            layer.bias.copy_(-layer.weight.sum(1) / 2 if layer is net[1] else torch.zeros(outputs))
    return net


class Coarse(nn.Module):
    """A network that is coarse under bfloat16 autocast: `coarsen(logits, images)`, the same on every machine.

    Real bfloat16 differs in its last bits from machine to machine.
    """

    def __init__(self, net, coarsen=None):
        super().__init__()
        self.net, self.coarsen = net, coarsen or (lambda scores, x: (8 * scores).round() / 8)

    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            scores = self.net(x)
        coarse = torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") == torch.bfloat16
        return self.coarsen(scores, x) if coarse else scores


def drawn(count, *labels, shape=SHAPE):
    """uint8 images [count, *shape]."""
    return torch.randint(0, 256, (count, *shape), dtype=torch.uint8,
                         generator=runtime.generator(0, "golden", "drawn", *labels))


@case
def pixels_of_every_type():
    x = torch.arange(256, dtype=torch.uint8).view(4, 4, 4, 4)
    told = {str(y.dtype): pixels(y) for y in (x, x / 255, (x / 255).double(), (x / 255).half(), x.float())}
    return told | {"none": pixels(x[:0]), "grey": pixels(x[:, :1]),
                   "refused": [refused(pixels, bad)
                               for bad in (x, x[0], x.long(), x > 1, x[None], x[0] / 255)]}


@case
def modes():
    net = network(2, "modes", dropout=0.5)
    net[3].eval()

    def now():
        return [module.training for module in net.modules()]

    told = {"before": now()}
    with evaluating(net) as given:
        told["inside"] = now()
    told |= {"after": now(), "given": given is net}
    try:
        with evaluating(net):
            raise ValueError
    except ValueError:
        told["raised"] = now()
    return told


@case
def logits_of_images():
    x = drawn(17, "logits")
    told = {}
    for outputs in (1, 2, 5):
        net = network(outputs, "logits", dropout=0.5)
        told[f"{outputs}"] = {"bytes": logits(net, x), "floats": logits(net, x / 255),
                              "none": logits(net, x[:0]),
                              **{f"chunk {n}": logits(net, x, chunk=n) for n in (1, 5, 17, 40)},
                              "mode": net.training, "needs": logits(net, x[:1]).requires_grad}
    return told | {"no weights": logits(nn.Flatten(), x),
                   "double": str(logits(nn.Sequential(nn.Flatten(), nn.Softmax(1)), x.double() / 255).dtype),
                   "refused": [refused(logits, nn.Flatten(), bad) for bad in (x.long(), x[0])]}


@case
def sizes_of_batches():
    """A given chunk is what goes through the net at once."""
    seen = []

    class Counting(nn.Flatten):
        def forward(self, x):
            seen.append(len(x))
            return super().forward(x)

    logits(Counting(), drawn(10, "batches"), chunk=4)
    classifier(Counting(), chunk=7)(drawn(10, "batches"))
    return seen


@case
def classes_of_logits():
    one = torch.tensor([[-1.0], [0.0], [1e-30], [2.0], [float("nan")]])
    several = torch.tensor([[1.0, 2.0, 0.0], [3.0, 3.0, 1.0], [-1.0, -2.0, -0.5]])
    return {"one": classes(one), "two": classes(several[:, :2]), "three": classes(several),
            "none": [classes(one[:0]), classes(several[:0])]}


@case
def classifiers():
    x, told = drawn(40, "classifiers"), {}
    for outputs in (1, 2, 4):
        net = network(outputs, "classifiers")
        found = classifier(net)(x)
        right = torch.where(torch.arange(40) < 29, found, (found + 1) % max(2, outputs))
        told[f"{outputs}"] = {"classes": found, "chunks": classifier(net, chunk=3)(x),
                              "accuracy": [accuracy(net, x, found), accuracy(net, x / 255, right)]}
    return told


@case
def careful_answers():
    x, told = pixels(drawn(60, "careful")), {}
    for outputs in (2, 5):
        net = Coarse(network(outputs, "careful")).eval()
        for able in (True, False):
            with bf16(able), torch.no_grad():
                doubts = [measured(net, x[:n], **options).doubt
                          for n, options in ((20, {}), (1, {}), (20, {"factor": 0.5}))]
                model = measured(net, x[:20])
                told[f"{outputs} {able}"] = {"doubts": doubts, "scores": model(x), "judged": model.judged,
                                             "again": model.again}
                told[f"{outputs} {able}"] |= {"more": model(x[:7]), "then": [model.judged, model.again],
                                              "wide": careful(net, 1e9)(x), "none": careful(net, 0.0)(x[:0])}
    return told


@case
def careful_at_the_edge():
    """A lead as large as the doubt is decided again; one that is larger is not."""
    x = torch.tensor([[1.0, 0.5, 0.0], [1.0, 0.25, 0.5], [1.0, 0.375, 0.0], [0.0, 0.0, 0.0]]).view(4, 3, 1, 1)
    net = Coarse(nn.Flatten(), lambda scores, x: scores - 8)
    told = {}
    for doubt in (0.0, 0.5, 0.625):
        model = careful(net, doubt)
        with bf16(True):
            told[f"{doubt}"] = {"scores": model(x), "again": model.again, "judged": model.judged}
    return told


@case
def careful_in_true_bf16():
    """Few small numbers, whose sums are exact: rounded once."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(3, 3, bias=False))
    with torch.no_grad():
        net[1].weight.copy_(torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]))
    x = torch.tensor([[256.0, 1.0, 0.5], [3.0, 2.0, 1.0], [0.0, 1.0, 256.0]]).view(3, 3, 1, 1)
    with bf16(True), torch.no_grad():
        model = measured(net, x)
        return {"doubt": model.doubt, "wide": careful(net, 1e9)(x), "narrow": careful(net, 0.25)(x),
                "type": str(careful(net, 0.25)(x).dtype)}
