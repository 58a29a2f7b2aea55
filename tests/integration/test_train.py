"""`nmt train`: what it leaves, what it says, what it refuses before it works, and how it ends when it is stopped."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nmt.data.special import UNK
from nmt.run import Run
from tests.integration.toy import RECURRENT, ROOT, SHORT, TRANSFORMER, WORDS, data, nmt, read, refused, train, write

BRIEF = ("train.updates=2", "train.valid_every=2")


def weights(run: Path) -> bytes:
    return (run / "model.safetensors").read_bytes()


def losses(run: Path) -> list[float]:
    return [event["loss"] for event in map(json.loads, read(run / "metrics.jsonl"))]


def environment(**more: str) -> dict[str, str]:
    """That of a user on a server: no display."""
    return {**{key: value for key, value in os.environ.items() if key != "DISPLAY"}, "OMP_NUM_THREADS": "1", **more}


def test_ends_in_scores_and_its_place(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    done = train(run, *data(toy, "rev", "train"), *RECURRENT, *BRIEF)
    assert "ONEDNN_PRIMITIVE_CACHE_CAPACITY" in os.environ, "memory was settled"
    assert [line.split()[0] for line in done.lines[:3]] == ["BLEU", "chrF2", "TER"]
    assert done.lines[-1] == str(run)
    assert "version:" in done.lines[0], "the signature stands beside the score"
    assert "600 pairs kept" in done.err
    assert done.err.count("  =>") == 2, "validation samples"
    assert {path.name for path in run.iterdir()} == {
        "config.yaml", "tokenizer", "model.safetensors", "checkpoints", "metrics.jsonl", "evaluation.json",
        "translations", "alignments",
    }  # fmt: skip
    assert len(read(run / "translations" / "test.txt")) == 40


def test_a_run_needs_neither_its_place_nor_the_corpus(reverser: Path, toy: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved, away (v2)"
    shutil.copytree(reverser, moved)
    config = (moved / "config.yaml").read_text().replace(str(toy), "/nowhere")
    (moved / "config.yaml").write_text(config)
    assert nmt("translate", moved, stdin=b"ka lo\n").out == "OL AK\n"


def test_paths_with_blanks_and_commas(toy: Path, tmp_path: Path, reverser: Path) -> None:
    """B05."""
    folder = tmp_path / "my, dir (v2)=x"
    shutil.copytree(toy, folder)
    run = folder / "run, this"
    train(run, *data(folder, "rev"), *RECURRENT, *BRIEF)
    for side in ("source", "target"):
        own, plain = (where / "tokenizer" / f"{side}.model" for where in (run, reverser))
        assert own.read_bytes() == plain.read_bytes()


def edited(toy: Path, folder: Path, side: str, text: bytes) -> list[str]:
    """The corpus `rev` with one file of its training text replaced."""
    shutil.copytree(toy, folder, dirs_exist_ok=True)
    (folder / f"rev.train.{side}").write_bytes(text)
    return data(folder, "rev", "train")


def test_blank_lines_take_their_pair_along(toy: Path, tmp_path: Path) -> None:
    """A02: the sums of both sides' lengths are those of the pairs that are left."""
    folder = tmp_path / "corpus"
    shutil.copytree(toy, folder)
    for side, number in (("src", 49), ("trg", 119)):
        lines = read(folder / f"rev.train.{side}")
        write(folder / f"rev.train.{side}", *lines[:number], "", *lines[number + 1 :])
    done = train(
        tmp_path / "run", *data(folder, "rev", "train"), *RECURRENT, "train.updates=150", "train.valid_every=150"
    )
    assert "598 pairs kept, 2 dropped: 2 blank" in done.err
    assert json.loads(read(tmp_path / "run" / "metrics.jsonl")[-1])["bleu"] > 40, "shifted pairs would give near 0"


