"""The pointwise attack (Schott et al. 2019), as Foolbox 2 runs it: salt and pepper, taken back bit by bit.

It asks for classes alone, for no gradient (`shu`, Section 1.1).
"""
from dataclasses import dataclass

import torch

from shared.attacks.judge import Attack, fooled
from shared.attacks.threat import L2, per_image
from shared.attacks.trials import State
from shared.runtime import UserError

SMALLER = 1.2    # share of noise up to which a repetition looks, of that of the nearest start before


@dataclass(frozen=True)
class Pointwise(Attack):
    """Salt and pepper that succeeds, of which pixel by pixel is taken back whatever can be.

    First pixels are given back their clean value, in a random order that begins anew with each success. When
    none can be, each in turn goes back as far as `halvings` halvings find, until a round moves none.

    levels       shares of noisy pixels, equally spaced up to 1, that are tried for a start
    repetitions  starts, each with less noise than 1.2 times that of the one before; the nearest is taken
    halvings     of the way from a pixel's value to its clean one
    rounds       over all pixels, at most
    targeted     whether a given class is to be reached, instead of the true one to be left
    probability  what an example is, as in `judge.fooled`
    """
    levels: int = 100
    repetitions: int = 10
    halvings: int = 10
    rounds: int = 100
    targeted: bool = False
    probability: float = 0.5

    def __post_init__(self):
        if min(self.levels, self.repetitions, self.halvings, self.rounds) < 1:
            given = f"levels={self.levels}, repetitions={self.repetitions}, halvings={self.halvings}"
            raise UserError(f"{given}, rounds={self.rounds}: 1 is the least of each")
        if not 0 <= self.probability < 1:
            raise UserError(f"probability={self.probability}: from 0 and below 1 is needed")

    @property
    def threat(self):
        """The L2 ball of no limited size: the search takes back what it can."""
        return L2(targeted=self.targeted)

    def draw(self, x, generator):
        """Two uniform numbers for each value of the images, float32 [N, 2, C, H, W] on the CPU."""
        if generator is None:
            raise UserError("Pointwise draws its starts and its orders: pass generator=torch.Generator()")
        return torch.rand(len(x), 2, *x.shape[1:], generator=generator, dtype=torch.float32)

    def propose(self, model, x, goal, draw):
        """The images [N, C, H, W], NaN where salt and pepper never succeeds, and the passes [N]."""
        draw = draw.double()
        z, passes = self._start(model, x, goal, draw)
        flat = z.flatten(1)
        at = flat.isfinite().all(1).nonzero()[:, 0]
        none = torch.zeros_like(at)
        s = State(at=at, goal=goal[at], x=x.flatten(1)[at], z=flat[at], draw=draw[at].flatten(2),
                  passes=passes[at], turn=none + self.repetitions * self.levels, count=none.clone(),
                  resetting=none == 0, moved=none > 0, rounds=none, place=none, halving=none,
                  order=torch.zeros_like(flat[at], dtype=torch.int64), without=flat[at, 0])
        self._order(s, none == 0)
        s.keep(s.count > 0)
        while len(s.at):
            done = self._one_value(model, s, x.shape[1:])
            if done.any():
                flat[s.at[done]], passes[s.at[done]] = s.z[done], s.passes[done]
                s.keep(~done)
        return flat.view(x.shape), passes

    def _fools(self, model, images, goal):
        if not len(images):
            return torch.zeros_like(goal, dtype=torch.bool)
        with torch.no_grad():
            scores = model(images).float()
        return fooled(scores, goal, targeted=self.targeted, probability=self.probability)

    def _start(self, model, x, goal, draw):
        """Salt and pepper [N, C, H, W] on the images, NaN where none succeeds, and the passes [N]."""
        best, passes = torch.full_like(x, torch.nan), torch.zeros_like(goal)
        nearest = x.new_full(goal.shape, torch.inf)
        most = torch.ones_like(nearest)
        for repetition in range(self.repetitions):
            looking = torch.arange(len(x), device=x.device)
            for level in range(self.levels):
                share = most[looking] * (level + 1) / self.levels
                noise, half = uniform(draw[looking, :, :1], repetition * self.levels + level), share / 2
                z = torch.where(noise >= 1 - per_image(half, x), 1, x[looking])
                z = torch.where(noise < per_image(half, x), 0, z)
                distance = (z - x[looking]).flatten(1).square().sum(1)
                nearer = (distance < nearest[looking]).nonzero()[:, 0]
                over = nearer[self._fools(model, z[nearer], goal[looking[nearer]])]
                passes[looking[nearer]] += 1
                rows = looking[over]
                best[rows], nearest[rows], most[rows] = z[over], distance[over], SMALLER * share[over]
                looking = looking[~torch.isin(looking, rows)]
        return best, passes

    def _order(self, s, rows):
        """Let the images `rows` go through their changed values in a new order."""
        changed = s.z[rows] != s.x[rows]
        keys = torch.where(changed, uniform(s.draw[rows], s.turn[rows, None]), 2.0)
        s.order[rows], s.count[rows] = keys.argsort(1), changed.sum(1)
        s.turn, s.place = s.turn + rows, s.place * ~rows

    def _one_value(self, model, s, shape):
        """Try one value of each image where it is the clean one's, or half the way there; which are done."""
        image = torch.arange(len(s.at), device=s.at.device)
        value = s.order[image, s.place]
        had = s.z[image, value]
        tried = torch.where(s.halving == 0, s.x[image, value], (had + s.without) / 2)
        trial = s.z.clone()
        trial[image, value] = tried
        over = self._fools(model, trial.view(-1, *shape), s.goal)
        s.passes += 1
        s.z[image, value] = torch.where(over, tried, had)
        s.without = torch.where(over, s.without, tried)
        s.moved = s.moved | over & (tried != had)

        again = s.resetting & over
        next_value = s.resetting | (over & (s.halving == 0)) | (s.halving == self.halvings)
        s.halving = torch.where(next_value, 0, s.halving + 1)
        s.place = s.place + next_value
        ended = ~again & (s.place == s.count)
        s.rounds = s.rounds + ended
        done = ended & ~s.resetting & (~s.moved | (s.rounds > self.rounds))
        s.resetting, s.moved = s.resetting & ~ended, s.moved & ~ended
        self._order(s, again | ended)
        return done | (s.count == 0)


def uniform(draw, number):
    """Uniform numbers of [0, 1), others for each `number` from 0 on, float64 [N, ...] of draws [N, 2, ...].

    Those of two numbers are independent, though not those of three; no further draws are needed.
    """
    return (draw[:, 0] + number * draw[:, 1]) % 1
