"""From every kind of corpus to a run: what comes out is the same text, and a training goes on where it stood."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from safetensors.torch import load_file

from nmt.data.tokenizer import Tokenizer
from nmt.run import Run
from tests.integration.toy import RECURRENT, SHORT, TRANSFORMER, data, nmt, read, refused, train, write

BRIEF = ("train.updates=2", "train.valid_every=2", "model.embedding_size=8", "model.encoder.hidden_size=8")
LANGUAGES = ("data.source_language=src", "data.target_language=trg")
HARD = [("null", "zero"), ('"NA', "sodium"), ("007", 'agent "x"'), ("1e3", "x"), ('true"', "y"), ("2020-01-01", "z")]
TASKS = ("rev", "mono")
FILES = "{_target_: nmt.data.corpora.files.Files, source: %s.src, target: %s.trg}"


def table(path: Path, rows: list[tuple[str, ...]]) -> str:
    return str(write(path, *("\t".join(row) for row in rows)))


def tables(folder: Path, rows: list[tuple[str, ...]]) -> list[str]:
    """The settings of a corpus of three such tables."""
    for part in ("train", "valid", "test"):
        table(folder / f"{part}.tsv", rows)
    return ["data=tsv", f"data.root={folder}", *LANGUAGES]


def test_a_table_is_text(tmp_path: Path) -> None:
    """A09, A10: quotes do not swallow rows, and words that look like nothing or like numbers are words."""
    done = train(tmp_path / "run", *tables(tmp_path, HARD), *RECURRENT, *BRIEF)
    assert "6 pairs kept, none dropped" in done.err
    source, target = Run(tmp_path / "run").tokenizers()
    for line in (line for pair in HARD for line in pair):
        assert source.decode(source.encode(line)) == line == target.decode(target.encode(line))


@pytest.mark.parametrize("row", [("ka", "lo", "mi"), ("ka",)])
def test_a_row_of_another_width_is_refused(row: tuple[str, ...], tmp_path: Path) -> None:
    """A09, A11."""
    settings = tables(tmp_path, [*HARD, row])
    assert refused(nmt("train", *SHORT, *settings, *RECURRENT, f"run={tmp_path / 'run'}"), "train.tsv", "7")


def test_quoted_only_when_asked_for(tmp_path: Path) -> None:
    """A09: RFC 4180."""
    settings = [*tables(tmp_path, HARD), *(f"data.{part}.quoting=true" for part in ("train", "valid", "test"))]
    for part in ("train", "valid", "test"):
        with (tmp_path / f"{part}.tsv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="\t").writerows(HARD)
    train(tmp_path / "run", *settings, *RECURRENT, *BRIEF)
    source, _ = Run(tmp_path / "run").tokenizers()
    assert all(source.decode(source.encode(line)) == line for pair in HARD for line in pair)


@pytest.mark.parametrize(
    "settings",
    [
        ("tokenizer=unigram", "tokenizer.vocabulary_size=300", "tokenizer.sampling=0.5"),
        ("data.streaming=true", "data.shuffle_buffer=50", "tokenizer.sentences=100"),
        (
            *("data.streaming=true", "data.shuffle_buffer=90", "tokenizer=bpe", "tokenizer.vocabulary_size=300"),
            *("tokenizer.sentences=300", "tokenizer.sampling=0.2"),
        ),
    ],
    ids=["sampled", "stream", "sampled stream"],
)
def test_resumed_is_as_if_never_stopped(settings: tuple[str, ...], toy: Path, tmp_path: Path) -> None:
    """E02: in the middle of a pool and of a chunk, with dropout."""
    given = [
        *data(toy, "rev", "train"),
        *RECURRENT,
        "model.encoder.dropout=0.3",
        "train.pool=120",
        "train.accumulate=2",
        "train.batch_tokens=200",
        "train.valid_every=100",
        *settings,
    ]
    done = train(tmp_path / "whole", *given, "train.updates=13")
    assert "pairs kept, none dropped" in done.err
    train(tmp_path / "run", *given, "train.updates=6")
    done = nmt("train", f"resume={tmp_path / 'run'}", "train.updates=13")
    assert done.code == 0, done.err
    one, other = (load_file(Run(tmp_path / name).last) for name in ("whole", "run"))
    assert one.keys() == other.keys()
    assert all(one[name].equal(other[name]) for name in one)


def test_mixtures(toy: Path, tmp_path: Path) -> None:
    """Each member is counted by its name; by weights, an epoch is one of as many pairs as there are."""
    members = [f"data.train.corpora.{task}={FILES % (f'{toy}/{task}.train', f'{toy}/{task}.train')}" for task in TASKS]
    held = [setting for setting in data(toy, "rev", "train") if not setting.startswith("data.train")]
    weights = "data.train.weights={rev: 3, mono: 1}"
    done = train(tmp_path / "run", "data=mix", *held, *members, weights, *RECURRENT, *BRIEF)
    assert "train (rev): 600 pairs kept" in done.err
    assert "train (mono): 600 pairs kept" in done.err
    train(tmp_path / "even", "data=mix", *held, *members, *RECURRENT, *BRIEF)
    assert (tmp_path / "even" / "model.safetensors").read_bytes() != (
        tmp_path / "run" / "model.safetensors"
    ).read_bytes()
    wrong = nmt("train", *SHORT, "data=mix", *held, *members, "data.train.weights={rev: 3, mon: 1}", *RECURRENT)
    assert refused(wrong, "weights.mon", "mono")


def test_a_mixture_is_kept_with_its_borders(toy: Path, tmp_path: Path) -> None:
    """The same pairs, divided otherwise."""
    held = [setting for setting in data(toy, "rev", "train") if not setting.startswith("data.train")]
    for number, first in enumerate((300, 100)):
        members = []
        for name, part in (("a", slice(None, first)), ("b", slice(first, None))):
            for suffix in ("src", "trg"):
                write(tmp_path / f"{name}{number}.{suffix}", *read(toy / f"rev.train.{suffix}")[part])
            stem = tmp_path / f"{name}{number}"
            members.append(f"data.train.corpora.{name}={FILES % (stem, stem)}")
        done = train(tmp_path / f"run{number}", "data=mix", *held, *members, *RECURRENT, *BRIEF)
        assert f"train (a): {first} pairs kept" in done.err
        assert f"train (b): {600 - first} pairs kept" in done.err


def test_rounded_lengths_have_to_fit_the_positions(toy: Path, tmp_path: Path) -> None:
    """The longest sentence has 10 tokens."""
    given = [
        "train",
        *SHORT,
        *data(toy, "rev", "train"),
        *TRANSFORMER,
        "position.maximum=12",
        f"run={tmp_path / 'run'}",
    ]
    done = nmt(*given, "train.pad_to=8", "train.updates=1")
    assert done.code == 2
    assert "position.maximum is 12 and the data have a sentence of 16 tokens" in done.err
    assert nmt(*given, "train.pad_to=4", "train.updates=1", "train.valid_every=1").code == 0


def test_what_was_encoded_is_not_encoded_again(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By content: not under another name, but with another filter; and the log says the same of it."""
    monkeypatch.setenv("NMT_CACHE", str(tmp_path / "cache"))
    given = [*data(toy, "rev", "train"), *RECURRENT, *BRIEF]
    kept = []
    for settings in ((), ("seed=2",), ("data.filters.max_words=5",)):
        done = train(tmp_path / f"run{len(kept)}", *given, *settings)
        kept.append(len(list((tmp_path / "cache" / "encoded").iterdir())))
    assert kept == [2, 2, 3]
    assert "max_words" in done.err