def test_length_filter_is_of_training_text_alone(toy: Path, tmp_path: Path) -> None:
    """D08: a piece a word, EOS not counted; the longest allowed stays; other parts keep their lines."""
    write(tmp_path / "rev.train.src", *("ka " * length + "lo" for length in (8, 9, 10)))
    write(tmp_path / "rev.train.trg", *["AK"] * 3)
    for part in ("dev", "test"):
        write(tmp_path / f"rev.{part}.src", "ka " * 10 + "lo")
        write(tmp_path / f"rev.{part}.trg", "AK")
    small = ("tokenizer.vocabulary_size=9", "data.filters.max_pieces=10")
    done = train(tmp_path / "run", *data(tmp_path, "rev", "train"), *RECURRENT, *BRIEF, *small)
    assert re.search(r"rev\.train\.trg\): 2 pairs kept, 1 dropped: 1 max_pieces", done.err)
    assert re.search(r"rev\.dev\.trg\): 1 pairs? kept, none dropped", done.err)
    assert len(read(tmp_path / "run" / "translations" / "test.txt")) == 1


def test_long_lines_teach_their_letters(toy: Path, tmp_path: Path) -> None:
    """B06: the only q stands in a line of ten thousand characters."""
    text = (toy / "rev.train.src").read_bytes().replace(b"\n", b" " + b"qa " * 3400 + b"\n", 1)
    settings = edited(toy, tmp_path / "text", "src", text)
    letters = ("tokenizer=char", "tokenizer.byte_fallback=false", "tokenizer.vocabulary_size=100")
    train(tmp_path / "run", *settings, *RECURRENT, *BRIEF, *letters)
    source, _ = Run(tmp_path / "run").tokenizers()
    assert UNK not in source.encode("q")


def test_each_side_has_its_own_tokenizer(tmp_path: Path) -> None:
    """B09: alphabets that share no letter; ten pairs are learnt by heart."""
    letters = str.maketrans("kalomitures", "αβγδεζηθικλ")
    lines = [" ".join(WORDS[(i * j + i) % 5] for j in range(1, 4)) for i in range(10)]
    for part in ("train", "dev", "test"):
        write(tmp_path / f"rev.{part}.src", *lines)
        write(tmp_path / f"rev.{part}.trg", *(line.translate(letters) for line in lines))
    separate = ("tokenizer=char", "tokenizer.joint=false", "tokenizer.byte_fallback=false", "train.updates=150")
    train(tmp_path / "run", *data(tmp_path, "rev", "train"), *RECURRENT, *separate)
    assert read(tmp_path / "run" / "translations" / "test.txt") == read(tmp_path / "rev.test.trg")
    for tokenizer, side in zip(Run(tmp_path / "run").tokenizers(), ("src", "trg"), strict=True):
        assert all(UNK not in tokenizer.encode(line) for line in read(tmp_path / f"rev.test.{side}"))


def test_columns_of_a_data_set_stay_text(tmp_path: Path) -> None:
    """A10, A11: words that look like nothing or like numbers; a missing column is named with those that exist."""
    pairs = {"null": "zero", "NA": "sodium", "007": "agent", "1e3": "x", "true": "y", "2020-01-01": "z"}
    (tmp_path / "hub").mkdir()
    rows = [json.dumps({"translation": {"xx": source, "yy": target}}) for source, target in pairs.items()]
    for split in ("train", "validation", "test"):
        write(tmp_path / "hub" / f"{split}.jsonl", *rows)
    given = ["data.source_language=xx", "data.target_language=yy", "data=hub", f"data.train.path={tmp_path / 'hub'}"]
    done = train(tmp_path / "run", *given, *RECURRENT, *BRIEF)
    assert "6 pairs kept" in done.err
    source, _ = Run(tmp_path / "run").tokenizers()
    assert all(source.decode(source.encode(word)) == word for word in pairs)
    given[1] = "data.target_language=zz"
    assert refused(nmt("train", *SHORT, *given, *RECURRENT, f"run={tmp_path / 'other'}"), "zz", "xx", "yy")


def test_sentences_beyond_the_positions_are_refused_before_training(toy: Path, tmp_path: Path) -> None:
    learned = ("model=transformer", "position=learned", "position.maximum=5", "tokenizer=word")
    done = nmt("train", *SHORT, *data(toy, "rev", "train"), *learned, f"run={tmp_path / 'run'}")
    assert done.code == 2
    assert "error: position.maximum is 5 and the data have a sentence of 10 tokens" in done.err.splitlines()[-1]
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_memory_does_not_hold_the_corpus(toy: Path, tmp_path: Path) -> None:
    """A15: a hundred times the text may cost less than ten times its size."""
    peaks, sizes = [], []
    for times in (5, 500):
        texts = {side: (toy / f"rev.train.{side}").read_bytes() * times for side in ("src", "trg")}
        settings = edited(toy, tmp_path / str(times), "src", texts["src"])
        (tmp_path / str(times) / "rev.train.trg").write_bytes(texts["trg"])
        run = f"run={tmp_path / f'run{times}'}"
        code = (
            "import resource, sys; from nmt.cli.main import main; main(sys.argv[1:]);"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
        )
        line = [sys.executable, "-c", code, "train", *SHORT, *settings, *RECURRENT, "train.updates=1", run]
        done = subprocess.run(line, env=environment(), capture_output=True, encoding="utf-8")
        peaks.append(int(done.stdout.splitlines()[-1]))
        sizes.append(sum(map(len, texts.values())))
    assert peaks[1] - peaks[0] < 10 * (sizes[1] - sizes[0])


