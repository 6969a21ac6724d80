"""What of runtime computes: generators, chunks, the choice of device and of bfloat16."""
from unittest import mock

import torch

from shared import runtime
from tests.golden import Cases, bf16, refused

case = Cases()

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def generator(seed, *labels):
    return runtime.generator(seed, *labels)


def chunk_size(size, device=CPU, **options):
    return runtime.chunk_size(size, device, **options)


def chunked(function, *tensors, chunk):
    return runtime.chunked(function, *tensors, chunk=chunk)


def with_cuda(able):
    """Context in which there is a CUDA device, or none."""
    return mock.patch.object(torch.cuda, "is_available", lambda: able)


@case
def generators():
    made = {"plain": (0,), "seed": (1,), "negative": (-7,), "large": (2**70,), "label": (0, "a"),
            "labels": (0, "a", "b"), "order": (0, "b", "a"), "joined": (0, "ab"), "number": (0, 1),
            "word": (0, "1"), "tuple": (0, (1, 2)), "none": (0, None), "float": (3.0, 0.5), "bool": (True,)}
    told = {name: torch.rand(5, generator=generator(*each)) for name, each in made.items()}
    draw = generator(5, "kinds")
    return told | {"seeds": [generator(seed).initial_seed() for seed in range(20)],
                   "normal": torch.randn(3, generator=draw),
                   "integers": torch.randint(99, (4,), generator=draw),
                   "order of rows": torch.randperm(9, generator=draw), "device": str(draw.device)}


@case
def sizes_of_chunks():
    """On the CPU the last bits of a product depend on them; on CUDA they depend on what memory is free."""
    sizes = (0, 1, 100, 511, 512, 513, 2**20, 3 * 2**20, 2**25 - 1, 2**25, 2**25 + 1, 2**30)
    told = {"cpu": [chunk_size(size) for size in sizes],
            "limit": [chunk_size(size, limit=7) for size in sizes], "part": chunk_size(1000.5),
            "far": [chunk_size(size, limit=2**40) for size in (0, 1, 2)]}
    free, fits = 2**34, []
    with mock.patch.object(torch.cuda, "mem_get_info", lambda device: (free, 2**40)):
        for size in sizes:
            count = chunk_size(size, CUDA)
            fits.append(1 <= count <= 65536 and count * size <= free)
        wide = chunk_size(2**20, CUDA) > chunk_size(2**20)
    return told | {"fits": fits, "wide": wide}


class Small:
    """A function whose memory holds `most` items; `error` of a larger chunk. Ends what never ends."""

    def __init__(self, most, error):
        self.most, self.error, self.calls = most, error, 0

    def __call__(self, x):
        self.calls += 1
        assert self.calls < 100
        if len(x) > self.most:
            raise self.error
        return x * 2 + 1


NO_MEMORY = (torch.OutOfMemoryError("CUDA out of memory"),
             RuntimeError("DefaultCPUAllocator: can't allocate memory"))


@case
def chunks():
    x, y = torch.arange(20.0).view(10, 2), torch.arange(10)
    told = {f"{chunk}": chunked(lambda a, b: a * b[:, None], x, y, chunk=chunk)
            for chunk in (1, 3, 9, 10, 99)}
    told["none"] = chunked(lambda a: a + 1, x[:0], chunk=4)
    told["seen"] = []
    for chunk in (4, 5):
        chunked(lambda a: told["seen"].append(len(a)) or a, x, chunk=chunk)
    return told


@case
def chunks_that_do_not_fit():
    x, told = torch.arange(11), {}
    for kind, error in zip(("cuda", "cpu"), NO_MEMORY):
        for most in (1, 2, 3, 11):
            told[f"{kind} {most}"] = chunked(Small(most, error), x, chunk=11)
    for kind, error in zip(("cuda", "cpu", "other"), (*NO_MEMORY, RuntimeError("sizes do not match"))):
        small = Small(0, error)
        try:
            chunked(small, x, chunk=5)
        except RuntimeError as raised:
            told[f"{kind} never"] = [raised is error, small.calls == 1]
    with with_cuda(True), mock.patch.object(torch.cuda, "empty_cache") as empty:
        told["with cuda"] = chunked(Small(3, NO_MEMORY[0]), x, chunk=11)
        told["emptied"] = empty.called
    return told


@case
def devices():
    told = {"names": list(runtime.DEVICES), "unknown": refused(runtime.pick_device, "tpu")}
    for able in (False, True):
        with with_cuda(able):
            told |= {f"auto {able}": str(runtime.pick_device()),
                     f"cpu {able}": str(runtime.pick_device("cpu")),
                     f"cuda {able}": refused(runtime.pick_device, "cuda")}
    before = runtime.device()
    try:
        with with_cuda(True):
            told["used"] = [str(runtime.use_device("cpu")), str(runtime.device()),
                            str(runtime.use_device("cuda")), str(runtime.device()),
                            str(runtime.use_device("auto"))]
        told["refused"] = refused(runtime.use_device, "tpu")
        told["stays"] = str(runtime.device())
    finally:
        runtime.use_device(before.type)
    return told


@case
def who_has_bf16():
    told = {}
    for name in ("none", "avx512_bf16", "amx_bf16", "bf16", "avx512_f"):
        with mock.patch.object(torch.cpu, "get_capabilities", lambda name=name: {name: True, "avx2": True}):
            told[name] = runtime.has_bf16(CPU)
    for able in (False, True):
        with mock.patch.object(torch.cuda, "is_bf16_supported", lambda including_emulation=True, able=able:
                               able or including_emulation):
            told[f"cuda {able}"] = runtime.has_bf16(CUDA)
    return told


@case
def products_in_bf16():
    """Of few small numbers, whose sum is exact: rounded once, when all is done, to what is nearest."""
    x = torch.tensor([[1.0, 2.0, 256.75], [0.5, 3.0, 1 / 3]])
    told = {}
    for able in (False, True):
        with bf16(able):
            for name, wanted in (("default", ()), ("wanted", (True,)), ("not wanted", (False,))):
                with runtime.bf16(CPU, *wanted):
                    product = x @ torch.eye(3)
                told[f"{able} {name}"] = {"type": str(product.dtype), "values": product.float()}
    return told


@case
def exactness_of_the_machine():
    """No TF32: it would move labels."""
    return [torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32]
