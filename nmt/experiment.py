"""From a checked configuration to a finished run: data, model, training, test scores and an alignment export.

What `nmt train` does; the parts that it joins do not know one another.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
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
from nmt.data.files import check_writable, write_atomically
from nmt.data.parts import (
    has_part,
    part_corpus,
    part_links,
    part_pairs,
)
from nmt.data.pharaoh import format_links
from nmt.data.store import PairStore
from nmt.errors import UserError
from nmt.evaluate.scores import Scores, bleu, chrf, evaluate
from nmt.model.assemble import assemble, check_sizes
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import LatentDecoder
from nmt.model.transformer.decoder import TransformerDecoder
from nmt.model.transformer.encoder import TransformerEncoder
from nmt.prepare import (
    PartDigests,
    check_data,
    check_lengths,
    check_tokenizer,
    encode_part,
    keep_file,
    make_feed,
    make_tokenizers,
)
from nmt.progress import keep_silent, progress, say
from nmt.run import SIDES, Run
from nmt.train.board import check_installed
from nmt.train.distributed import Processes, joined
from nmt.train.guided import make_guide
from nmt.train.loop import Trainer, Validation
from nmt.train.loss import MAX_LOSS
from nmt.train.memory import settle_memory
from nmt.train.perplexity import token_loss
from nmt.train.summary import summary
from nmt.train.torchrun import may_restart, told_once
from nmt.translator import Translator, choose_device, load

SAMPLES = 2  # validation sentences shown to people


def run_experiment(values: dict[str, Any], config: Config, resume: bool = False) -> Scores | None:
    """The whole of `nmt train`: `config` is `values` checked; impossible sizes are refused before any data is read.

    resume: go on from the checkpoint of the run that is there, with its tokenizers, as a job that torchrun may start
    anew does without being told; start is for new trainings. Returns the test scores of the best weights, None where
    there is no test set.
    """
    with told_once():
        model_shape = check_settings(config)
        device = choose_device(config.device)
    run = Run(Path(config.run))
    with ExitStack() as held:
        with joined(device, config.train.accumulate) as processes:
            if not processes.is_first:
                keep_silent()
            resume = processes.from_first(partial(hold, values, config, run, resume, held))
            digests = processes.from_first(partial(check_data, config))
            if config.threads:
                torch.set_num_threads(config.threads)
            with tempfile.TemporaryDirectory(prefix="nmt-") as folder:
                trainer, translator = make_trainer(
                    values, config, model_shape, run, Path(folder), digests, processes, resume
                )
            trainer.train()
            if not processes.is_first:
                return None
        if config.data.streaming:  # other corpora have been read whole, and this was told then
            say(f"{trainer.feed.report.describe()}, of what was read")
        run.load_best(translator.model)
        scores = finish(config, run, translator)
        say(summary(run, trainer.now, config.train.metric))
    return scores


def hold(values: dict[str, Any], config: Config, run: Run, resume: bool, held: ExitStack) -> bool:
    """Keep other trainings out of the run, until `held` is closed; whether this one goes on there. UserError, before
    any data is read, where there is one, or this one can't begin, or go on."""
    if not resume:
        check_writable(run.config_file)
    held.enter_context(run.locked())
    resume = resume or (may_restart() and is_begun(run, values))
    if resume:
        check_kept_links(config, run)
        if run.best.is_file():
            run.check_tokenizers()
    else:
        if config.start is not None:
            check_start(config, Run(Path(config.start)))
        check_makers_of_links(config)
        run.refuse_if_trained(values)
    if run.config_file.is_file():
        run.sweep()
    return resume


def is_begun(run: Run, values: dict[str, Any]) -> bool:
    """Whether these very settings have a checkpoint."""
    return run.last.exists() and run.config_file.is_file() and run.values() == values


