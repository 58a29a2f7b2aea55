"""`nmt train [overrides]`: from raw parallel text to a run with a test score and an alignment export."""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.config import Config
    from nmt.data.filters import Report
    from nmt.data.parts import Part
    from nmt.data.store import PairStore
    from nmt.data.tokenizer import Tokenizer
    from nmt.model.encoder_decoder import EncoderDecoder
    from nmt.run import Run
    from nmt.train.loop import Validation
    from nmt.translator import Translator

SUMMARY = "train a model; ends in test BLEU and an alignment export"
SAMPLES = 2  # validation sentences shown to people


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Everything is Hydra's: group=option and key=value, as listed by --help."""
    parser.usage = "nmt train [--config-dir FOLDER] [--print-config] [group=option ...] [key=value ...]"
    parser.epilog = (
        "Examples: nmt train experiment=demo_recurrent; nmt train data=files data.root=corpus data.source_language=en "
        "data.target_language=de run=runs/mine. --config-dir adds your own configuration groups; --print-config shows "
        "the composed configuration and trains nothing."
    )


def run(arguments: argparse.Namespace) -> int:
    """Check all that can be checked first; then data, model, training, test."""
    from nmt.compose import compose_values, write_config
    from nmt.config import read_config

    flags, overrides = split_flags(arguments.overrides)
    values = compose_values(overrides, flags.config_dir)
    config = read_config(values)
    if flags.print_config:
        print(write_config(values), end="")
        return 0
    train_run(values, config)
    print(config.run)
    return 0


