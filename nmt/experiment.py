"""From a checked configuration to a finished run: data, model, training, test scores and an alignment export.

What `nmt train` does; the parts that it joins do not know one another.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from nmt.align.error import alignment_error
from nmt.align.export import write_export
from nmt.align.extract import chosen_view
from nmt.align.links import DEFAULT_RULE
from nmt.align.methods.posterior import check_choice
from nmt.align.pipeline import describe, translation_records
from nmt.align.record import Record
from nmt.align.self_training import check_opposite, write_links
from nmt.build import build
from nmt.config import AlignmentConfig, Config
from nmt.data.files import write_atomically
from nmt.data.filters import Report
from nmt.data.parts import (
    Part,
    check_part,
    has_part,
    links_of_part,
    part_corpus,
    part_links,
    part_name,
    part_pairs,
)
from nmt.data.pharaoh import format_links
from nmt.data.store import PairStore, encode_pairs
from nmt.data.tokenizer import Tokenizer
from nmt.errors import UserError
from nmt.evaluate.scores import Scores, bleu, chrf, evaluate
from nmt.model.assemble import assemble, check_sizes
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import LatentDecoder
from nmt.model.transformer.decoder import TransformerDecoder
from nmt.model.transformer.encoder import TransformerEncoder
from nmt.progress import keep_silent, progress, say
from nmt.run import SIDES, Run
from nmt.train.allocator import keep_freed_memory
from nmt.train.board import check_installed
from nmt.train.distributed import Processes, joined
from nmt.train.guided import make_guide
from nmt.train.loop import Trainer, Validation
from nmt.train.perplexity import token_loss
from nmt.train.summary import summary
from nmt.translator import Translator, choose_device, load

PARTS: tuple[Part, ...] = ("train", "valid", "test")
SAMPLES = 2  # validation sentences shown to people


def run_experiment(values: dict[str, Any], config: Config, resume: bool = False) -> Scores | None:
    """The whole of `nmt train`: `config` is `values` checked; impossible sizes are refused before any data is read.

    resume: go on from the checkpoint of the run that is there, with its tokenizers; start is for new trainings.
    Returns the test scores of the best weights, None where there is no test set.
    """
    model_shape = check_settings(config)
    run = Run(Path(config.run))
    if not resume:
        if config.start is not None:
            check_start(config, Run(Path(config.start)))
        check_makers_of_links(config)
        run.refuse_if_trained(values)
    else:
        check_kept_links(config, run)
        if run.best.is_file():
            run.check_tokenizers()
    with joined(choose_device(config.device), config.train.accumulate) as processes:
        if processes.is_first:
            check_data(config)
        else:
            keep_silent()
        if config.threads:
            torch.set_num_threads(config.threads)
        with tempfile.TemporaryDirectory(prefix="nmt-") as folder:
            trainer, translator = make_trainer(values, config, model_shape, run, Path(folder), processes, resume)
            trainer.train()
        if not processes.is_first:
            return None
    run.load_best(translator.model)
    scores = finish(config, run, translator)
    say(summary(run, trainer.now, config.train.metric))
    return scores


def make_trainer(
    values: dict[str, Any],
    config: Config,
    shape: EncoderDecoder,
    run: Run,
    folder: Path,
    processes: Processes,
    resume: bool,
) -> tuple[Trainer, Translator]:
    """Tokenizers, encoded corpus (in `folder`), network: all that a training needs. The run has its configuration."""
    start = None if resume or config.start is None else Run(Path(config.start))
    source, target = run.tokenizers() if resume else make_tokenizers(config, start, folder, processes)
    links = guiding_links(config, run, processes, resume)
    store = encode_part(config, "train", source, target, folder, config.data.filters.max_pieces, links)
    valid = encode_part(config, "valid", source, target, folder, None)
    read_whole = [valid]
    if has_part(config.data, "test") and part_corpus(config.data, "test").links is not None:
        read_whole.append(encode_part(config, "test", source, target, folder, None))
    check_lengths(shape, store, *read_whole)
    if processes.is_first:
        run.write_config(values)
        if not resume:
            for side in SIDES:
                keep_file(folder / f"{side}.model", run.tokenizer_file(side))
    processes.wait()
    keep_freed_memory()  # from here on: what the tokenizer's training held goes back to the system
    torch.manual_seed(config.seed)
    model = assemble(config, source_vocabulary=len(source), target_vocabulary=len(target)).to(processes.device)
    say(f"{sum(p.numel() for p in model.parameters()):,} parameters; {described(processes)}")
    if start is not None:
        load_start(start, model)
        say(f"starts from {start.path}: its tokenizers and its best weights")
    translator = Translator(model=model, source_tokenizer=source, target_tokenizer=target, config=config, run=run.path)
    trainer = Trainer(
        model=model,
        store=store,
        optimizer=build(config.optimizer, "optimizer", params=list(model.parameters())),
        schedule=build(config.schedule, "schedule"),
        validate=make_validation(config, translator, valid, processes),
        config=config.train,
        run=run,
        seed=config.seed,
        resume=resume,
        processes=processes,
        guide=make_guide(config, shape),
    )
    return trainer, translator


def described(processes: Processes) -> str:
    """What trains."""
    several = f"{processes.size} processes; " if processes.size > 1 else ""
    return f"{several}{torch.get_num_threads()} threads; {processes.device}"


def check_settings(config: Config) -> EncoderDecoder:
    """Build all that the configuration names, without memory; UserError for what does not fit. The model's shape."""
    shape = check_sizes(config)
    build(config.optimizer, "optimizer", params=[torch.nn.Parameter(torch.zeros(1))])
    build(config.schedule, "schedule")
    make_guide(config, shape)
    if config.alignment.full_context and config.train.guided_alignment is None and config.start is None:
        raise UserError("alignment.full_context: only train.guided_alignment trains such weights; give it links")
    if isinstance(shape.decoder, LatentDecoder):
        check_likelihood(config)
    if config.alignment.method == "posterior":
        check_choice(shape)
    if config.train.tensorboard:
        check_installed()
    sides: tuple[object, object] = (shape.encoder, shape.decoder)
    if config.train.compile and not all(isinstance(side, (TransformerEncoder, TransformerDecoder)) for side in sides):
        raise UserError("train.compile: the steps of a recurrent encoder or decoder are not compiled; leave it out")
    return shape