def make_trainer(
    values: dict[str, Any],
    config: Config,
    shape: EncoderDecoder,
    run: Run,
    folder: Path,
    digests: PartDigests,
    processes: Processes,
    resume: bool,
) -> tuple[Trainer, Translator]:
    """Tokenizers (by way of `folder`), encoded corpus, network: all that a training needs. The run has its
    configuration."""
    start = None if resume or config.start is None else Run(Path(config.start))
    source, target = tokenizers = (
        processes.after_first(run.tokenizers) if resume else make_tokenizers(config, start, folder, processes)
    )
    links = guiding_links(config, run, processes, resume)
    encode = partial(encode_part, config, tokenizers=tokenizers, digests=digests, processes=processes)
    store = None if config.data.streaming else encode("train", links=links)
    valid = encode("valid")
    read_whole = [valid] if store is None else [store, valid]
    if has_part(config.data, "test") and part_corpus(config.data, "test").links is not None:
        read_whole.append(encode("test"))
    processes.from_first(partial(check_lengths, config, shape, *read_whole))
    if not resume:
        processes.from_first(partial(begin, run, values, folder))
    settle_memory()  # from here on: what the tokenizer's training held has gone back to the system
    torch.manual_seed(config.seed)
    model = assemble(config, source_vocabulary=len(source), target_vocabulary=len(target)).to(processes.device)
    say(f"{sum(p.numel() for p in model.parameters()):,} parameters; {described(processes)}")
    if start is not None:
        processes.after_first(partial(load_start, start, model))
        say(f"starts from {start.path}: its tokenizers and its best weights")
    translator = Translator(model=model, source_tokenizer=source, target_tokenizer=target, config=config, run=run.path)
    trainer = Trainer(
        model=model,
        feed=make_feed(config, tokenizers, store, processes),
        optimizer=build(config.optimizer, "optimizer", params=list(model.parameters())),
        schedule=build(config.schedule, "schedule"),
        validate=make_validation(config, translator, valid, processes),
        config=config.train,
        run=run,
        seed=config.seed,
        resume=resume,
        processes=processes,
        guide=make_guide(config, shape),
        judged_by=digests["valid"],
    )
    if resume:  # and its checkpoint has been found to fit
        processes.from_first(partial(go_on, run, values))
    return trainer, translator


def begin(run: Run, values: dict[str, Any], folder: Path) -> None:
    """Write a run's configuration, and its tokenizers from `folder`."""
    run.write_config(values)
    for side in SIDES:
        keep_file(folder / f"{side}.model", run.tokenizer_file(side))


def go_on(run: Run, values: dict[str, Any]) -> None:
    """Write a run's configuration of now; it is not finished any more."""
    run.write_config(values)
    run.evaluation.unlink(missing_ok=True)


def described(processes: Processes) -> str:
    """What trains."""
    several = f"{processes.size} processes; " if processes.size > 1 else ""
    return f"{several}{torch.get_num_threads()} threads; {processes.device}"


def check_settings(config: Config) -> EncoderDecoder:
    """Build all that the configuration names, without memory; UserError for what does not fit. The model's shape."""
    shape = check_sizes(config)
    build(config.optimizer, "optimizer", params=[torch.nn.Parameter(torch.zeros(1))])
    check_schedule(config)
    check_tokenizer(config)
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


def check_schedule(config: Config) -> None:
    """Refuse one that comes to a learning rate of 0 before the training ends."""
    updates = config.train.updates
    if build(config.schedule, "schedule").factor(updates) == 0:
        raise UserError(
            f"train.updates is {updates}: the schedule's learning rate is 0 by then; give schedule.updates the same "
            "number, or a schedule.floor"
        )


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
    named = config.train.guided_alignment
    if named is None or Path(named).is_file():
        return None if named is None else Path(named)
    if not resume:
        processes.from_first(partial(make_links, config, named, run.guided, processes.device))
    return run.guided


def make_links(config: Config, named: str, path: Path, device: torch.device) -> None:
    """Links of the training pairs by two runs, into a file."""
    assert config.start is not None, "check_makers_of_links has seen to it"
    settings = [f"device={device}", f"threads={config.threads}"]
    forward, reverse = load(config.start, settings), load(named, settings)
    with progress("aligning train", unit="pairs") as bar:
        pairs = bar.over(part_pairs(config.data, "train"))
        count = write_links(path, pairs, forward, reverse, config.data.filters.max_pieces)
    say(f"{path}: {count:,} word links by {config.start} and {named}, symmetrised by {DEFAULT_RULE}")


def make_validation(
    config: Config, translator: Translator, store: PairStore, processes: Processes
) -> Callable[[], Validation]:
    """What the loop calls: loss per token over the store, and scores of real translations of the raw text.

    Processes share the translating; the loss is the first one's.
    """
    sources, references = map(list, zip(*part_pairs(config.data, "valid"), strict=True))

    def validate() -> Validation:
        measure = partial(token_loss, translator.model, store, batch_tokens=config.train.batch_tokens)
        loss, tokens = processes.from_first(measure)
        if not loss < MAX_LOSS:  # nor where it is nan: search has nothing to choose by; the loop says what follows
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