def test_pairs_left_out_go_to_a_file(toy: Path, tmp_path: Path) -> None:
    """Every time, though the corpus is kept encoded; development and test data lose none."""
    for number in range(2):
        file = tmp_path / f"dropped{number}.tsv"
        settings = ("data.filters.max_words=5", f"data.filters.dropped={file}", "data.filters.overlap=true")
        train(tmp_path / f"run{number}", *data(toy, "rev", "train"), *RECURRENT, *BRIEF, *settings)
        rows = [line.split("\t") for line in read(file)]
        assert {row[2] for row in rows} == {"max_words", "overlap"}
        sources = read(toy / "rev.train.src")
        assert all(sources[int(row[0]) - 1] == row[3] for row in rows)
    assert len(read(tmp_path / "run0" / "translations" / "test.txt")) == 40


def test_pairs_left_out_are_not_written_over_what_is_read(toy: Path, tmp_path: Path) -> None:
    train_file, link = tmp_path / "train.src", tmp_path / "link.tsv"
    train_file.write_bytes((toy / "rev.train.src").read_bytes())
    link.symlink_to(train_file)
    settings = [*data(toy, "rev", "train"), f"data.train.source={train_file}", *RECURRENT, *BRIEF]
    for file in (train_file, link):
        done = nmt("train", *SHORT, *settings, f"data.filters.dropped={file}", f"run={tmp_path / 'run'}")
        assert refused(done, "data.filters.dropped", str(file))
    assert train_file.read_bytes() == (toy / "rev.train.src").read_bytes()


