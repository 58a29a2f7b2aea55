"""How well a model's attention agrees with gold links: it reads the given translations by forced decoding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nmt.align.aer import aer
from nmt.align.extract import Aligner, align_pairs
from nmt.align.links import argmax_links
from nmt.config import AlignmentConfig
from nmt.data.pharaoh import Links


def alignment_error(
    aligner: Aligner, pairs: Iterable[tuple[str, str]], gold: Sequence[Links], alignment: AlignmentConfig
) -> float | None:
    """The alignment error rate, 0 to 1, of the argmax links of the weights that `alignment` names.

    None where not one link was made: such a model reads nothing, and has no alignment that could be wrong.
    """
    matrices = align_pairs(aligner, pairs, layer=alignment.layer, head=alignment.head, shift=alignment.shift)
    links = [argmax_links(matrix) for matrix in matrices]
    return aer(gold, links).aer if any(links) else None