def test_windows_text_trains_alike(toy: Path, tmp_path: Path) -> None:
    """A05: CRLF and a byte order mark change neither the tokenizer nor the weights."""
    text = (toy / "rev.train.src").read_bytes()
    for name, content in (("unix", text), ("windows", b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))):
        train(tmp_path / name, *edited(toy, tmp_path / f"{name}-text", "src", content), *RECURRENT, *BRIEF)
    tokenizers = [(tmp_path / name / "tokenizer" / "source.model").read_bytes() for name in ("unix", "windows")]
    assert tokenizers[0] == tokenizers[1]
    assert weights(tmp_path / "unix") == weights(tmp_path / "windows")


@pytest.mark.parametrize("sizes", [RECURRENT, TRANSFORMER], ids=["recurrent", "transformer"])
def test_one_pair_is_learnt_by_heart(sizes: list[str], toy: Path, tmp_path: Path) -> None:
    """A16, D06: fewer pairs than a batch holds."""
    for part in ("train", "dev", "test"):
        write(tmp_path / f"rev.{part}.src", "ka")
        write(tmp_path / f"rev.{part}.trg", "AK")
    train(tmp_path / "run", *data(tmp_path, "rev", "train"), *sizes, "train.updates=60", "tokenizer.vocabulary_size=8")
    assert nmt("translate", tmp_path / "run", stdin=b"ka\n").out == "AK\n"


def test_development_text_teaches_no_words(toy: Path, tmp_path: Path) -> None:
    """B12."""
    folder = tmp_path / "corpus"
    shutil.copytree(toy, folder)
    for part in ("dev", "test"):
        write(folder / f"rev.{part}.src", "zzz ka")
        write(folder / f"rev.{part}.trg", "KA ZZZ")
    train(tmp_path / "run", *data(folder, "rev", "train"), *RECURRENT, *BRIEF)
    assert not [path for path in (tmp_path / "run" / "tokenizer").iterdir() if b"zzz" in path.read_bytes().lower()]


def test_a_second_training_is_refused_and_says_what_differs(early: Path, toy: Path) -> None:
    """C09."""
    before = weights(early)
    key = "model.embedding_size"
    size = 32 if early.name.endswith("recurrent") else 64
    sizes = RECURRENT if size == 32 else [*TRANSFORMER, "position.maximum=128"]
    same = [*SHORT, *data(toy, "rev", "train"), *sizes, "train.updates=30", "train.valid_every=30", "search=beam"]
    assert refused(nmt("train", *same, f"run={early}"), str(early), "with the same configuration")
    assert refused(nmt("train", *same, f"run={early}", f"{key}=48"), f"{key} {size} -> 48")
    assert weights(early) == before


