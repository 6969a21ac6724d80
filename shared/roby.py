"""Width and distance of a model's classes in feature space: ROBY, a metric without attacks (`chen`, III.B).

    result = measure(model, x, y)
    result.fsa, result.fsd, result.roby

The features of a sample are the model's logits, or the output of a callable `features`. A class k has a
centre c_k and a width, the mean distance of its samples to c_k; two classes have the distance of their
centres and the overlap, width_i + width_j - distance_ij. In the paper's terms and Algorithm 1 (Chen et al.):

    FSA   1 - mean over classes of norm(width)      larger: tighter classes
    FSD   mean over pairs of norm(distance)         larger: more distant classes
    ROBY  mean over pairs of norm(overlap)          smaller: claimed to be more robust

norm scales a list from its smallest to its largest value, within one model, so that all three are invariant
to a scaling of the features. Algorithm 1 applies it once to a single number, where it is undefined; the list
is meant. Equations (5) to (10) differ: FSD and ROBY are plain means, and a class's width enters ROBY with the
opposite sign. `of_equations` computes them as printed.

Each image is evaluated once, and the time is linear in the images; sums are float64.
"""
import contextlib
import sys
import threading
from dataclasses import dataclass

import torch
from torch import nn

from . import inference, runtime
from .inference import Generator, Model, check_images, chunk_for, device_of, frozen, logits, pixels
from .runtime import UserError

NORMS = (2, float("inf"))
AT_ONCE = 2**22     # largest number of coordinates of centres in memory while resampling


@dataclass(frozen=True, eq=False)
class Layout:
    """Statistics of K classes in feature space: widths, distances of centres; on the CPU."""
    count: torch.Tensor        # int64 [K]: samples of each class
    width: torch.Tensor        # float64 [K]: mean distance of a class's samples to their centre
    distance: torch.Tensor     # float64 [K (K - 1) / 2]: of two centres; pairs (0, 1), (0, 2), ... (1, 2) ...
    p: float                   # norm of the distances, 2 or inf

    @property
    def overlap(self) -> torch.Tensor:
        """width_i + width_j - distance_ij of each pair, float64 [K (K - 1) / 2]: the paper's ROBY_ij."""
        i, j = torch.triu_indices(len(self.width), len(self.width), 1)
        return self.width[i] + self.width[j] - self.distance


@dataclass(frozen=True)
class Roby:
    """The paper's three numbers, and two without scaling within the model."""
    fsa: float
    fsd: float
    roby: float
    width: float       # mean width of a class over the mean distance of two centres
    overlap: float     # mean overlap of two classes over the same


# ---- any model -------------------------------------------------------------------------------------------
def measure(model: Model, x: torch.Tensor, y: torch.Tensor, *, p: float = 2, features: Model | None = None,
            chunk: int | None = None) -> Roby:
    """`Roby` of a model on images x [N, C, H, W], uint8 or float32 in [0, 1], of classes y int64 [N].

    model     any callable as described in `shared.inference`
    y         true classes, as in the authors' later code; or `labels(model, x)`, as in the paper's text
    p         norm of features: 2 or infinity
    features  a callable from images to features [n, ...], such as `Penultimate(model)`; None: the logits
    chunk     images at a time, default by memory
    Raises UserError for other arguments, and as `layout` and `roby` do.
    """
    x = x if x.dtype == torch.uint8 else check_images(x, y)
    if features is not None:
        return roby(layout(embed(features, x, like=model, chunk=chunk), y, p=p))
    scores = logits(model, x, chunk=chunk)
    inference.refuse_probabilities(scores, warn=True)
    return roby(layout(scores, y, p=p))


