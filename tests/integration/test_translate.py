"""`nmt translate` as a filter: line for line, whatever the lines hold, however they are batched."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import groupby, pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from tests.integration.toy import WORDS, Done, nmt, read, refused, translated, write

BATCHES = ("1", "40", "200", "8192")  # source tokens x beam: from every line alone to all lines at once
TEXT = "ka lo\n\n   \nmi\n"


@pytest.fixture(params=["reverser", "copier", "piecewise"])
def model(request: pytest.FixtureRequest) -> Path:
    """Each of the models that translate rightly."""
    run: Path = request.getfixturevalue(request.param)
    return run


def translate(run: Path, text: str | bytes, *flags: str | Path) -> Done:
    done = nmt("translate", run, *flags, stdin=text.encode() if isinstance(text, str) else text)
    assert done.code == 0, done.err
    return done


def entries(run: Path, text: str, *flags: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in translate(run, text, "--format", "jsonl", *flags).lines]


@pytest.mark.parametrize("batch", BATCHES)
def test_a_blank_line_gives_a_blank_line(model: Path, batch: str) -> None:
    """A01."""
    lines = translate(model, TEXT, f"search.batch_tokens={batch}").lines
    dense = translate(model, "ka lo\nmi\n").lines
    assert lines == [dense[0], "", "", dense[1]]


def test_a_blank_line_is_not_translated(early: Path) -> None:
    """A01: by a model that would find words for it."""
    found = entries(early, "ka lo\n\n   \nmi\n")
    assert [entry["log_prob"] is None for entry in found] == [False, True, True, False]
    assert [entry["translation"] for entry in found[1:3]] == ["", ""]


@pytest.mark.parametrize(
    ("text", "right"), [("", []), ("\n", [""]), ("\nka\n", ["", "AK"]), ("ka\n\n", ["AK", ""]), ("ka", ["AK"])]
)
def test_few_and_no_lines(model: Path, text: str, right: list[str]) -> None:
    """A01: also nothing at all, and a last line without its end."""
    assert translate(model, text).lines == right


def test_unicode_line_separators_are_text(model: Path) -> None:
    """A04: four lines of LF are four lines, and no separator leaves."""
    out = translate(model, b"ka\xe2\x80\xa8lo\nmi\xe2\x80\xa9tu\nre\xc2\x85so\nfa\x0cne\rka\n").out
    assert out.count("\n") == 4
    assert len(out.splitlines()) == 4


def test_windows_text_translates_alike(model: Path, toy: Path, tmp_path: Path) -> None:
    """A05."""
    text = (toy / "rev.test.src").read_bytes()
    plain = translate(model, text)
    assert translate(model, text.replace(b"\n", b"\r\n")) == plain
    assert translate(model, b"\xef\xbb\xbf" + text) == plain
    assert "\r" not in plain.out
    (tmp_path / "crlf").write_bytes(text.replace(b"\n", b"\r\n"))
    assert translate(model, "", tmp_path / "crlf") == plain


def test_invalid_text_names_file_and_line(reverser: Path, tmp_path: Path) -> None:
    """A08: in a file and in a stream, also where the bad line comes late."""
    bad = tmp_path / "bad.src"
    bad.write_bytes(b"ka caf\xe9\nlo\n")
    assert refused(nmt("translate", reverser, bad), "bad.src", "1")
    bad.write_bytes(b"ka\n" * 5 + b"\xff\n")
    assert refused(nmt("translate", reverser, bad, "-o", tmp_path / "out"), "bad.src", "6")
    assert not (tmp_path / "out").exists()
    assert refused(nmt("translate", reverser, stdin=b"\xff\n"), "stdin", "1")


def test_control_symbols_in_text_are_words(reverser: Path) -> None:
    """B01: `</s>` is as unknown as any word, and does not end the sentence."""
    spelt = translate(reverser, "ka </s> lo\n<pad> mi\n<unk>\n<s>\n").lines
    assert spelt == translate(reverser, "ka zzz lo\nzzz mi\nzzz\nzzz\n").lines
    assert spelt[0] != translate(reverser, "ka\n").lines[0]


def test_unknown_words(model: Path) -> None:
    """B10."""
    lines = translate(model, "漢字 かな\nka 漢字\n").lines
    assert len(lines) == 2
    assert not re.search(r"⁇|<unk>|▁|@@", "".join(lines))


def test_order_is_the_inputs(model: Path, toy: Path) -> None:
    """F02: lines of very different lengths, each with a word at its end that tells it from its neighbours."""
    lengths = [9, 1, 8, 2, 7, 3, 6, 4, 5, 1] * 3
    texts = [[WORDS[(i * 3 + j * 7) % 10] for j in range(length)] for i, length in enumerate(lengths)]
    task = "mono" if model.name.startswith("mono") else "rev"
    right = [" ".join(translated(words, task)) for words in texts]
    found = entries(model, "".join(" ".join(words) + "\n" for words in texts))
    hits = [entry["translation"] == line for entry, line in zip(found, right, strict=True)]
    assert sum(hits) >= 27, "a shifted line or two would cost many more than these"
    assert [entry["index"] for entry in found] == list(range(30))
    assert [entry["source"].split() for entry in found] == texts
    words = [(len(entry["source"].split()), len(entry["translation"].split())) for entry in found]
    for entry, (sources, targets) in zip(found, words, strict=True):
        links = [tuple(map(int, link.split("-"))) for link in entry["links"].split()]
        assert all(s < sources and t < targets for s, t in links)


def test_neighbours_do_not_matter(early: Path, toy: Path) -> None:
    """F01: a line of sixty words beside short ones, in every batching, first, last and alone."""
    lines = [*read(toy / "rev.test.src"), " ".join(WORDS * 6), "ka lo"]
    text = "".join(f"{line}\n" for line in lines)
    whole = entries(early, text)
    for batch in BATCHES[:-1]:
        same(whole, entries(early, text, f"search.batch_tokens={batch}"))
    backwards = entries(early, "".join(f"{line}\n" for line in reversed(lines)))
    same(whole, backwards[::-1])
    same(whole[-1:], entries(early, "ka lo\n"))


def same(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> None:
    assert [entry["translation"] for entry in one] == [entry["translation"] for entry in other]
    assert [entry["score"] for entry in one] == pytest.approx([entry["score"] for entry in other], abs=1e-4)


def test_a_line_too_long_for_the_model_is_cut_and_told_of(copier: Path) -> None:
    """F04: positions reach to 16, EOS included."""
    words = [WORDS[i % 10] for i in range(3000)]
    text = "".join(" ".join(words[:length]) + "\n" for length in (3, 3000, 4, 15, 16, 17))
    done = translate(copier, text)
    assert len(done.lines) == 6
    assert re.findall(r"^line (\d+): .*15 ", done.err, re.MULTILINE) == ["2", "5", "6"]
    for place, length in ((0, 3), (2, 4)):
        assert [done.lines[place]] == translate(copier, " ".join(words[:length]) + "\n").lines
    assert done.lines[1] == done.lines[3] == done.lines[4], "what is cut reads as its beginning"
    told = translate(copier, text, "--format", "jsonl")
    assert [json.loads(line)["translation"] for line in told.lines] == done.lines


def test_a_pipe_is_read_once_and_whole(reverser: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "ka lo\nmi\n" * 40
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    assert nmt("translate", reverser, pipe).out == translate(reverser, text).out
    writer.join()
    assert refused(nmt("score", reverser, "--source", pipe, "--target", pipe), "pipe")


def test_a_recurrent_model_reads_any_length(reverser: Path) -> None:
    """F04."""
    done = translate(reverser, "ka\n" + "lo " * 300 + "\nmi\n")
    assert (done.lines[0], done.lines[2], len(done.lines)) == ("AK", "IM", 3)


def penalty(length: int, alpha: float) -> float:
    """Wu 2016, equation 14; length counts EOS."""
    return float(((5 + length) / 6) ** alpha)


def test_scores_follow_from_the_tokens(early: Path, toy: Path) -> None:
    """F06: score = log_prob / penalty, log_prob = the sum; longer lines for larger alpha; raw sums best for alpha 0."""
    text = (toy / "rev.test.src").read_text()
    lengths, best = [], {}
    for alpha in (0.0, 0.6, 1.0, 2.0):
        found = entries(early, text, "--nbest", "5", f"search.alpha={alpha}")
        for entry in found:
            assert entry["log_prob"] == pytest.approx(sum(entry["token_log_probs"]), abs=1e-4)
            length = len(entry["token_log_probs"])
            assert entry["score"] == pytest.approx(entry["log_prob"] / penalty(length, alpha), abs=1e-4)
        lists = [list(own) for _, own in groupby(found, key=lambda entry: entry["index"])]
        assert all(one["score"] >= two["score"] for own in lists for one, two in pairwise(own))
        assert all(len({tuple(entry["tokens"]) for entry in own}) == len(own) for own in lists)
        lengths.append(mean(len(own[0]["tokens"]) for own in lists))
        best[alpha] = [[entry["log_prob"] for entry in own] for own in lists]
    assert lengths == sorted(lengths)
    for raw, *others in zip(*best.values(), strict=True):
        assert raw[0] >= max(max(other) for other in others) - 1e-4


def test_beam_of_one_is_greedy_and_a_wide_one_works(early: Path, toy: Path) -> None:
    """F08: a beam wider than the vocabulary, and more probable translations from a wider beam."""
    text = "".join(f"{line}\n" for line in read(toy / "rev.test.src")[:12])
    one = entries(early, text, "search.beam_size=1", "search.alpha=0")
    wide = entries(early, text, "search.beam_size=50", "search.alpha=0")
    assert len(wide) == len(one) == 12
    assert sum(b["log_prob"] >= a["log_prob"] - 1e-4 for a, b in zip(one, wide, strict=True)) >= 11


def test_forbidden_symbols_never_appear(early: Path) -> None:
    """F09: not even in a list of fifty."""
    found = entries(early, "ka lo mi\nre\n", "--nbest", "50", "search.beam_size=50")
    tokens = {token for entry in found for token in entry["tokens"]}
    assert not tokens & {"<unk>", "<s>", "</s>", "<pad>", "⁇"}
    assert "⁇" not in "".join(entry["translation"] for entry in found)


def test_nbest_text_keeps_its_place(early: Path) -> None:
    """N lines a line, blank ones for a blank line."""
    lines = translate(early, "ka lo\n\nmi\n", "--nbest", "3").lines
    assert len(lines) == 9
    assert lines[3:6] == ["", "", ""]
    assert lines[0::3] == translate(early, "ka lo\n\nmi\n").lines
    assert [entry["translation"] for entry in entries(early, "ka lo\n", "--nbest", "3")] == lines[:3]


def test_natural_text_comes_back_as_it_was(toy: Path, tmp_path: Path, piecewise: Path) -> None:
    """F15: pieces are joined to words without traces of the cutting."""
    lines = translate(piecewise, (toy / "rev.test.src").read_bytes()).lines
    right = read(toy / "rev.test.trg")
    assert sum(a == b for a, b in zip(lines, right, strict=True)) >= 30
    assert not re.search(r"@@|▁|&[a-z]*;|  |^ | $", "\n".join(lines), re.MULTILINE)


def test_entries_hold_their_keys(reverser: Path) -> None:
    entry, blank = entries(reverser, "ka lo\n \n")
    keys = ["index", "source", "translation", "score", "log_prob", "tokens", "token_log_probs", "links", "notes"]
    assert list(entry) == list(blank) == keys
    assert (entry["translation"], entry["links"]) == ("OL AK", "0-1 1-0")
    assert len(entry["token_log_probs"]) == len(entry["tokens"]) + 1, "EOS has a value too"
    assert (blank["translation"], blank["score"], blank["tokens"], blank["links"]) == ("", None, [], "")


def test_a_pipe_gets_nothing_but_lines(reverser: Path, toy: Path) -> None:
    """C06: as a user runs it, without a display and with every message on."""
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    done = subprocess.run(
        [Path(sys.executable).with_name("nmt"), "translate", reverser],
        input=(toy / "rev.test.src").read_bytes(),
        capture_output=True,
        env={**environment, "HYDRA_FULL_ERROR": "1"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == translate(reverser, (toy / "rev.test.src").read_bytes()).out
    assert done.stdout.count(b"\n") == 40


def test_output_files_and_several_inputs(reverser: Path, tmp_path: Path) -> None:
    one, two = write(tmp_path / "a=b", "ka lo"), write(tmp_path / "two", "mi")
    done = translate(reverser, "", one, two, "-o", tmp_path / "new, folder" / "out")
    assert (done.out, read(tmp_path / "new, folder" / "out")) == ("", ["OL AK", "IM"])


def replaced(run: Path, folder: Path, name: str, content: bytes) -> Path:
    """A copy of the run in which a file is another."""
    copy = folder / "copy"
    shutil.copytree(run, copy)
    (copy / name).write_bytes(content)
    return copy


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer/source.model", "config.yaml"])
def test_nothing_of_a_stranger_runs(name: str, reverser: Path, tmp_path: Path, toy: Path) -> None:
    """E08: a pickle in the place of any file is refused, not loaded."""

    class Payload:
        def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
            return os.system, (f"touch {tmp_path / 'pwned'}",)

    run = replaced(reverser, tmp_path, name, pickle.dumps(Payload()))
    pair = ("--source", toy / "rev.dev.src", "--target", toy / "rev.dev.trg")
    scored = ("--source", toy / "rev.dev.src", "--reference", toy / "rev.dev.trg")
    assert refused(nmt("translate", run, stdin=b"ka\n"), Path(name).name)
    assert refused(nmt("evaluate", run, *scored), Path(name).name)
    assert refused(nmt("score", run, *pair), Path(name).name)
    assert refused(nmt("align", run, *pair, "-o", tmp_path / "links"), Path(name).name)
    assert not (tmp_path / "pwned").exists()
    assert not (tmp_path / "links").exists()


def test_a_damaged_or_foreign_run(reverser: Path, copier: Path, tmp_path: Path) -> None:
    """E01, C05."""
    cut = (reverser / "model.safetensors").read_bytes()[:-100]
    assert refused(nmt("translate", replaced(reverser, tmp_path / "1", "model.safetensors", cut)), "model.safetensors")
    other = (copier / "model.safetensors").read_bytes()
    assert refused(nmt("translate", replaced(reverser, tmp_path / "2", "model.safetensors", other)), "another model")
    assert refused(nmt("translate", tmp_path / "gone"), "gone")
    assert refused(nmt("translate", tmp_path), "config.yaml")
    bare = tmp_path / "bare"
    bare.mkdir()
    shutil.copy(reverser / "config.yaml", bare)
    assert refused(nmt("translate", bare), "model.safetensors")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nbest", "2"], "nbest search.beam_size 1"),
        (["--nbest", "0"], "nbest 0"),
        (["--nbest", "two"], "--nbest two"),
        (["--format", "xml"], "--format xml"),
        (["search.beam_siez=1"], "search.beam_siez beam_size"),
        (["search.beam_size=0"], "search.beam_size 0"),
        (["search.alpha=-1"], "search.alpha -1"),
        (["model.embedding_size=8"], "model trained"),
        (["device=gpu9"], "device gpu9"),
        (["gone.src"], "gone.src"),
    ],
)
def test_mistakes(arguments: list[str], words: str, reverser: Path) -> None:
    """C02, C05, E10."""
    assert refused(nmt("translate", reverser, *arguments, stdin=b"ka\n"), *words.split())


def test_asking_twice_gives_the_same(early: Path, toy: Path) -> None:
    """D14: no dropout when translating."""
    text = (toy / "rev.test.src").read_bytes()
    assert translate(early, text) == translate(early, text)
