"""glibc's allocator, told to keep what training frees.

By default it gives each large buffer back to the kernel and has it faulted in again at the next step, page by page.
"""

from __future__ import annotations

import ctypes
import sys

# Names and values of <malloc.h>
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4


def keep_freed_memory() -> None:
    """Serve all sizes from a heap that does not shrink; does nothing where the C library has no such settings."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
        mallopt(M_TOP_PAD, 64 * 2**20)