def test_what_cannot_be_written_is_told_at_once(toy: Path, tmp_path: Path) -> None:
    """Before a vocabulary is learnt, which may take long."""
    file = tmp_path / "file"
    file.touch()
    settings = [*SHORT, *data(toy, "rev", "train"), *RECURRENT, *BRIEF]
    run = tmp_path / "run"
    assert refused(nmt("train", *settings, f"run={file}/run"), f"{file}/run", f"{file} is not a directory")
    done = nmt("train", *settings, f"run={run}", f"data.filters.dropped={file}/dropped.tsv")
    assert refused(done, f"{file}/dropped.tsv", f"{file} is not a directory")
    assert not run.exists()


def test_a_tokenizer_of_ones_own(toy: Path, tmp_path: Path) -> None:
    """One that another library made, with ids of its own; joint, so that it has to be one."""
    import sentencepiece

    for name, size in (("own", 40), ("other", 41)):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(read(toy / "rev.train.src") + read(toy / "rev.train.trg")),
            model_prefix=str(tmp_path / name),
            vocab_size=size,
            minloglevel=2,
        )
    models = [f"tokenizer.{side}_model={tmp_path / 'own.model'}" for side in ("source", "target")]
    small = (*TRANSFORMER, "position.maximum=64", "train.updates=2", "train.valid_every=2")
    train(tmp_path / "run", *data(toy, "rev", "train"), *small, *models)
    source, _ = Run(tmp_path / "run").tokenizers()
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "own.model"))
    line = "ka lo mi"
    assert source.pieces(source.encode(line)) == theirs.encode(line, out_type=str)
    models[1] = f"tokenizer.target_model={tmp_path / 'other.model'}"
    done = nmt("train", *SHORT, *data(toy, "rev", "train"), *small, *models, f"run={tmp_path / 'two'}")
    assert refused(done, "tokenizer.joint", "own.model", "other.model")


def test_lines_that_may_be_drawn_too_long_are_refused_before_training(toy: Path, tmp_path: Path) -> None:
    drawn = ("tokenizer=unigram", "tokenizer.vocabulary_size=300", "tokenizer.sampling=0.5", "position.maximum=64")
    given = ["train", *SHORT, *data(toy, "rev", "train"), *TRANSFORMER, *drawn, f"run={tmp_path / 'run'}"]
    for limit, told in (("100", "a sentence of 101 tokens"), ("null", "sentences of any length")):
        done = nmt(*given, f"data.filters.max_pieces={limit}")
        assert done.code == 2
        assert f"error: position.maximum is 64 and the data have {told}" in done.err.splitlines()[-1]
    assert not (tmp_path / "run").exists()


def test_a_stream_says_what_it_cannot(toy: Path, tmp_path: Path) -> None:
    given = ["train", *SHORT, *data(toy, "rev", "train"), *RECURRENT, "data.streaming=true", f"run={tmp_path / 'run'}"]
    assert refused(nmt(*given), "tokenizer.sentences is 0")
    some = [*given, "tokenizer.sentences=50"]
    assert refused(nmt(*some, "data.filters.duplicates=true"), "data.filters.duplicates")
    assert refused(nmt(*some, f"data.filters.dropped={tmp_path / 'out.tsv'}"), "data.filters.dropped")
    assert refused(nmt(*some, "train.guided_alignment=x"), "train.guided_alignment")
    assert not (tmp_path / "run").exists()


def test_a_stream_of_an_empty_corpus_is_refused_before_training(toy: Path, tmp_path: Path) -> None:
    """By its name; nothing is left of the run."""
    empty = write(tmp_path / "empty.tsv")
    none = f"{{_target_: nmt.data.corpora.tsv.Tsv, path: {empty}}}"
    corpora = f"{{a: {FILES % (toy / 'rev.train', toy / 'rev.train')}, e: {none}}}"
    held_out = [f"data.{part}={FILES % (toy / 'rev.dev', toy / 'rev.dev')}" for part in ("valid", "test")]
    settings = ["data=mix", *LANGUAGES, f"data.train.corpora={corpora}", *held_out, "data.streaming=true"]
    run = tmp_path / "run"
    assert refused(nmt("train", *SHORT, *settings, "tokenizer.sentences=300", f"run={run}"), "train (e)", "no pairs")
    assert not run.exists()


def test_a_seeded_sample_teaches_the_tokenizer(toy: Path, tmp_path: Path) -> None:
    """The same lines of the same seed, and others of another."""
    plain = ("tokenizer=bpe", "tokenizer.byte_fallback=false", "tokenizer.vocabulary_size=42", "tokenizer.sentences=30")
    given = [*data(toy, "rev", "train"), *RECURRENT, *BRIEF, *plain]
    digests = []
    for number, seed in enumerate((1, 1, 2)):
        done = train(tmp_path / f"run{number}", *given, f"seed={seed}")
        assert "learning a vocabulary from 30 of 1,200 lines" in done.err
        digests.append(Tokenizer.load(Run(tmp_path / f"run{number}").tokenizer_file("source")).digest)
    assert digests[0] == digests[1] != digests[2]
