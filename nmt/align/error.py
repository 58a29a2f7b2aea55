"""How well what a model reads agrees with gold links: it reads the given translations by forced decoding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nmt.align.aer import aer
from nmt.align.extract import Aligner, chosen_view
from nmt.align.pipeline import align_records
from nmt.config import AlignmentConfig
from nmt.data.pharaoh import Links


def alignment_error(
    aligner: Aligner, pairs: Iterable[tuple[str, str]], gold: Sequence[Links], alignment: AlignmentConfig
) -> float | None:
    """The alignment error rate, 0 to 1, of the argmax links of the weights that `alignment` names.

    None where not one link was made: such a model reads nothing, and has no alignment that could be wrong.
    """
    links = [record.links for record in align_records(aligner, pairs, [chosen_view(aligner, alignment)])]
    return aer(gold, links).aer if any(links) else None