def test_a_place_without_weights_is_used_again(toy: Path, tmp_path: Path) -> None:
    """C09: what was stopped before its first weights is in nobody's way."""
    run = tmp_path / "run"
    begun = nmt(
        "train", *SHORT, *data(toy, "rev", "train"), *RECURRENT, *BRIEF, f"run={run}", "seed=7", "--print-config"
    )
    run.mkdir()
    write(run / "config.yaml", *begun.lines)
    train(run, *data(toy, "rev", "train"), *RECURRENT, *BRIEF)
    assert "seed: 1" in (run / "config.yaml").read_text()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("train.lerning_rate=1", "train.lerning_rate"),
        ("+train.lerning_rate=1", "train.lerning_rate"),
        ("optimizer.lrr=1", "optimizer.lrr optimizer.lr"),
        ("train=5", "train 5"),
        ("seed=abc", "seed 'abc'"),
        ("seed=1.5", "seed 1.5"),
        ("train.batch_tokens=-4", "train.batch_tokens -4"),
        ("model.encoder.dropout=1.5", "dropout 1.5"),
        ("search.beam_size=0", "search.beam_size 0"),
        ("train.metric=blue", "train.metric blue bleu"),
        ("train.updates=0", "train.updates 0"),
        ("attention=bahdanaw", "attention bahdanaw bahdanau"),
        ("modle=recurrent", "modle model"),
        ("stray", "stray"),
        ("--configdir", "--configdir"),
        ("device=gpu9", "device gpu9"),
        ("data.source_language=???", "data.source_language"),
    ],
)
def test_misspelt_or_impossible_settings(settings: str, words: str, toy: Path, tmp_path: Path) -> None:
    """C02, E05, E10: each names its key, and nothing is made."""
    given = [*SHORT, *data(toy, "rev", "train"), *RECURRENT, *settings.split()]
    assert refused(nmt("train", *given, f"run={tmp_path / 'run'}"), *words.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["model=transformer", "model.embedding_size=10", "model.encoder.self_attention.heads=3"], "10 3 heads"),
        ([*TRANSFORMER, "model.encoder.layers=0"], "layers 0"),
        ([*TRANSFORMER, "model.decoder.layers=0"], "layers 0"),
        ([*RECURRENT, "model.decoder.layers=0"], "layers 0"),
        ([*RECURRENT, "model.encoder.hidden_size=0"], "hidden_size 0"),
        ([*RECURRENT, "attention=luong_dot", "model.decoder.hidden_size=100"], "100 64"),
        ([*RECURRENT, "model.tied=all", "tokenizer.joint=false"], "model.tied tokenizer.joint"),
        ([*RECURRENT, "alignment.layer=3"], "alignment.layer 3"),
        ([*RECURRENT, "alignment.shift=2"], "alignment.shift 2"),
        ([*TRANSFORMER, "attention=bahdanau"], "wiring"),
    ],
)
def test_impossible_sizes_are_refused_before_data_is_read(settings: list[str], words: str, tmp_path: Path) -> None:
    """C11: the corpus does not exist, and yet the size is what is complained of."""
    given = [*SHORT, *data(Path("/nowhere"), "rev"), *settings]
    assert refused(nmt("train", *given, f"run={tmp_path / 'run'}"), *words.split())
    assert not list(tmp_path.iterdir())


def test_odd_sizes_which_are_possible(toy: Path, tmp_path: Path) -> None:
    """C11: an odd hidden size in both directions, and an odd embedding."""
    odd = ("model.encoder.hidden_size=7", "model.decoder.hidden_size=11", "model.embedding_size=5")
    train(tmp_path / "run", *data(toy, "rev", "train"), *RECURRENT, *odd, *BRIEF)


@pytest.mark.parametrize(
    ("side", "text", "words"),
    [
        ("trg", b"AK\n" * 599, "rev.train.src rev.train.trg 600 599"),
        ("src", b"ka\n" * 598 + b"caf\xe9\nka\n", "rev.train.src 599"),
        ("src", None, "rev.train.src"),
        ("src", b"\n" * 600, "rev.train.src"),
    ],
)
def test_bad_training_text(side: str, text: bytes | None, words: str, toy: Path, tmp_path: Path) -> None:
    """A07, A08, A16, C05: told before the first update, and nothing looks finished."""
    settings = edited(toy, tmp_path / "text", side, text or b"")
    if text is None:
        (tmp_path / "text" / f"rev.train.{side}").unlink()
    done = nmt("train", *SHORT, *settings, *RECURRENT, f"run={tmp_path / 'run'}")
    assert one_last_error(done.err, *words.split())
    assert (done.code, done.out) == (2, "")
    assert not list((tmp_path / "run").rglob("*.safetensors"))


@pytest.mark.parametrize("part", ["train", "dev", "test"])
@pytest.mark.parametrize("how", ["empty", "short", "missing", "invalid"])
def test_bad_text_of_any_part_is_found_before_training(part: str, how: str, toy: Path, tmp_path: Path) -> None:
    """A07, A08, A16: also of the text that is needed last."""
    folder = tmp_path / "text"
    shutil.copytree(toy, folder)
    source, target = (folder / f"rev.{part}.{side}" for side in ("src", "trg"))
    if how == "empty":
        source.write_bytes(b"")
        target.write_bytes(b"")
    elif how == "short":
        write(target, *read(target)[:-1])
    elif how == "missing":
        target.unlink()
    else:
        source.write_bytes(source.read_bytes()[:-1] + b"\xff\n")
    done = nmt("train", *SHORT, *data(folder, "rev", "train"), *RECURRENT, *BRIEF, f"run={tmp_path / 'run'}")
    assert done.code == 2
    assert one_last_error(done.err, f"rev.{part}.")
    assert not list((tmp_path / "run").rglob("*.safetensors"))


