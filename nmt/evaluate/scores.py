"""BLEU, chrF and TER of finished, detokenised translations, as sacrebleu computes them, with the signatures.

Nothing of a metric is written here. Post (2018) is the reason: a score without its signature compares with nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sacrebleu import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest, Result

from nmt.errors import UserError

RESAMPLES = 1000  # of the bootstrap that gives an interval


@dataclass(frozen=True)
class Score:
    """One metric of one corpus, 0 to 100 (TER may pass 100; there less is better).

    low and high bound the 95 % interval of the bootstrap (Koehn 2004); None where none was asked for.
    """

    name: str
    score: float
    signature: str
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        interval = "" if self.low is None else f"  [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.name:<5} {self.score:6.2f}{interval}  {self.signature}"


@dataclass(frozen=True)
class Scores:
    """All metrics of one corpus of `lines` sentences.

    aer: alignment error rate of the attention that reads the references, 0 to 1, where gold links are known.
    """

    bleu: Score
    chrf: Score
    ter: Score
    lines: int
    aer: float | None = None

    def __iter__(self) -> Iterator[Score]:
        return iter((self.bleu, self.chrf, self.ter))

    def __str__(self) -> str:
        aligned = [] if self.aer is None else [f"AER   {self.aer:.4f}"]
        return "\n".join([*map(str, self), *aligned, f"{self.lines} lines"])

    def as_dict(self) -> dict[str, Any]:
        """{"bleu": {"score", "signature", "low", "high"}, "chrf": ..., "ter": ..., "lines"}, and "aer" where there is
        one, ready for JSON."""
        named = {"bleu": self.bleu, "chrf": self.chrf, "ter": self.ter}
        metrics = {key: {k: v for k, v in asdict(score).items() if k != "name"} for key, score in named.items()}
        return metrics | ({} if self.aer is None else {"aer": self.aer}) | {"lines": self.lines}


def evaluate(hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, confidence: bool = False) -> Scores:
    """Score one system. `references` holds one list of lines for each reference translation of the whole corpus.

    UserError: no lines, no references, or another number of lines than the hypotheses have.
    """
    return Scores(
        bleu(hypotheses, references, confidence=confidence),
        chrf(hypotheses, references, confidence=confidence),
        ter(hypotheses, references, confidence=confidence),
        lines=len(hypotheses),
    )


def bleu(hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, confidence: bool = False) -> Score:
    """BLEU (Papineni et al. 2002), cased, tokenised by sacrebleu's 13a. Arguments and errors as for `evaluate`."""
    return _score(BLEU(), hypotheses, references, confidence)


def chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, confidence: bool = False) -> Score:
    """chrF2 (Popović 2015): character n-grams, no words. Arguments and errors as for `evaluate`."""
    return _score(CHRF(), hypotheses, references, confidence)


def ter(hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, confidence: bool = False) -> Score:
    """TER (Snover et al. 2006): edits a reference word. Arguments and errors as for `evaluate`; by far the slowest."""
    return _score(TER(), hypotheses, references, confidence)


def check_lines(hypotheses: Sequence[str], references: Sequence[Sequence[str]], name: str = "the hypothesis") -> None:
    """UserError unless there is something to score and every reference has as many lines as the hypothesis.

    sacrebleu's functions would score the common part of unequal files without a word.
    """
    if not hypotheses or not references:
        raise UserError(f"nothing to score: {name} has {len(hypotheses)} lines, and {len(references)} references")
    for number, reference in enumerate(references, start=1):
        if len(reference) != len(hypotheses):
            raise UserError(f"{name} has {len(hypotheses)} lines but reference {number} has {len(reference)}")


def _score(
    metric: BLEU | CHRF | TER, hypotheses: Sequence[str], references: Sequence[Sequence[str]], confidence: bool
) -> Score:
    check_lines(hypotheses, references)
    if not confidence:
        result = metric.corpus_score(hypotheses, references)
        return Score(result.name, result.score, str(metric.get_signature()))
    # Not corpus_score's own bootstrap, which fails on a system so bad that some of the samples score 0.
    alone = PairedTest([("", hypotheses)], {"": metric}, references, test_type="bs", n_samples=RESAMPLES)
    signatures, results = alone()
    ((name, signature),) = signatures.items()
    (found,) = results[name]
    assert isinstance(found, Result)
    low, high = interval(found)
    return Score(name, float(found.score), str(signature), low=low, high=high)


def interval(result: Result) -> tuple[float, float]:
    """The 95 % interval of a bootstrap that sacrebleu has made."""
    assert result.mean is not None
    assert result.ci is not None
    return float(result.mean - result.ci), float(result.mean + result.ci)
