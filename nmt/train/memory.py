"""What training tells the libraries below torch about memory."""

from __future__ import annotations

import ctypes
import os
import sys

# Names and values of <malloc.h>
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4

KERNELS = 64


def settle_memory() -> None:
    """To be called before the network's first product, and after what is done with memory for good."""
    keep_freed_memory()
    keep_few_kernels()


def keep_freed_memory() -> None:
    """glibc serves all sizes from a heap that does not shrink; nothing happens where the C library has no such setting.

    By default it gives each large buffer back to the kernel and has it faulted in again at the next step, page by page.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
        mallopt(M_TOP_PAD, 64 * 2**20)


def keep_few_kernels() -> None:
    """oneDNN, which multiplies in half precision on a CPU, keeps the last KERNELS compiled for a shape, and not 1,024.

    A batch needs about forty, and another batch is of another shape: the rest only fills memory, by half a gigabyte in
    some hundred updates of a small model. The user's own setting stays.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(KERNELS))