def one_last_error(err: str, *words: str) -> bool:
    """Whether stderr ends in the only complaint, and no update was made."""
    *before, last = err.splitlines()
    assert last.startswith("nmt: error: "), err
    assert not [line for line in before if "error" in line or re.match(r"(update|valid) \d", line)], err
    assert "Traceback" not in err
    missing = [word for word in words if word not in last]
    assert not missing, (missing, last)
    return True


@pytest.mark.parametrize("size", [5000, 5])
def test_impossible_vocabulary_sizes_name_the_possible_ones(size: int, toy: Path, tmp_path: Path) -> None:
    """B04."""
    plain = ("tokenizer=unigram", "tokenizer.byte_fallback=false")
    settings = (*plain, f"tokenizer.vocabulary_size={size}", f"run={tmp_path / 'run'}")
    done = nmt("train", *SHORT, *data(toy, "rev", "train"), *RECURRENT, *settings)
    assert done.code == 2
    assert one_last_error(done.err, "tokenizer.vocabulary_size", str(size))
    allowed = int(re.findall(r"\d+", done.err.splitlines()[-1])[-1])
    assert allowed != size
    train(
        tmp_path / "run",
        *data(toy, "rev", "train"),
        *RECURRENT,
        *BRIEF,
        *plain,
        f"tokenizer.vocabulary_size={allowed}",
    )


def test_a_directory_in_the_place_of_a_file(toy: Path, tmp_path: Path) -> None:
    """C05."""
    done = nmt("train", *SHORT, *data(toy, "rev"), f"data.train.source={toy}", *RECURRENT, f"run={tmp_path / 'run'}")
    assert refused(done, str(toy), "directory")


def test_languages_that_yaml_takes_for_booleans(toy: Path, tmp_path: Path) -> None:
    """C01: `no` stays a language on the command line, and a file that says `no` unquoted is told to quote it."""
    given = ["--print-config", *data(toy, "rev"), "data.source_language=no", "data.target_language=on"]
    printed = nmt("train", *given)
    assert (printed.code, printed.err) == (0, "")
    assert re.search(r"source_language: ['\"]no['\"]", printed.out)
    (tmp_path / "data").mkdir()
    for name, quoted in (("bare", "no"), ("quoted", "'no'")):
        lines = "defaults: [files]", f"source_language: {quoted}", "target_language: 'on'", f"root: {toy}"
        write(tmp_path / "data" / f"{name}.yaml", *lines)
    folder = ["--config-dir", str(tmp_path), "--print-config"]
    assert refused(nmt("train", *folder, "data=bare"), "data.source_language", "quote")
    quoted_file = nmt("train", *folder, "data=quoted").out
    assert re.search(r"source_language: ['\"]no['\"]", quoted_file)


