"""scripts/bench_train.py: what it computes from logs and shapes, and that it measures what it says.

The FLOP of a target token of both sizes are known from elsewhere: 14.2 and 57.4 million on Multi30k in 8,000 pieces.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from nmt.compose import compose_values
from nmt.config import Config, read_config
from nmt.model.assemble import assemble

SCRIPTS = Path(__file__).parents[1] / "scripts"
MULTI30K = [(15, 16), (15, 15), (16, 17), (14, 15)]  # lengths with its means, EOS counted


@pytest.fixture(autouse=True, scope="module")
def _on_path() -> Iterator[None]:
    """What a script beside the package sees."""
    sys.path.insert(0, str(SCRIPTS))
    yield
    sys.path.remove(str(SCRIPTS))


def _config(size: str, *more: str) -> Config:
    from bench.ours import overrides

    return read_config(compose_values(overrides(size, Path("data"), Path("run"), 2, more)))


@pytest.mark.parametrize(("size", "known"), [("s1", 14.2), ("s2", 57.4)])
def test_flop_agree_with_the_known_figures(size: str, known: float) -> None:
    from bench.flops import flop_per_token, work_of

    assert flop_per_token(work_of(size, 8000), MULTI30K) / 1e6 == pytest.approx(known, rel=0.01)


@pytest.mark.parametrize("size", ["s1", "s2"])
def test_weights_that_multiply_are_the_model_s_own(size: str) -> None:
    """All matrices of the model that is trained, but for tables (looked up) and what acts once a sentence."""
    from bench.flops import work_of

    vocabulary = 101
    with torch.device("meta"):
        model = assemble(_config(size), source_vocabulary=vocabulary, target_vocabulary=vocabulary)
    tables = {model.encoder.embedding.table.weight, model.decoder.embedding.table.weight}
    matrices = {
        matrix for name, matrix in model.named_parameters() if matrix.dim() > 1 and "bridge" not in name
    } - tables
    matrices.add(model.decoder.projection.weight)  # the table itself where they are tied
    work = work_of(size, vocabulary)
    assert work.source + work.target == sum(matrix.numel() for matrix in matrices)


def test_attention_s_products_by_hand() -> None:
    from bench.flops import Work, flop_per_token

    work = Work(source=2, target=3, source_source=5, target_source=7, target_target=11)
    assert flop_per_token(work, [(1, 2)]) == 6 * (2 * 1 + 3 * 2 + 5 * 1 + 7 * 2 + 11 * 4) / 2


def test_both_sizes_are_what_the_peers_are_given() -> None:
    s1, s2 = _config("s1"), _config("s2")
    for config in (s1, s2):
        assert (config.train.batch_tokens, config.train.accumulate, config.train.label_smoothing) == (4096, 1, 0.1)
        assert (config.tokenizer.model_type, config.tokenizer.joint, config.tokenizer.vocabulary_size) == (
            "bpe",
            True,
            8000,
        )
        assert (config.model.encoder["dropout"], config.model.decoder["dropout"]) == (0.3, 0.3)
        assert config.data.test is None
    for side in (s1.model.encoder, s1.model.decoder):
        assert (side["layers"], side["feedforward_size"], side["pre_norm"]) == (4, 256, True)
        assert side["self_attention"]["heads"] == 4
    assert (s1.model.embedding_size, s1.model.tied) == (128, "all")
    assert (s2.model.embedding_size, s2.model.tied) == (512, "none")
    assert (s2.model.encoder["hidden_size"], s2.model.encoder["cell"], s2.model.encoder["layers"]) == (256, "lstm", 1)
    assert (s2.model.decoder["hidden_size"], s2.model.decoder["cell"], s2.model.decoder["layers"]) == (512, "lstm", 1)
    assert s2.attention["score"]["_target_"].endswith("General")
    assert s2.wiring is not None
    assert s2.wiring["input_feeding"] is True


def test_variants_differ_from_s2_in_one_thing() -> None:
    from bench.sweeps import VARIANTS

    _, additive, alone = (_config("s2", *variant.more) for variant in VARIANTS)
    assert additive.attention["score"]["_target_"].endswith("Additive")
    assert additive.wiring == _config("s2").wiring
    assert alone.wiring == {**(_config("s2").wiring or {}), "input_feeding": False}
    assert alone.attention == _config("s2").attention


def test_sweeps_are_settings_of_ours() -> None:
    from bench.sweeps import SWEEPS

    pairs = [("a b", "c"), ("d", "e f")] * 50
    for make in SWEEPS.values():
        for point in make(pairs):
            assert _config("s1", *point.more).tokenizer.vocabulary_size == point.vocabulary


def test_our_events_become_updates() -> None:
    from bench.rates import Update, read_ours

    events = [
        {"event": "train", "update": 1, "seconds": 2.0, "tokens_per_second": 100.0},
        {"event": "train", "update": 2, "seconds": 2.5, "tokens_per_second": 300.0},
        {"event": "valid", "update": 2, "seconds": 9.0},
    ]
    assert read_ours("\n".join(map(json.dumps, events))) == [Update(200.0, 2.0), Update(150.0, 0.5)]


def test_peers_logs_become_updates() -> None:
    from bench.rates import Update, read_hf, read_opennmt

    line = (
        "[2026-01-01 00:00:00,000 INFO] Step  2/   40; acc: 4.6; ppl: 6704.4; xent: 8.8; lr: 0.00100; "
        "sents:     315; bsz: 3150/3668/315; 2356/2751 tok/s;      6 sec;"
    )
    assert read_opennmt(f"INFO Start training loop\n{line}\nINFO Saving checkpoint") == [Update(3668, 3668 / 2751)]
    assert read_hf('a warning\n{"tokens": 7, "seconds": 0.5}\n') == [Update(7, 0.5)]


def test_the_cold_start_is_ten_seconds_or_a_quarter() -> None:
    from bench.rates import Update, rate, steady

    slow = [Update(10, 4.0)] * 12  # two end within ten seconds
    assert len(steady(slow)) == 10
    fast = [Update(0, 1.0)] * 2 + [Update(10, 1.0)] * 6  # all do: a quarter is left out
    assert len(steady(fast)) == 6
    assert rate(fast) == 10


def test_ratio_is_of_medians_and_ranges_over_rounds() -> None:
    from bench.table import Ratio, ratio

    assert ratio([10, 30, 20], [5, 10, 20]) == Ratio(20 / 10, 20 / 20, 30 / 10)


def test_table_of_a_comparison() -> None:
    from bench.table import Side, comparison

    ours = Side("ours", [3000.0, 5000.0, 4000.0], [900.0, 950.4, 800.0])
    peer = Side("hf, tuned", [2000.0, 2000.0, 1000.0], [1500.0, 1600.0, 1400.0])
    assert comparison(ours, [peer], flop=10e6, peak=80e9).splitlines() == [
        "|  | target tokens/s | range | peak memory, MiB | ours to it (rounds) | share of product peak |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| ours | 4,000 | 3,000 to 5,000 | 950 |  | 50% |",
        "| hf, tuned | 2,000 | 1,000 to 2,000 | 1,600 | 2.00 (1.50 to 4.00) | 25% |",
    ]


def test_longer_sentences_and_larger_corpora() -> None:
    from bench.corpus import joined, repeated

    pairs = [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D"), ("e", "E")]
    assert joined(pairs, 2) == [("a b", "A B"), ("c d", "C D")]
    assert repeated(pairs, 7) == [*pairs, *pairs[:2]]
    assert repeated(pairs, 3) == pairs[:3]


def test_the_corpus_is_found_or_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.corpus import find

    monkeypatch.delenv("NMT_DATA", raising=False)
    with pytest.raises(SystemExit, match="--data FOLDER"):
        find(None)
    with pytest.raises(SystemExit, match=r"no train\.en"):
        find(tmp_path)
    inside = tmp_path / "multi30k"
    inside.mkdir()
    for name in ("train.en", "train.de"):
        (inside / name).touch()
    monkeypatch.setenv("NMT_DATA", str(tmp_path))
    assert find(None) == find(tmp_path) == find(inside) == inside


def test_a_peer_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    from bench.peers import check

    with pytest.raises(SystemExit, match=r"needs opennmt-py and torch in .*, which lacks them$"):
        check("opennmt", "s1", Path(sys.executable))
    with pytest.raises(SystemExit, match="--peer hf has no --size s2; it has s1"):
        check("hf", "s2", Path(sys.executable))
    with pytest.raises(SystemExit, match=r"--peer-python .*: No such file"):
        check("hf", "s1", tmp_path / "python")


def test_memory_of_a_process_is_its_peak(tmp_path: Path) -> None:
    from bench.launch import run

    def peak(mebibytes: int) -> float:
        code = f"import time; held = bytearray({mebibytes} << 20); del held; time.sleep(0.2); print('done')"
        outcome = run([sys.executable, "-c", code], threads=1, log=tmp_path / "log")
        assert outcome.text == "done\n"
        return outcome.memory

    assert peak(101) - peak(1) == pytest.approx(100, abs=5)


def test_children_see_no_allocator_settings_but_those_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.launch import run

    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    code = "import os; print(sorted(n for n in os.environ if n.startswith('MALLOC')), os.environ['OMP_NUM_THREADS'])"
    command = [sys.executable, "-c", code]
    assert run(command, threads=3, log=tmp_path / "log").text == "[] 3\n"
    given = run(command, threads=3, log=tmp_path / "log", extra={"MALLOC_TOP_PAD_": "1"})
    assert given.text == "['MALLOC_TOP_PAD_'] 3\n"


def test_a_child_that_fails_is_quoted(tmp_path: Path) -> None:
    from bench.launch import run

    with pytest.raises(SystemExit, match=r"exit code 3 of .*\nwhy it failed$"):
        run([sys.executable, "-c", "print('why it failed'); raise SystemExit(3)"], threads=1, log=tmp_path / "log")


def test_timers_count_a_nested_call_once_and_the_rest_as_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench import timed_train

    now = [0.0]

    def work(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(timed_train, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    clock = timed_train.Clock()
    inner = clock.timed(lambda: work(2), "data")
    outer = clock.timed(lambda: (inner(), work(3)), "backward")
    for _ in range(2):
        inner()
        outer()
        work(7)
        clock.begin_step()
        work(11)
        clock.end_step()
    assert clock.parts() == {"data": 2, "forward": 7, "backward": 5, "optimizer": 11}  # of the second update


@pytest.mark.slow
def test_ours_alone_from_the_command_line(nmt_data: Path) -> None:
    command = [sys.executable, SCRIPTS / "bench_train.py", "--data", nmt_data, "--updates", "4", "--rounds", "1"]
    done = subprocess.run([*command, "--threads", "1"], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert "14.2 MFLOP a target token" in done.stdout
    assert "| ours |" in done.stdout
    assert "time of ours: data " in done.stdout
