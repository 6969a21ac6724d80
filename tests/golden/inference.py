"""What networks answer: pixels, modes, logits in chunks, classes, accuracy, 16 bits where that is sure."""
import torch
from torch import nn

from shared import inference, runtime
from tests.golden import Cases, bf16, refused, watched

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
    return watched(net)


class Coarse(nn.Module):
    """A network that is coarse under bfloat16 autocast: `coarsen(logits, images)`, the same on every machine.

    Real bfloat16 differs from machine to machine. Coarse logits have no steps: they move as little as exact
    ones.
    """

    def __init__(self, net, coarsen=None):
        super().__init__()
        self.net, self.coarsen = net, coarsen or (lambda scores, x: scores + (20 * scores).cos() / 16)

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
    x = torch.tensor([[256.0, 0.75, 0.5], [3.0, 2.0, 1.0], [0.0, 0.75, 256.0]]).view(3, 3, 1, 1)
    with bf16(True), torch.no_grad():
        model = measured(net, x)
        return {"doubt": model.doubt, "wide": careful(net, 1e9)(x), "narrow": careful(net, 0.25)(x),
                "type": str(careful(net, 0.25)(x).dtype)}


# ---- logits of all forms, models that are refused ----------------------------------------------------------
def kind(function, *args, **options):
    """The name of the ModelError or UserError that a call ends in, or "fine"."""
    try:
        function(*args, **options)
    except runtime.UserError as error:
        return type(error).__name__
    return "fine"


def saying(*scores):
    """A model that returns these logits for every image, yet has a gradient."""
    return lambda x: torch.tensor(scores).expand(len(x), -1) + 0 * x.flatten(1).sum(1, keepdim=True)


@case
def forms_of_logits():
    one, several = torch.tensor([-1.0, 0.0, 2.5]), torch.tensor([[1.0, 2.0, 0.5]]).repeat(3, 1)
    forms = {"row": one, "column": one[:, None], "several": several, "half": several.half(),
             "double": one.double()}
    told = {name: {"scores": inference.scores_of(each, 3), "zero": inference.with_zero(
        inference.scores_of(each, 3))} for name, each in forms.items()}
    return told | {"one image": inference.scores_of(one[:1], 1), "none": inference.scores_of(one[:0], 0),
                   "bad": [kind(inference.scores_of, *each) for each in
                           ((one, 2), (several, 4), (several[None], 1), (several[:, :0], 3), ((one,), 3),
                            (one[0], 1), (None, 1), (several, 3), (one.tolist(), 3))]}


@case
def models_as_functions():
    """A module of one logit, the function of it that returns [N], and one without any parameter."""
    x = pixels(drawn(9, "functions"))
    net = network(1, "functions", dropout=0.5)
    told = {}
    for name, model in (("module", net), ("row", lambda z: net.eval()(z)[:, 0]),
                        ("free", lambda z: z.mean((1, 2, 3)) - 0.5)):
        found = classifier(model, chunk=4)(x)
        with inference.frozen(model) as still, torch.no_grad():
            asked = inference.Classifier(still)(x)
        told[name] = {"logits": logits(model, x), "classes": found,
                      "accuracy": accuracy(model, x, torch.arange(9) % 2),
                      "margins": inference.margins(model, x, torch.arange(9) % 2),
                      "asked": asked, "checked": inference.checked_logits(model, x, found, None)}
    values, slope = inference.gradient(lambda z: inference.Classifier(net)(z)[:, 1], x)
    return told | {"values": values, "slope": slope, "needs": [slope.requires_grad, values.requires_grad],
                   "device": str(inference.device_of(saying(1.0), x))}


@case
def images_without_pixels():
    return [kind(inference.check_images, torch.zeros(shape))
            for shape in ((2, 1, 1, 1), (2, 0, 3, 3), (2, 1, 0, 3), (2, 1, 3, 0), (0, 1, 3, 3))]


@case
def models_that_are_refused():
    x, calls = pixels(drawn(12, "refused")), []

    def checked(model, *labels, x=x):
        return kind(inference.checked_logits, model, x, *labels)

    def moody(size, *, scores=(2.0, 3.0), from_call=1):
        """The answer changes by a share `size` after so many calls."""
        calls.clear()

        def answer(z):
            calls.append(len(z))
            return saying(*scores)(z) * (1 + size * (len(calls) > from_call))
        return checked(answer)

    seen = []

    def counted(z):
        seen.append(len(z))
        return saying(2.0, 3.0)(z)

    inference.checked_logits(counted, x, chunk=5)
    zeros = torch.zeros(12, dtype=torch.int64)
    return {"shape": [checked(each) for each in (lambda z: z, lambda z: z.sum(), lambda z: None,
                                                 lambda z: saying(1.0, 2.0)(z)[1:], saying(2.0),
                                                 saying(1.0, 2.0), lambda z: saying(2.0)(z)[:, 0])],
            "finite": [checked(saying(*each))
                       for each in ((torch.nan, 1.0), (1.0, torch.inf), (-torch.inf,))],
            "probabilities": [checked(saying(*each)) for each in
                              ((0.5, 0.5), (1.0, 0.0), (0.5, 0.50011), (0.5, 0.50009), (0.5, 0.4998), (1.0,),
                               (1.5, -0.5), (0.25, 0.25, 0.5), (0.0, 0.0))],
            "some rows": checked(lambda z: torch.eye(12) + torch.arange(12)[:, None]),
            "labels": [checked(saying(*scores), zeros + label)
                       for scores in ((1.0,), (2.0, 3.0), (1.0, 2.0, 4.0)) for label in (-1, 0, 1, 2, 3)],
            "targets": [checked(saying(2.0, 3.0), zeros, each) for each in (None, zeros + 1, zeros + 2)],
            "one label": checked(saying(2.0, 3.0), torch.where(torch.arange(12) == 7, 5, 0)),
            "steady": [moody(size, from_call=call)
                       for call in (1, 2, 3) for size in (0.0, 9e-4, 1.9e-3, 2.1e-3, 0.1)],
            "small": [moody(size, scores=scores, from_call=2)
                      for size, scores in ((1.0, (1e-9, 0.0)), (1.5, (1e-3, 5.0)), (1e-3, (0.0, 1.0)))],
            "none": [checked(saying(*each), zeros[:0], x=x[:0]) for each in ((0.5, 0.5), (2.0,))],
            "asked": seen, "order": [issubclass(each, inference.ModelError) for each in
                                     (inference.WrongShape, inference.NotFinite, inference.Probabilities,
                                      inference.LabelOutOfRange, inference.Unsteady, runtime.UserError)]}


@case
def careful_with_one_logit():
    x, told = pixels(drawn(30, "careful one")), {}
    coarse = Coarse(network(1, "careful one")).eval()
    y = classifier(coarse)(x)
    y[::4] = 1 - y[::4]
    for name, net in (("column", coarse), ("row", lambda z: coarse(z)[:, 0])):
        for able in (True, False):
            with bf16(able), torch.no_grad():
                model = measured(net, x[:20])
                told[f"{name} {able}"] = {"doubt": model.doubt, "scores": model(x), "again": model.again,
                                          "labels": measured(net, x[:20], labels=y[:20]).doubt,
                                          "flips": model.flips(x, y), "wide": careful(net, 1e9).flips(x, y),
                                          "exact": careful(net, None).flips(x, y),
                                          "margins": model.margins(x, y, bf16=True)}
    return told