def split_flags(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our two flags, and Hydra's overrides."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config-dir", type=Path)
    parser.add_argument("--print-config", action="store_true")
    flags, rest = parser.parse_known_args(list(arguments))
    unknown = [argument for argument in rest if argument.startswith("-")]
    if unknown:
        raise UserError(f"{unknown[0]}: nmt train takes key=value settings, --config-dir and --print-config")
    return flags, rest


def train_run(values: dict[str, object], config: Config) -> None:
    """The whole of `nmt train` for a checked configuration."""
    import torch

    from nmt.build import build
    from nmt.model.assemble import assemble, check_sizes
    from nmt.run import Run, load_weights
    from nmt.train.allocator import keep_freed_memory
    from nmt.train.loop import Trainer
    from nmt.train.metrics import say
    from nmt.translator import choose_device

    check_sizes(config)
    build(config.optimizer, "optimizer", params=[torch.nn.Parameter(torch.zeros(1))])
    schedule = build(config.schedule, "schedule")
    device = choose_device(config.device)
    run = Run(Path(config.run))
    run.refuse_if_trained(values)
    if config.threads:
        torch.set_num_threads(config.threads)
    keep_freed_memory()
    with tempfile.TemporaryDirectory(prefix="nmt-") as folder:
        source, target = make_tokenizers(config, Path(folder))
        store = encode_part(config, "train", source, target, Path(folder), config.data.max_length)
        valid = encode_part(config, "valid", source, target, Path(folder), None)
        run.write_config(dict(values))
        for side in ("source", "target"):
            keep_file(Path(folder) / f"{side}.model", run.tokenizer_file(side))
        torch.manual_seed(config.seed)
        model = assemble(config, source_vocabulary=len(source), target_vocabulary=len(target)).to(device)
        say(f"{sum(p.numel() for p in model.parameters()):,} parameters; {torch.get_num_threads()} threads; {device}")
        translator = make_translator(config, run, model, source, target)
        Trainer(
            model=model,
            store=store,
            optimizer=build(config.optimizer, "optimizer", params=list(model.parameters())),
            schedule=schedule,
            validate=make_validation(config, translator, valid),
            config=config.train,
            run=run,
            seed=config.seed,
        ).train()
    load_weights(run.best, model)
    finish(config, run, translator)


def make_tokenizers(config: Config, folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Trained on the training text alone; source.model and target.model are left in `folder`."""
    from nmt.data.parts import part_pairs
    from nmt.data.tokenizer import Tokenizer

    def lines(side: int) -> Iterator[str]:
        return (pair[side] for pair in part_pairs(config.data, "train"))

    for name, sides in (
        {"source": (0, 1)}.items() if config.tokenizer.joint else {"source": (0,), "target": (1,)}.items()
    ):
        Tokenizer.train(
            chain.from_iterable(lines(side) for side in sides),
            model_type=config.tokenizer.model_type,
            vocabulary_size=config.tokenizer.vocabulary_size,
            character_coverage=config.tokenizer.character_coverage,
            byte_fallback=config.tokenizer.byte_fallback,
            path=folder / f"{name}.model",
            seed=config.seed,
        )
    if config.tokenizer.joint:
        keep_file(folder / "source.model", folder / "target.model")
    return Tokenizer.load(folder / "source.model"), Tokenizer.load(folder / "target.model")


def keep_file(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all."""
    from nmt.data.files import write_atomically

    write_atomically(target, source.read_bytes())


def encode_part(
    config: Config, part: Part, source: Tokenizer, target: Tokenizer, folder: Path, max_length: int | None
) -> PairStore:
    """A part of the corpus as ids on disk; says what was dropped."""
    from nmt.data.filters import Report
    from nmt.data.parts import part_name, part_pairs
    from nmt.data.store import encode_pairs
    from nmt.train.metrics import say

    report: Report = Report(part_name(config.data, part))
    store = encode_pairs(
        part_pairs(config.data, part), source, target, directory=folder / part, max_length=max_length, report=report
    )
    say(report.describe())
    return store


def make_translator(
    config: Config, run: Run, model: EncoderDecoder, source: Tokenizer, target: Tokenizer
) -> Translator:
    """The model in training as `nmt translate` would open it."""
    from nmt.translator import Translator

    return Translator(
        model=model,
        source_tokenizer=source,
        target_tokenizer=target,
        config=config,
        run=run.path,
    )


def make_validation(config: Config, translator: Translator, store: PairStore) -> Callable[[], Validation]:
    """What the loop calls: loss per token over the store, and scores of real translations of the raw text."""
    from nmt.data.parts import part_pairs
    from nmt.evaluate.scores import bleu, chrf
    from nmt.train.loop import Validation
    from nmt.train.perplexity import token_loss

    sources, references = map(list, zip(*part_pairs(config.data, "valid"), strict=True))

    def validate() -> Validation:
        loss, tokens = token_loss(translator.model, store, batch_tokens=config.train.batch_tokens)
        if not math.isfinite(loss):  # search has nothing to choose by; the loop says what becomes of such a training
            return Validation(loss, tokens, math.nan, math.nan, "", ())
        translations = [translation.text for translation in translator.translate(sources)]
        score = bleu(translations, [references])
        sample = tuple(
            f"{reference}  =>  {text}"
            for reference, text in islice(zip(references, translations, strict=True), SAMPLES)
        )
        return Validation(loss, tokens, score.score, chrf(translations, [references]).score, score.signature, sample)

    return validate


def finish(config: Config, run: Run, translator: Translator) -> None:
    """Test scores, translations and alignments of the best weights."""
    from nmt.align.export import write_export
    from nmt.align.pipeline import align_records
    from nmt.align.record import make_header
    from nmt.data.files import write_atomically
    from nmt.data.parts import has_part, part_pairs
    from nmt.evaluate.scores import evaluate
    from nmt.train.metrics import say

    if not has_part(config.data, "test"):
        say("data.test is not given: no test scores and no alignments")
        return
    pairs = list(part_pairs(config.data, "test"))
    translator.model.eval()
    translations = [translation.text for translation in translator.translate([source for source, _ in pairs])]
    write_atomically(run.translation, "".join(f"{line}\n" for line in translations).encode())
    scores = evaluate(translations, [[reference for _, reference in pairs]], confidence=True)
    write_atomically(run.evaluation, (json.dumps(scores.as_dict(), indent=2) + "\n").encode())
    own = [(source, text) for (source, _), text in zip(pairs, translations, strict=True)]
    alignment = config.alignment
    records = align_records(translator, own, layer=alignment.layer, head=alignment.head, shift=alignment.shift)
    header = make_header(
        run=run.path.resolve().name,
        layer=alignment.layer,
        head=alignment.head,
        shift=alignment.shift,
        links="argmax",
        source_tokenizer=translator.source_tokenizer.digest,
        target_tokenizer=translator.target_tokenizer.digest,
    )
    run.alignment.parent.mkdir(parents=True, exist_ok=True)
    write_export("npz", run.alignment, records, header)
    print(scores)


if __name__ == "__main__":
    from nmt.cli.main import main

    raise SystemExit(main(["train", *sys.argv[1:]]))