def check_likelihood(config: Config) -> None:
    """Refuse what belongs to a loss of single tokens, where whole targets are trained by their likelihood."""
    for name in ("label_smoothing", "r_drop"):
        if getattr(config.train, name) > 0:
            raise UserError(f"train.{name}: this model is trained by the likelihood of whole targets; set it to 0")


def check_start(config: Config, start: Run) -> None:
    """Refuse, before any data is read, a run to start from whose tokenizers or weights do not fit."""
    if start.path.resolve() == Path(config.run).resolve():
        raise UserError(f"start={start.path}: this is the run to be trained; name another by run=PATH")
    source, target = start.tokenizers()
    with torch.device("meta"):  # shapes without numbers, as in check_sizes: what is loaded into it goes nowhere
        model = assemble(config, source_vocabulary=len(source), target_vocabulary=len(target))
    load_start(start, model)


def load_start(start: Run, model: EncoderDecoder) -> None:
    """The best weights of the run to start from. UserError where they do not fit."""
    try:
        start.load_best(model)
    except UserError as error:
        raise UserError(f"start={error}") from error


def check_makers_of_links(config: Config) -> None:
    """Refuse, before any data is read, what is neither a file of links nor a run that can make them."""
    named = config.train.guided_alignment
    if named is None or Path(named).is_file():
        return
    if not Path(named).is_dir():
        raise UserError(f"train.guided_alignment={named}: there is no such file of links, nor such a run")
    if config.start is None:
        raise UserError(f"train.guided_alignment={named}: links are made by two runs; name the other by start=RUN")
    check_opposite(Path(named), config.data)