def embed(features: Model, x: torch.Tensor, *, like: Model | None = None,
          chunk: int | None = None) -> torch.Tensor:
    """Features of images x [N, C, H, W], one pass of the callable `features`: float32 [N, M], on the CPU.

    It receives float32 images in [0, 1], in evaluation mode, on the device of the model `like` (None: its
    own).
    """
    inference.check_tensors(images=x)
    model = features if like is None else like
    device, order = device_of(model, x), inference.memory_format(model)

    def forward(part):
        vectors = inference.evaluate(features, pixels(part.to(device), order))
        if not isinstance(vectors, torch.Tensor):
            raise UserError(f"features returns a {type(vectors).__name__}; a tensor with a row an image is "
                            "needed")
        return vectors.flatten(1).float().cpu()

    with torch.no_grad(), frozen(features), frozen(like):
        return runtime.chunked(forward, x, chunk=chunk or chunk_for(model, x))


class Penultimate(nn.Module):
    """The input of the last executed layer with weights: `Penultimate(model)(images)`, [n, M], flattened.

    The model is a module, on which no hook remains; of a compiled one the original is executed. Afterwards
    the attribute `logits` holds its output for these images.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model, self.logits = model, None
        if not self._layers():
            raise UserError("the model has no linear or convolutional layer; pass a features callable")

    def _layers(self):
        return [m for m in self.model.modules() if isinstance(m, (nn.Linear, nn.Conv2d))]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Features float32 [n, M] of images [n, C, H, W]."""
        thread, model = threading.get_ident(), getattr(self.model, "_orig_mod", self.model)
        inputs: list[torch.Tensor] = []     # of the last executed layer

        def store(module, arguments):
            if threading.get_ident() == thread:     # another thread may evaluate the model, too
                inputs[:] = arguments[:1]

        with contextlib.ExitStack() as hooks:
            # Compiled modules, which may also be parts of a model, ignore hooks.
            if "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance"):    # torch 2.6
                hooks.enter_context(torch.compiler.set_stance("force_eager"))
            for layer in self._layers():
                hooks.enter_context(layer.register_forward_pre_hook(store))
            self.logits = model(images)
        return inputs[0].flatten(1)


# ---- features --------------------------------------------------------------------------------------------
def layout(features: torch.Tensor, labels: torch.Tensor, *, p: float = 2) -> Layout:
    """The `Layout` of features [N, M] with labels int64 [N] from 0 to K - 1.

    Raises UserError for features that are not finite, a class without samples, one class only, another p.
    """
    features, groups = _checked(features, labels, p)
    centres = torch.stack([features[rows].mean(0) for rows in groups])
    width = torch.stack([torch.linalg.vector_norm(features[rows] - c, p, dim=1).mean()
                         for rows, c in zip(groups, centres)])
    return Layout(torch.tensor([len(rows) for rows in groups]), width, torch.pdist(centres, p), p)


def roby(layout: Layout) -> Roby:
    """The `Roby` of a `Layout` by Algorithm 1, norm applied to lists.

    Raises UserError for two classes with the same centre, and where all values of a list are equal, so that
    norm is undefined: for two classes, or classes of equal widths or distances.
    """
    if (layout.distance == 0).any():
        pairs = torch.triu_indices(len(layout.width), len(layout.width), 1)
        i, j = pairs[:, layout.distance == 0][:, 0].tolist()
        raise UserError(f"classes {i} and {j} have the same centre; features that separate the classes "
                        "are needed")
    for name, values in (("widths", layout.width), ("distances", layout.distance),
                         ("overlaps", layout.overlap)):
        if values.max() == values.min():
            raise UserError(f"the {name} of the classes are all {float(values.max()):g}: scaling from the "
                            "smallest to the largest has no meaning; three classes that differ are needed")
    return Roby(*_scaled(layout.width, layout.distance, layout.overlap))


def of_equations(layout: Layout) -> dict[str, float]:
    """FSA, FSD and ROBY of a `Layout` as equations (5) to (10) print them: {name: number}.

    norm is applied to the sums of distances to the centres, before their division by the sample numbers.
    """
    total = layout.width * layout.count
    if total.max() == total.min():
        raise UserError(f"the summed widths of the classes are all {float(total.max()):g}; norm needs two")
    tight = 1 - _norm(total) / layout.count
    i, j = torch.triu_indices(len(tight), len(tight), 1)
    return {"fsa": float(tight.mean()), "fsd": float(layout.distance.mean()),
            "roby": float((tight[i] + tight[j] - layout.distance).mean())}


