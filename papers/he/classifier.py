"""Benign or adversarial? A small network that classifies the boundary distances of an image (`he`, 5).

    pairs = FeaturePairs(features(around_benign), features(around_adversarial), correct, successful)
    net = train(pairs[:8000], steps=2000, generator=generator)
    errors(net, pairs[8000:])
    best_threshold(adversarial_distances, benign_distances)      # the rule to beat: one number of an image

What the paper leaves open (filters, sizes, the loss) is the authors' published code.
"""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from shared.boundary import purity
from shared.runtime import UserError, seeded

PURITIES = 3      # the first three are inputs with the distances


def features(around, *, centre=0.0, unit=1.0):
    """Input [N, K + 3] of the classifier: distances in ascending order, then purities of the top 1, 2, 3.

    Distances enter as (distance - centre)/unit, never-found ones included: as they are on MNIST; for CIFAR-10
    the authors' code has centre 16/255 and unit 0.5 on [0, 1] pixels.
    """
    return torch.cat([(around.distance.sort(1).values - centre) / unit, purity(around, PURITIES)], 1).cpu()


@dataclass(frozen=True, eq=False)
class FeaturePairs:
    """N images, each with one adversarial example. A slice of it holds the same slice of each field."""
    benign: torch.Tensor        # float32 [N, K + 3]: features around the image
    adversarial: torch.Tensor   # float32 [N, K + 3]: features around its example
    correct: torch.Tensor       # bool [N]: the image is classified correctly
    successful: torch.Tensor    # bool [N]: its example is misclassified

    def __post_init__(self):
        n, width = self.benign.shape
        shapes = [list(field.shape) for field in vars(self).values()]
        if shapes != [[n, width], [n, width], [n], [n]]:
            raise UserError(f"pairs of shapes {shapes}: features of one shape and two masks [{n}] are needed")

    def __getitem__(self, rows):
        return FeaturePairs(self.benign[rows], self.adversarial[rows], self.correct[rows],
                            self.successful[rows])

    def kept(self):
        """Which benign and which adversarial images count, bool [N] each."""
        return self.correct, self.correct & self.successful


