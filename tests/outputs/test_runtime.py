"""Generators, chunks, devices and bfloat16."""
from unittest import mock

import torch

from shared import runtime
from tests.outputs.examples import bf16

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def cuda(able):
    """Context in which there is a CUDA device, or none."""
    return mock.patch.object(torch.cuda, "is_available", lambda: able)


def test_generator(stored):
    arguments = [(0,), (1,), (-7,), (2**70,), (0, "a"), (0, "a", "b"), (0, "ab"), (0, 1), (0, "1"),
                 (0, (1, 2)), (0, None), (3.0, 0.5), (True,)]
    drawn = runtime.generator(5, "kinds")
    stored([[torch.rand(5, generator=runtime.generator(*some)) for some in arguments],
            torch.randn(3, generator=drawn), torch.randint(99, (4,), generator=drawn),
            torch.randperm(9, generator=drawn)])


def test_chunk_size(stored):
    """On the CPU; on CUDA it depends on free memory, of which a chunk takes at most a quarter."""
    sizes = (0, 1, 100, 511, 512, 513, 2**20, 3 * 2**20, 2**25 - 1, 2**25, 2**25 + 1, 2**30)
    stored([[runtime.chunk_size(size, CPU) for size in sizes],
            [runtime.chunk_size(size, CPU, limit=7) for size in sizes], runtime.chunk_size(1000.5, CPU)])
    with mock.patch.object(torch.cuda, "mem_get_info", lambda device: (2**34, 2**40)):
        assert runtime.chunk_size(2**20, CUDA) == 2**12 and runtime.chunk_size(2**40, CUDA) == 1


def test_chunked(stored):
    x, y = torch.arange(20.0).view(10, 2), torch.arange(10)

    def little_memory(part):
        if len(part) > 3:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return 2 * part + 1

    with cuda(True), mock.patch.object(torch.cuda, "empty_cache"):
        stored([[runtime.chunked(lambda a, b: a * b[:, None], x, y, chunk=chunk) for chunk in (1, 3, 99)],
                runtime.chunked(little_memory, x[:0], chunk=4), runtime.chunked(little_memory, y, chunk=10)])


def test_devices(stored):
    devices = []
    for able in (False, True):
        with cuda(able), mock.patch.object(runtime, "_device", None):
            devices += [runtime.device(), runtime.use_device("cpu"), runtime.device(), runtime.pick_device()]
    stored([*map(str, devices)])


def test_bf16(stored):
    """Whether a device has it; numbers rounded once to the nearest of 16 bits."""
    x, values = torch.tensor([[1.0, 2.0, 256.75], [0.5, 3.0, 1 / 3]]), {}
    for feature in ("avx512_bf16", "amx_bf16", "bf16", "avx512_f"):
        with mock.patch.object(torch.cpu, "get_capabilities", lambda feature=feature: {feature: True}):
            values[feature] = runtime.has_bf16(CPU)
    for able in (False, True):
        with mock.patch.object(torch.cuda, "is_bf16_supported", lambda including_emulation, able=able: able):
            values[f"cuda {able}"] = runtime.has_bf16(CUDA)
        for wanted in (False, True):
            with bf16(able), runtime.bf16(CPU, wanted):
                product = x @ torch.eye(3)
            values[f"{able} {wanted}"] = [str(product.dtype), product.float()]
    stored(values)
