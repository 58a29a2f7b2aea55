"""The peer for S1: a plain training loop around Hugging Face's MarianMTModel. Runs in the peer's Python, without nmt.

    python hf_marian.py FOLDER --updates 40 --threads 2

FOLDER holds source.ids and target.ids, a sentence of ids a line, EOS (2) included; padding is 3, there are 8,000 ids.
Batches follow our own rule: pools of 10,000 in random order, sorted by width, max(S, T) x B <= 4,096. An object with
`tokens` (of the target, padding not counted) and `seconds` is printed after each update.

Shape letters: B sentences, S source positions, T target positions, V vocabulary.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

BOS, EOS, PAD, VOCABULARY = 1, 2, 3, 8000
BATCH_TOKENS, POOL = 4096, 10_000
PEAK_RATE, WARM_UP = 3e-3, 400

Sentence = list[int]
Rows = list[tuple[Sentence, Sentence]]


def build() -> MarianMTModel:
    """4+4 layers of 128, 4 heads, feed-forward 256, one table of 8,000 ids. Marian has no pre-norm."""
    sizes = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=128,
        encoder_layers=4,
        decoder_layers=4,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=256,
        decoder_ffn_dim=256,
        activation_function="relu",
        dropout=0.3,
        attention_dropout=0.0,
        activation_dropout=0.0,
        scale_embedding=True,
        max_position_embeddings=256,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        decoder_start_token_id=PAD,
        forced_eos_token_id=None,
    )
    return MarianMTModel(sizes).train()


def read(folder: Path) -> Rows:
    """All pairs of ids."""
    columns = [
        [list(map(int, line.split())) for line in (folder / f"{side}.ids").read_text().splitlines()]
        for side in ("source", "target")
    ]
    return list(zip(*columns, strict=True))


def batches(pairs: Rows) -> Iterator[Rows]:
    """Epoch after epoch, without end."""
    while True:
        order = random.sample(pairs, len(pairs))
        cut: list[Rows] = []
        for first in range(0, len(order), POOL):
            cut += fill(sorted(order[first : first + POOL], key=width))
        random.shuffle(cut)
        yield from cut


def width(pair: tuple[Sentence, Sentence]) -> int:
    """The longer side's tokens."""
    return max(map(len, pair))


def fill(pairs: Rows) -> list[Rows]:
    """Pairs of rising width -> batches within the budget."""
    cut: list[Rows] = []
    for pair in pairs:
        if not cut or width(pair) * (len(cut[-1]) + 1) > BATCH_TOKENS:
            cut.append([])
        cut[-1].append(pair)
    return cut


def pad(rows: list[Sentence]) -> Tensor:
    """Ids [B, longest]."""
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def train(folder: Path, updates: int) -> None:
    """Forward, smoothed cross-entropy, backward, clipping, Adam; no more than any user's loop has."""
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=PEAK_RATE, betas=(0.9, 0.98), eps=1e-9)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: min((done + 1) / WARM_UP, (WARM_UP / (done + 1)) ** 0.5)
    )
    criterion = torch.nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
    made = batches(read(folder))
    began = time.perf_counter()
    for _ in range(updates):
        sources, targets = map(list, zip(*next(made), strict=True))
        source, target = pad(sources), pad(targets)  # [B, S], [B, T]
        start = target.new_full((len(target), 1), PAD)
        logits = model(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            decoder_input_ids=torch.cat([start, target[:, :-1]], dim=1),
            use_cache=False,
        ).logits  # [B, T, V]
        loss = criterion(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        ended = time.perf_counter()
        print(json.dumps({"tokens": sum(map(len, targets)), "seconds": ended - began}), flush=True)
        began = ended


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    torch.set_num_threads(arguments.threads)
    train(arguments.folder, arguments.updates)
