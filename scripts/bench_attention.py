"""How long the fused and the explicit path of scaled dot-product attention take, forward and backward, in pairs.

    python scripts/bench_attention.py [--device cpu] [--precision float32] [--repeats 15]

A line for each size: medians in milliseconds and the ratio. nmt/model/attention/kernel.py chooses by it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from statistics import median

import torch
from torch import Tensor

from nmt.model import masks
from nmt.model.attention import kernel
from nmt.model.precision import HALF

SIZES = ((256, 16, 64), (128, 32, 64), (160, 40, 64), (160, 48, 64), (128, 60, 32), (32, 128, 64), (16, 256, 64))


def explicit(query: Tensor, keys: Tensor, values: Tensor, allowed: Tensor) -> Tensor:
    """What nmt.model.attention.attention does where it does not take the kernel."""
    energies = query * query.shape[-1] ** -0.5 @ keys.transpose(1, 2)
    return masks.clear(masks.hide(energies, allowed).softmax(-1), allowed) @ values


def inputs(groups: int, length: int, size: int, device: str, dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Query, keys and values of sentences x heads, and lengths between half and all of `length`."""
    given = [torch.randn(groups, length, size, device=device, dtype=dtype, requires_grad=True) for _ in range(3)]
    lengths = torch.randint(length // 2, length + 1, (groups,), device=device)
    return (*given, masks.valid_mask(lengths, length).unsqueeze(1))


def timed(read: Callable[[], Tensor], device: str, dtype: torch.dtype) -> float:
    """Milliseconds of one forward and backward pass, as in training of this precision."""
    began = time.perf_counter()
    with torch.autocast(device.partition(":")[0], dtype=torch.bfloat16, enabled=dtype in HALF):
        context = read()
    context.sum().backward()  # type: ignore[no-untyped-call]
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - began)


def main() -> None:
    """Measure every size, the two paths in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    dtype = getattr(torch, arguments.precision)
    threads = torch.get_num_threads()
    print(f"torch {torch.__version__}, {arguments.device}, {threads} threads, {arguments.precision}")
    for groups, length, size in SIZES:
        given = inputs(groups, length, size, arguments.device, dtype)
        paths = (partial(kernel.fused, *given, 0.0), partial(explicit, *given))
        pairs = [[timed(path, arguments.device, dtype) for path in paths] for _ in range(arguments.repeats)]
        fused, plain = (median(times) for times in zip(*pairs, strict=True))
        print(f"[{groups}, {length}, {size}]  fused {fused:.2f}  explicit {plain:.2f}  ratio {fused / plain:.2f}")


if __name__ == "__main__":
    main()
