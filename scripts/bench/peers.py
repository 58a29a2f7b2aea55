"""The peers: installed in a Python of their own, trained on our corpus, vocabulary, sizes and batches.

No code of ours needs them; where one is missing, a line says so.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import corpus, launch
from bench.ours import Measured
from bench.rates import Update, rate, read_hf, read_opennmt

Command = list[str | Path]


class Peer(NamedTuple):
    """packages: what its Python must have; sizes: which it can train; prepare(pairs, run, folder): write what it reads;
    command(python, size, folder, updates, threads); read: its log -> updates."""

    packages: tuple[str, ...]
    sizes: tuple[str, ...]
    prepare: Callable[[Sequence[corpus.Pair], Path, Path], None]
    command: Callable[[Path, str, Path, int, int], Command]
    read: Callable[[str], list[Update]]


def check(name: str, size: str, python: Path) -> dict[str, str]:
    """The versions of what it is made of. SystemExit where it can't train that size or is not installed."""
    peer = PEERS[name]
    if size not in peer.sizes:
        raise SystemExit(f"bench_train: --peer {name} has no --size {size}; it has {', '.join(peer.sizes)}")
    ask = "import json, sys, importlib.metadata as m; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    try:
        done = subprocess.run([python, "-c", ask, *peer.packages], capture_output=True, text=True)
    except OSError as error:
        raise SystemExit(f"bench_train: --peer-python {python}: {error.strerror}") from error
    if done.returncode:
        raise SystemExit(
            f"bench_train: --peer {name} needs {' and '.join(peer.packages)} in {python}, which lacks them"
        )
    versions: dict[str, str] = json.loads(done.stdout)
    return versions


def train(
    name: str, python: Path, size: str, folder: Path, updates: int, threads: int, extra: dict[str, str]
) -> Measured:
    """One training of what `prepare` left in `folder`; `extra` is added to its environment."""
    peer = PEERS[name]
    command = peer.command(python, size, folder, updates, threads)
    outcome = launch.run(command, threads=threads, log=folder / f"{name}.log", extra=extra)
    read = peer.read(outcome.text)
    assert len(read) == updates, f"{folder / name}.log tells of {len(read)} updates, not {updates}"
    return Measured(rate(read), outcome.memory)


def hf_command(python: Path, size: str, folder: Path, updates: int, threads: int) -> Command:
    """Our own loop around its model."""
    script = Path(__file__).with_name("hf_marian.py")
    return [python, script, folder, "--updates", str(updates), "--threads", str(threads)]


def opennmt_command(python: Path, size: str, folder: Path, updates: int, threads: int) -> Command:
    """Its own command, on a configuration that is written here; the threads are OMP_NUM_THREADS's."""
    settings = folder / "opennmt.yaml"
    settings.write_text(json.dumps(opennmt_settings(size, folder, updates), indent=1), encoding="utf-8")
    return [python.with_name("onmt_train"), "-config", settings]


def opennmt_settings(size: str, folder: Path, updates: int) -> dict[str, object]:
    """What its yaml says (JSON is YAML): the sizes of ours, `report_every: 1`, and nothing besides training."""
    common = {
        "data": {"corpus": {"path_src": str(folder / "source.pieces"), "path_tgt": str(folder / "target.pieces")}},
        "src_vocab": str(folder / "vocabulary"),
        "tgt_vocab": str(folder / "vocabulary"),
        "share_vocab": True,
        "src_vocab_size": 8000,
        "tgt_vocab_size": 8000,
        "save_data": str(folder / "opennmt"),
        "save_model": str(folder / "opennmt" / "model"),
        "world_size": 1,
        "gpu_ranks": [],
        "seed": 1,
        "num_workers": 0,
        "bucket_size": 29000,
        "batch_type": "tokens",
        "batch_size": 4096,
        "normalization": "tokens",
        "train_steps": updates,
        "save_checkpoint_steps": updates,
        "report_every": 1,
        "optim": "adam",
        "adam_beta2": 0.98,
        "learning_rate": 0.001,
        "max_grad_norm": 1.0,
        "label_smoothing": 0.1,
        "model_dtype": "fp32",
        "dropout": [0.3],
    }
    return common | OPENNMT_SIZES[size]


OPENNMT_SIZES: dict[str, dict[str, object]] = {
    "s1": {
        "encoder_type": "transformer",
        "decoder_type": "transformer",
        "layers": 4,
        "hidden_size": 128,
        "word_vec_size": 128,
        "heads": 4,
        "transformer_ff": 256,
        "attention_dropout": [0.0],
        "position_encoding": True,
        "param_init": 0.0,
        "param_init_glorot": True,
        "share_embeddings": True,
        "share_decoder_embeddings": True,
    },
    "s2": {
        "encoder_type": "brnn",
        "decoder_type": "rnn",
        "rnn_type": "LSTM",
        "layers": 1,
        "hidden_size": 512,
        "word_vec_size": 512,
        "input_feed": 1,
        "global_attention": "general",
        "bridge": True,
        "param_init": 0.1,
        "param_init_glorot": False,
        "share_embeddings": False,
        "share_decoder_embeddings": False,
    },
}

PEERS = {
    "hf": Peer(("transformers", "torch"), ("s1",), corpus.write_ids, hf_command, read_hf),
    "opennmt": Peer(("opennmt-py", "torch"), ("s1", "s2"), corpus.write_pieces, opennmt_command, read_opennmt),
}