def bootstrap(features: torch.Tensor, labels: torch.Tensor, *, p: float = 2, draws: int = 1000,
              generator: Generator) -> torch.Tensor:
    """The five numbers of `Roby`, in its order, of `draws` resamples of the images: float64 [draws, 5].

    Images are drawn with replacement in each class, so that no class is empty. The draws depend only on the
    generator and the number of images of each class: several models have the same resamples. A number is nan
    if its norm is undefined, such as that of the distance of two classes.
    """
    if draws < 1:
        raise UserError(f"draws={draws}: at least 1 is needed")
    generator = runtime.seeded(generator, "bootstrap")
    features, groups = _checked(features, labels, p)
    times = []          # how often each image is drawn; whole numbers, so exact
    for rows in groups:
        drawn = torch.randint(len(rows), (draws, len(rows)), generator=generator)
        counts = torch.zeros(draws, len(rows), dtype=torch.float32)
        times.append(counts.scatter_add_(1, drawn, torch.ones_like(counts)))
    i, j = torch.triu_indices(len(groups), len(groups), 1)
    at_once = max(1, AT_ONCE // (len(groups) * features.shape[1]))     # draws whose centres are in memory
    values = []
    for some in torch.arange(draws).split(at_once):
        widths, centres = [], []
        for rows, counts in zip(groups, times):
            share = counts[some].double() / len(rows)
            centres.append(share @ features[rows])
            away = torch.cdist(centres[-1], features[rows], p, "donot_use_mm_for_euclid_dist")
            widths.append((share * away).sum(1))
        for width, centre in zip(torch.stack(widths, 1), torch.stack(centres, 1)):
            distance = torch.pdist(centre, p)
            values.append(_scaled(width, distance, width[i] + width[j] - distance))
    return torch.tensor(values, dtype=torch.float64)


def _scaled(width, distance, overlap):
    """The fields of `Roby`, in their order, of widths [K], distances and overlaps of pairs."""
    mean = distance.mean()
    return tuple(map(float, (1 - _norm(width).mean(), _norm(distance).mean(), _norm(overlap).mean(),
                             width.mean() / mean, overlap.mean() / mean)))


def _norm(values):
    """Values scaled linearly to [0, 1]."""
    return (values - values.min()) / (values.max() - values.min())


def _checked(features, labels, p):
    """Features float64 [N, M] on the CPU, and the rows of each class."""
    if p not in NORMS:
        raise UserError(f"p={p!r}; allowed: 2, infinity (float('inf'))")
    if not all(isinstance(given, torch.Tensor) for given in (features, labels)):
        raise UserError(f"features are a {type(features).__name__}, labels a {type(labels).__name__}; torch "
                        "tensors are needed (torch.from_numpy)")
    if features.ndim != 2 or labels.dtype != torch.int64 or labels.shape != features.shape[:1]:
        raise UserError(f"features are {list(features.shape)}, labels {labels.dtype} {list(labels.shape)}; "
                        "[N, M] and int64 [N] are needed")
    features, labels = features.detach().cpu().double(), labels.cpu()
    if not features.isfinite().all():
        raise UserError(f"{int((~features.isfinite()).any(1).sum())} of {len(features)} features are nan or "
                        "infinite; check the model's weights and its normalisation")
    classes = int(labels.max()) + 1 if len(labels) else 0
    if len(labels) < max(classes, 1):
        raise UserError(f"{len(labels)} images of {classes} classes; at least one of each class is needed")
    if int(labels.min()) < 0:
        raise UserError(f"labels begin at {int(labels.min())}; 0 is the first class")
    groups = [(labels == k).nonzero()[:, 0] for k in range(classes)]
    if empty := [k for k, rows in enumerate(groups) if not len(rows)]:
        raise UserError(f"class {empty[0]} has no samples; each of 0..{classes - 1} needs one (take more "
                        "images, or number the classes that are there)")
    if classes < 2:
        raise UserError("all samples are of one class; distances between classes need two")
    return features, groups