def test_printing_the_configuration_makes_nothing(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C10."""
    monkeypatch.chdir(tmp_path)
    printed = nmt("train", "--print-config", *data(toy, "rev"), *RECURRENT)
    assert (printed.code, printed.err) == (0, "")
    assert "hydra" not in printed.out
    assert nmt("train", "--help").code == 0
    assert not list(tmp_path.iterdir())


def test_seeds_decide_everything(toy: Path, tmp_path: Path) -> None:
    """D05: two equal runs are bit-identical in whatever hash order, and another seed's differs."""
    settings = [
        *SHORT,
        *data(toy, "rev", "train"),
        *RECURRENT,
        "train.updates=6",
        "train.valid_every=3",
        "train.log_every=1",
    ]
    for name, order in (("first", "1"), ("again", "2")):
        done = subprocess.run(
            [sys.executable, "-m", "nmt.cli.train", *settings, f"run={tmp_path / name}"],
            env=environment(PYTHONHASHSEED=order),
            capture_output=True,
            encoding="utf-8",
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(f"\n{tmp_path / name}\n")
    train(tmp_path / "other", *settings, "seed=2")
    first, again, other = (tmp_path / name for name in ("first", "again", "other"))
    assert weights(first) == weights(again)
    assert losses(first) == losses(again)
    for side in ("source", "target"):
        assert (first / "tokenizer" / f"{side}.model").read_bytes() == (
            again / "tokenizer" / f"{side}.model"
        ).read_bytes()
    assert losses(first) != losses(other)
    assert {path.name for path in tmp_path.iterdir()} == {"first", "again", "other"}, "Hydra leaves no folders"


def test_validation_does_not_change_training(toy: Path, tmp_path: Path) -> None:
    """D14."""
    for every in (1, 1000):
        often_or_never = (
            "model.decoder.dropout=0.5",
            "train.updates=5",
            "train.log_every=1",
            f"train.valid_every={every}",
        )
        train(tmp_path / str(every), *data(toy, "rev", "train"), *RECURRENT, *often_or_never)
    often, never = (
        [
            event["loss"]
            for event in map(json.loads, read(tmp_path / name / "metrics.jsonl"))
            if event["event"] == "train"
        ]
        for name in ("1", "1000")
    )
    assert often == never


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_training_and_leave_the_best(number: int, code: int, toy: Path, tmp_path: Path) -> None:
    """E12: within seconds, with the shell's exit code, and a model that translates."""
    run = tmp_path / "run"
    settings = [
        *SHORT,
        *data(toy, "rev", "train"),
        *RECURRENT,
        "train.updates=1000000",
        "train.valid_every=5",
        "train.patience=100000",
    ]
    process = subprocess.Popen(
        [Path(sys.executable).with_name("nmt"), "train", *settings, f"run={run}"],
        env=environment(TMPDIR=str(tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    )
    with process:
        deadline = time.monotonic() + 60
        while not (run / "model.safetensors").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert not list(tmp_path.glob("nmt-*")), "nothing that a kill would leave"
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert out == b""
    assert b"Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["run"], "temporary files are gone"
    assert nmt("translate", run, stdin=b"ka\n").code == 0
    assert nmt("evaluate", run, "--source", toy / "rev.dev.src", "--reference", toy / "rev.dev.trg").code == 0


def test_diverging_is_no_success(toy: Path, tmp_path: Path) -> None:
    """D10: exit code 1, and no dead weights are called the best."""
    fatal = ("optimizer.lr=1e30", "train.clip_norm=0", "schedule.warmup=0", "train.bad_steps=3", "train.updates=50")
    done = nmt("train", *SHORT, *data(toy, "rev", "train"), *RECURRENT, *fatal, f"run={tmp_path / 'run'}")
    assert (done.code, done.out) == (1, "")
    assert "non-finite" in done.err
    assert "Traceback" not in done.err


def test_best_is_the_extreme_of_its_column(toy: Path, tmp_path: Path) -> None:
    """E05, E14."""
    for metric, extreme in (("loss", min), ("chrf", max)):
        run = tmp_path / metric
        train(
            run,
            *data(toy, "rev", "train"),
            *RECURRENT,
            f"train.metric={metric}",
            "train.updates=24",
            "train.valid_every=3",
        )
        events = [event for event in map(json.loads, read(run / "metrics.jsonl")) if event["event"] == "valid"]
        values = [event[metric] for event in events]
        assert len(values) == 8
        assert [event["better"] for event in events] == [
            v == extreme(values[: i + 1]) and v not in values[:i] for i, v in enumerate(values)
        ]


def test_scripts_door_from_another_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "train.py"), "train.updates=x"],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_a_training_that_diverges_before_a_validation(toy: Path, tmp_path: Path) -> None:
    """D10: search would have no token to choose; the loop counts bad updates and says what there is (exit code 1)."""
    steep = ("optimizer=sgd", "optimizer.lr=1e30", "train.clip_norm=0", "schedule.warmup=0")
    bad = ("train.valid_every=1", "train.updates=20", "train.bad_steps=4")
    done = nmt("train", *SHORT, *data(toy, "rev", "train"), *RECURRENT, *steep, *bad, f"run={tmp_path / 'run'}")
    assert done.code == 1, done.err
    assert "training diverged" in done.err.splitlines()[-1]
    assert "last.safetensors is the newest checkpoint" in done.err.splitlines()[-1]