def check_kept_links(config: Config, run: Run) -> None:
    """Refuse a run that was guided and has lost its links."""
    named = config.train.guided_alignment
    if named is not None and not (Path(named).is_file() or run.guided.is_file()):
        raise UserError(f"train.guided_alignment={named}: there is no such file of links, nor {run.guided}")


def guiding_links(config: Config, run: Run, processes: Processes, resume: bool) -> Path | None:
    """The file of the training pairs' word links that guide attention, if any does: the one that the configuration
    names, or the run's own, which the first process has two runs make for a new training."""
    named, start = config.train.guided_alignment, config.start
    if named is None or Path(named).is_file():
        return None if named is None else Path(named)
    if processes.is_first and not resume:
        assert start is not None
        settings = [f"device={processes.device}", f"threads={config.threads}"]
        forward, reverse = load(start, settings), load(named, settings)
        with progress("aligning train", unit="pairs") as bar:
            pairs = bar.over(part_pairs(config.data, "train"))
            count = write_links(run.guided, pairs, forward, reverse, config.data.filters.max_pieces)
        say(f"{run.guided}: {count:,} word links by {start} and {named}, symmetrised by {DEFAULT_RULE}")
    processes.wait()
    return run.guided


def check_data(config: Config) -> None:
    """Read every part of the corpus once, with its links; UserError for what is wrong with them."""
    for part in PARTS:
        if has_part(config.data, part):
            check_part(config.data, part)
    guiding = config.train.guided_alignment
    if guiding is not None and Path(guiding).is_file():
        for _ in links_of_part(config.data, "train", Path(guiding)):
            pass


def make_tokenizers(
    config: Config, start: Run | None, folder: Path, processes: Processes
) -> tuple[Tokenizer, Tokenizer]:
    """source.model and target.model, left in `folder`: the first process takes those of `start` or trains them, the
    others get the same."""
    names = ("source.model", "target.model")
    own: list[bytes] = []
    if processes.is_first:
        if start is None:
            train_tokenizers(config, folder)
        else:
            for side in SIDES:
                keep_file(start.tokenizer_file(side), folder / f"{side}.model")
        own = [(folder / name).read_bytes() for name in names]
    files = processes.agree(own)
    if not processes.is_first:
        for name, content in zip(names, files, strict=True):
            write_atomically(folder / name, content)
    return Tokenizer.load(folder / "source.model"), Tokenizer.load(folder / "target.model")


def train_tokenizers(config: Config, folder: Path) -> None:
    """On the training text alone; source.model and target.model are left in `folder`."""

    def lines(side: int) -> Iterator[str]:
        return (pair[side] for pair in part_pairs(config.data, "train"))

    read_by = {"source": (0, 1)} if config.tokenizer.joint else {"source": (0,), "target": (1,)}
    for name, sides in read_by.items():
        Tokenizer.train(
            chain.from_iterable(lines(side) for side in sides),
            model_type=config.tokenizer.model_type,
            vocabulary_size=config.tokenizer.vocabulary_size,
            character_coverage=config.tokenizer.character_coverage,
            byte_fallback=config.tokenizer.byte_fallback,
            normalization=config.tokenizer.normalization,
            path=folder / f"{name}.model",
        )
    if config.tokenizer.joint:
        keep_file(folder / "source.model", folder / "target.model")


