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
    """oneDNN, which multiplies in half precision on a CPU, and torch's layer above it keep the last KERNELS that were
    compiled for a shape, and not 1,024.

    A batch needs about forty, and the next batch is of another shape: the rest only fills memory, by a gigabyte in some
    hundred updates. The user's own settings stay. They are read at the first product.
    """
    for name in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(name, str(KERNELS))
