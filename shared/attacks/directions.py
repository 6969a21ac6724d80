"""Random orthogonal directions in image space, all of one length."""
import torch

from ..inference import Generator
from ..runtime import UserError, seeded


def directions(d: int, k: int, *, negatives: bool = False, generator: Generator) -> torch.Tensor:
    """k random, mutually orthogonal directions, float32 [k, d], or [2 k, d] with their opposites appended.

    Each has a root mean square of 1 over its d entries (an L2 norm of sqrt(d)), so that multiples of it are
    RMS distances (`he`, Section 4.1). They are the Q factor of a Gaussian d x k matrix, drawn from the CPU
    generator. Raises UserError unless 1 <= k <= d: more than d directions cannot be orthogonal.
    """
    if not 1 <= k <= d:
        raise UserError(f"{k} orthogonal directions in {d} dimensions: from 1 to {d} there are "
                        "(negatives=True adds their opposites)")
    generator = seeded(generator, "directions")
    columns = torch.linalg.qr(torch.randn(d, k, generator=generator, dtype=torch.float32)).Q
    rows = torch.nn.functional.normalize(columns.T, dim=1) * d**0.5
    return torch.cat([rows, -rows]) if negatives else rows.contiguous()