def keep_file(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all."""
    write_atomically(target, source.read_bytes())


def encode_part(
    config: Config,
    part: Part,
    source: Tokenizer,
    target: Tokenizer,
    folder: Path,
    max_length: int | None,
    links: Path | None = None,
) -> PairStore:
    """A part of the corpus as ids on disk, with the links of this file if there is one; says what was dropped. Links
    that are only possible count like sure ones."""
    report: Report = Report(part_name(config.data, part))
    own = None if links is None else (line.possible for line in links_of_part(config.data, part, links))
    with progress(f"encoding {part}", unit="pairs") as bar:
        pairs = bar.over(part_pairs(config.data, part))
        store = encode_pairs(
            pairs, source, target, directory=folder / part, max_length=max_length, report=report, links=own
        )
    say(report.describe())
    return store


def check_lengths(model: EncoderDecoder, *stores: PairStore) -> None:
    """Refuse pairs beyond the model's positions now and not in the update, or the validation, that meets them."""
    for store in stores:
        for lengths, longest in (
            (store.source_lengths, model.encoder.longest),
            (store.target_lengths, model.decoder.longest),
        ):
            if longest is not None and lengths.max() > longest:
                raise UserError(
                    f"position.maximum is {longest} and the data have a sentence of {lengths.max()} tokens: raise it "
                    "or lower data.filters.max_pieces (which shortens the training data alone)"
                )


def make_validation(
    config: Config, translator: Translator, store: PairStore, processes: Processes
) -> Callable[[], Validation]:
    """What the loop calls: loss per token over the store, and scores of real translations of the raw text.

    Processes share the translating; the loss is the first one's.
    """
    sources, references = map(list, zip(*part_pairs(config.data, "valid"), strict=True))

    def validate() -> Validation:
        own_loss = (0.0, 0)
        if processes.is_first:
            own_loss = token_loss(translator.model, store, batch_tokens=config.train.batch_tokens)
        loss, tokens = processes.agree(own_loss)
        if not math.isfinite(loss):  # search has nothing to choose by; the loop says what becomes of such a training
            return Validation(loss, tokens, math.nan, math.nan, "", ())
        own = processes.share(sources)
        with progress("validating", unit="lines", total=len(own), shown=processes.is_first) as bar:
            found = translator.translate(own, advance=bar.advance)
        translations = processes.gather([one.text for one in found])
        score = bleu(translations, [references])
        shown = sample_records(translator, sources[:SAMPLES], config.alignment)
        sample = tuple(
            f"{reference}  =>  {record.target}  {format_links(record.links)}".rstrip()
            for reference, record in zip(references, shown, strict=False)
        )
        draw = partial(draw_png, shown[0])
        return Validation(
            loss, tokens, score.score, chrf(translations, [references]).score, score.signature, sample, draw
        )

    return validate


def sample_records(translator: Translator, lines: list[str], alignment: AlignmentConfig) -> list[Record]:
    """A record for each line's best translation, with what it read."""
    return list(
        translation_records(translator, lines, translator.translate(lines), [chosen_view(translator, alignment)])
    )


def draw_png(record: Record) -> bytes:
    """The record's heatmap."""
    from nmt.align.heatmap import draw_heatmap  # half a second of imports that most trainings do without

    with tempfile.TemporaryDirectory(prefix="nmt-") as folder:
        path = Path(folder) / "alignment.png"
        draw_heatmap(record.matrix, path, title=record.source)
        return path.read_bytes()


def finish(config: Config, run: Run, translator: Translator) -> Scores | None:
    """Test scores, translations and alignments of the best weights; None where there is no test set.

    evaluation.json is written last: a run that has it is finished.
    """
    if not has_part(config.data, "test"):
        say("data.test is not given: no test scores and no alignments")
        return None
    pairs = list(part_pairs(config.data, "test"))
    translator.model.eval()
    sources, references = map(list, zip(*pairs, strict=True))
    with progress("translating the test set", unit="lines", total=len(sources)) as bar:
        found = translator.translate(sources, advance=bar.advance)
    translations = [one.text for one in found]
    write_atomically(run.translation, "".join(f"{line}\n" for line in translations).encode())
    views = [chosen_view(translator, config.alignment)]
    records = translation_records(translator, sources, found, views)
    write_export("npz", run.alignment, records, describe(translator, views, links="argmax"))
    scores = evaluate(translations, [references], confidence=True)
    gold = part_links(config.data, "test")
    if gold is not None:
        scores = replace(scores, aer=alignment_error(translator, pairs, gold, config.alignment))
    write_atomically(run.evaluation, (json.dumps(scores.as_dict(), indent=2) + "\n").encode())
    return scores