class BoundaryNet(nn.Module):
    """Figure 4: two 1-D convolutions over the sorted distances; the purities join before two linear layers.

    distances  K, how many directions. Dropout of 0.5 follows each ReLU; Glorot-uniform weights, zero biases.
    """

    def __init__(self, distances):
        super().__init__()
        if distances < 36:
            raise UserError(f"{distances} directions are too few for this classifier; 36 or more are needed")
        length = ((distances - 8) // 4 + 1 - 8) // 4 + 1      # unpadded, width 8, stride 4, twice
        self.convolutions = nn.Sequential(nn.Conv1d(1, 8, 8, stride=4), nn.ReLU(), nn.Dropout(0.5),
                                          nn.Conv1d(8, 16, 8, stride=4), nn.ReLU(), nn.Dropout(0.5),
                                          nn.Flatten())
        self.linears = nn.Sequential(nn.Linear(16 * length + PURITIES, 32), nn.ReLU(), nn.Dropout(0.5),
                                     nn.Linear(32, 2))
        for parameter in self.parameters():
            nn.init.zeros_(parameter) if parameter.ndim == 1 else nn.init.xavier_uniform_(parameter)

    def forward(self, x):
        """Logits [n, 2], benign and adversarial, of features [n, K + 3]."""
        distances, purities = x[:, None, :-PURITIES], x[:, -PURITIES:]
        return self.linears(torch.cat([self.convolutions(distances), purities], 1))


def train(pairs, *, steps, batch=128, rate=1e-3, balanced=False, generator):
    """A `BoundaryNet` in eval mode, trained on the pairs by Adam on the CPU.

    steps     batches; they run across the ends of epochs, and each epoch is shuffled anew
    batch     pairs a step; the loss is the sum of cross-entropies over the images that count
    balanced  weigh either kind by one over the share of it that counts, as the authors do on ImageNet
    generator CPU generator of weights, order and dropout; the global generator is left as it was
    Raises UserError for no steps, or where no pair counts.
    """
    if steps < 1 or batch < 1 or not rate > 0:
        raise UserError(f"steps={steps}, batch={batch}, rate={rate}: at least 1, 1 and above 0 are needed")
    if not pairs.kept()[1].any():
        raise UserError("no pair has a correctly classified image and a successful example: nothing to learn")
    generator = seeded(generator, "train")
    order = _batches(len(pairs.benign), batch, steps, generator)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        net = BoundaryNet(pairs.benign.shape[1] - PURITIES).float().train()
        adam = torch.optim.Adam(net.parameters(), rate)
        for rows in order:
            some = pairs[rows]
            weights = torch.stack(some.kept()).float()
            if balanced:
                weights = weights / weights.mean(1, keepdim=True).clamp(min=1 / len(rows))
            labels = torch.arange(2).repeat_interleave(len(rows))
            scores = net(torch.cat([some.benign, some.adversarial]))
            losses = F.cross_entropy(scores, labels, reduction="none")
            adam.zero_grad()
            (losses * weights.flatten()).sum().backward()
            adam.step()
    return net.eval()


@dataclass(frozen=True)
class Errors:
    """Errors of a classifier in counts, so that denominators are stated; the rates are shares in [0, 1]."""
    flagged: int        # correctly classified benign images taken for adversarial ...
    benign: int         # ... out of so many
    missed: int         # successful adversarial images taken for benign ...
    adversarial: int    # ... out of so many

    @property
    def false_positive(self):
        """Share in [0, 1] of benign images that are flagged; NaN of none."""
        return self.flagged / self.benign if self.benign else float("nan")

    @property
    def false_negative(self):
        """Share in [0, 1] of adversarial images that are missed; NaN of none."""
        return self.missed / self.adversarial if self.adversarial else float("nan")

    @property
    def accuracy(self):
        """In the worst mixture of benign and adversarial images (`he`, Table 3)."""
        return 1 - max(self.false_positive, self.false_negative)


@dataclass(frozen=True)
class Threshold:
    """A rule on one number of an image: adversarial on one side of `value`, benign on the other and at it."""
    value: float
    below: bool         # adversarial below the value, else above it

    def flags(self, numbers):
        """Which of n numbers it takes for adversarial, bool [n]."""
        return numbers < self.value if self.below else numbers > self.value

    def errors(self, adversarial, benign):
        """`Errors` on the numbers of adversarial and of benign images, float tensors [n] and [m]."""
        return Errors(flagged=int(self.flags(benign).sum()), benign=len(benign),
                      missed=int((~self.flags(adversarial)).sum()), adversarial=len(adversarial))


def best_threshold(adversarial, benign):
    """The `Threshold` that is right most often in the worst mixture of these numbers, tensors [n] and [m].

    Of equals one that flags below its value, and the one that flags fewest. Raises UserError for no numbers.
    """
    if not len(adversarial) or not len(benign):
        raise UserError("no number of one kind: a threshold needs some adversarial and some benign ones")
    numbers = torch.cat([adversarial, benign]).unique()       # ascending
    rules = [Threshold(value, True) for value in numbers.tolist()]
    rules += [Threshold(value, False) for value in reversed(numbers.tolist())]
    return max(rules, key=lambda rule: rule.errors(adversarial, benign).accuracy)


@torch.no_grad()
def errors(net, pairs):
    """Errors of the net on pairs it was not trained on, or on another attack's pairs of the same images."""
    flagged = [net(x).argmax(1).bool() for x in (pairs.benign, pairs.adversarial)]
    benign, adversarial = pairs.kept()
    return Errors(flagged=int((flagged[0] & benign).sum()), benign=int(benign.sum()),
                  missed=int((~flagged[1] & adversarial).sum()), adversarial=int(adversarial.sum()))


def _batches(number, batch, steps, generator):
    """`steps` batches of rows, from shuffled epochs laid end to end."""
    epochs = -(-steps * batch // number)
    order = torch.cat([torch.randperm(number, generator=generator) for _ in range(epochs)])
    return order[:steps * batch].split(batch)
