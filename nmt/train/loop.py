"""The training loop: batches in, updates of the weights, validations, the best and the newest weights kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import NamedTuple, NoReturn

import torch

from nmt.config import TrainConfig
from nmt.data.feed import Feed, Portion
from nmt.errors import Unsuccessful, UserError
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.progress import Bar, clock, progress, say
from nmt.run import Run, named_tensors
from nmt.train.average import average_weights, weights_in_place
from nmt.train.board import Board
from nmt.train.checkpoint import Progress, read_checkpoint, save_checkpoint
from nmt.train.distributed import Processes
from nmt.train.ema import Ema
from nmt.train.guided import Guide
from nmt.train.interrupt import Interrupted, Interruption
from nmt.train.kept import Kept
from nmt.train.loss import MAX_LOSS, LossSum
from nmt.train.metrics import Metrics, percent
from nmt.train.schedule import Schedule
from nmt.train.update import Updater

NAMED = 10  # pairs of a batch that are named to people
HIGHER_IS_BETTER = {"loss": False, "perplexity": False, "bleu": True, "chrf": True}


class Validation(NamedTuple):
    """Scores on held-out data. loss: -ln p per target token; sample: lines that show a person how it translates;
    picture: draws an alignment of it as PNG."""

    loss: float
    tokens: int
    bleu: float
    chrf: float
    signature: str
    sample: tuple[str, ...]
    picture: Callable[[], bytes] | None = None

    @property
    def perplexity(self) -> float:
        """exp(loss); infinite beyond what a float holds."""
        return math.exp(self.loss) if self.loss < MAX_LOSS or math.isnan(self.loss) else math.inf


class Trainer:
    """Trains until train.updates or train.max_minutes, or until train.patience validations in a row were no better.

    `validate` scores the model as it stands (in evaluation mode); whence its data come is not known here.
    """

    def __init__(
        self,
        *,
        model: EncoderDecoder,
        feed: Feed,
        optimizer: torch.optim.Optimizer,
        schedule: Schedule,
        validate: Callable[[], Validation],
        config: TrainConfig,
        run: Run,
        seed: int,
        resume: bool = False,
        processes: Processes | None = None,
        guide: Guide | None = None,
        judged_by: str = "",
    ) -> None:
        """`processes`: those that train together, and share `feed`; None: this one alone. `guide`: what the pairs'
        links supervise. `judged_by`: what the data that `validate` scores on are known by."""
        self.processes = processes or Processes()
        self.updater = Updater(
            model=model,
            optimizer=optimizer,
            config=config,
            seed=seed,
            processes=self.processes,
            guide=guide,
        )
        self.model = model
        self.feed = feed
        self.optimizer = optimizer
        self.schedule = schedule
        self.validate = validate
        self.config = config
        self.run = run
        self.peaks = [group["lr"] for group in optimizer.param_groups]
        self.ema = Ema(model, config.ema) if config.ema else None
        self.kept = Kept(
            run.last.parent,
            last=config.keep_last,
            best=config.keep_best,
            metric=config.metric,
            higher_is_better=HIGHER_IS_BETTER[config.metric],
        )
        self.interruption = Interruption()
        self.now = Progress(corpus=feed.fingerprint, judged_by=judged_by)
        self.tally = Tally(guided=guide is not None)
        if resume:
            self.processes.after_first(self.go_on)
        if self.processes.is_first:
            self.kept.forget_after(self.now.update)
        board = Board(run.board, after=self.now.update) if config.tensorboard and self.processes.is_first else None
        self.metrics = Metrics(
            run.metrics if self.processes.is_first else None,
            after=self.now.update,
            board=board,
            validated=self.now.validated == self.now.update,
        )
        self.started = time.monotonic() - self.now.seconds
        self.is_late = self.is_over_time()

    def go_on(self) -> None:
        """Take up what the run's checkpoint holds. UserError where it does not fit."""
        checkpoint = read_checkpoint(self.run.last)
        if checkpoint.progress.corpus != self.now.corpus:
            raise UserError(f"{self.run.path}: the training data are not those that this run was trained on")
        if checkpoint.progress.judged_by not in ("", self.now.judged_by):
            raise UserError(f"{self.run.path}: the validation data are not those by which its best weights were chosen")
        if checkpoint.progress.best is not None and not self.run.best.is_file():
            raise UserError(f"{self.run.best} is missing: what comes now might never be better than it was")
        checkpoint.restore(self.model, self.optimizer, self.updater.scaler)
        if self.ema is not None:
            self.ema.restore(checkpoint.path, checkpoint.ema)
        self.feed.restore(checkpoint.feed)
        self.now = replace(checkpoint.progress, judged_by=self.now.judged_by)
        self.schedule.restore(checkpoint.header["schedule"])
        self.tally = Tally.of(checkpoint.header["tally"])
        say(f"going on after update {self.now.update}")

    def train(self) -> None:
        """Raises Unsuccessful when training diverges; the best weights of before stay. A signal saves and ends it."""
        try:
            with (
                self.interruption,
                progress(
                    "training",
                    unit="updates",
                    total=self.config.updates,
                    done=self.now.update,
                    shown=self.processes.is_first,
                    in_log=False,
                ) as bar,
            ):
                self.run_updates(bar)
                self.try_average()
        finally:
            self.metrics.close()
        if self.now.best is None:
            reason = f"no validation gave a finite {self.config.metric}: no best weights were saved"
            raise self.processes.end(Unsuccessful(reason))

    def run_updates(self, bar: Bar) -> None:
        """Update after update, with validations between, until there is a reason to stop."""
        if self.ends():
            why = self.reasons() or [f"train.updates is {self.config.updates}"]
            say(f"already at update {self.now.update}: nothing to train: {'; '.join(why)}")
        self.validate_if_due()
        with closing(self.portions()) as portions:
            for portion in portions:
                self.make_update(portion)
                bar.advance()
                self.is_late = bool(self.processes.largest(self.is_over_time()))
                if self.now.update % self.config.log_every == 0:
                    self.log(bar)
                self.validate_if_due()
                self.end_if_signalled()
                if self.config.save_every and self.now.update % self.config.save_every == 0:
                    self.save()

    def ends(self) -> bool:
        """Whether nothing is left to do."""
        return self.now.update >= self.config.updates or bool(self.reasons())

    def reasons(self) -> list[str]:
        """Why a training ends before train.updates, if it does."""
        found = []
        if self.now.worse >= self.config.patience:
            found.append(f"no better {self.config.metric} in {self.now.worse} validations")
        if self.is_late:
            found.append(f"train.max_minutes, {self.config.max_minutes:g}, are over")
        return found

    def is_over_time(self) -> bool:
        """Whether the training has taken train.max_minutes."""
        return 0 < self.config.max_minutes * 60 <= time.monotonic() - self.started

    def validate_if_due(self) -> None:
        """After every train.valid_every updates and after the last, once."""
        last = self.now.update == self.config.updates or self.is_late
        due = self.now.update % self.config.valid_every == 0 or last
        if not due or self.now.validated == self.now.update:
            return
        self.end_if_signalled()  # what goes on from here validates first
        if self.processes.size > 1:  # which can't be broken off, and may be killed
            self.save()
        self.take_note(self.check(self.averaged()))

    def end_if_signalled(self) -> None:
        """End where any process was told to."""
        self.interruption.number = int(self.processes.largest(self.interruption.number or 0)) or None
        if self.interruption.number is not None:
            self.end_early()

    def end_early(self) -> NoReturn:
        """Save, say how to go on, and unwind the program."""
        self.save()
        say(f"stopped after update {self.now.update}: nmt train resume={self.run.path} goes on")
        raise self.interruption.ending()

    def save(self) -> None:
        """The newest checkpoint, in the place of the one before."""
        self.now.seconds = time.monotonic() - self.started
        feed = self.feed.state()
        if self.processes.is_first:
            save_checkpoint(
                self.run.last,
                self.model,
                self.optimizer,
                self.updater.scaler,
                self.ema,
                self.now,
                feed,
                self.schedule.state(),
                self.tally.state(),
            )

    def portions(self) -> Generator[Portion, None, None]:
        """What each update to be made is made of."""
        with closing(self.feed.updates()) as updates:
            while not self.ends():
                began = time.monotonic()
                portion = next(updates)
                self.tally.waiting += time.monotonic() - began
                self.now.passes = self.feed.passes
                yield portion

    def make_update(self, portion: Portion) -> None:
        """One step of the optimizer on the gradient per target token of all the portion's batches together."""
        self.now.update += 1
        factor = self.schedule.factor(self.now.update)
        for group, peak in zip(self.optimizer.param_groups, self.peaks, strict=True):
            group["lr"] = peak * factor
        sums, norm = self.updater.gradients(portion, self.now.update)
        self.tally.updates += 1
        if math.isfinite(norm) and sums.is_trainable:
            self.now.bad = 0
            self.updater.step()
            if self.ema is not None:
                self.ema.update()
            self.tally.add(sums, norm, portion)
            self.now.tokens += sums.tokens
        else:
            self.skip()
        self.updater.clear()

    def skip(self) -> None:
        """Leave out an update that can't be made; after train.bad_steps in a row, training has failed."""
        self.now.bad += 1
        self.now.skipped += 1
        where = f"update {self.now.update}, {self.spoilt()}"
        say(f"{where}: loss, gradient or perplexity is not finite: skipped ({self.now.bad} in a row)")
        if self.now.bad >= self.config.bad_steps:
            kept = f"{self.run.best} is the last good one" if self.now.best is not None else "no weights were saved"
            if self.run.last.is_file():
                kept += f"; {self.run.last} is the newest checkpoint"
            raise self.processes.end(Unsuccessful(f"training diverged: non-finite loss up to {where}; {kept}"))

    def spoilt(self) -> str:
        """For people: the batches for which an update can't be made; all of it where each loss can, but the gradient
        can't."""
        batches = sorted(self.processes.gather(self.updater.judged()))
        found = [one for one in batches if not one[2]] or batches
        return ", ".join(f"batch {number + 1} ({named_pairs(pairs)})" for number, pairs, _ in found)

    def log(self, bar: Bar) -> None:
        """Means since the last log, and what is left."""
        mean = self.tally.means()
        rate = self.optimizer.param_groups[0]["lr"]
        left = (self.config.updates - self.now.update) * mean.seconds_per_update
        guided = {} if mean.guided is None else {"guided": mean.guided}
        terms = "".join(f"  {name} {value:.3f}" for name, value in guided.items())
        say(
            f"update {self.now.update}/{self.config.updates}  epoch {self.now.passes:.2f}"
            f"  loss {mean.loss:.3f}  nll {mean.nll:.3f}{terms}  lr {rate:.2e}  norm {mean.norm:.2f}"
            f"  {mean.tokens_per_second:,.0f} tokens/s  padding {percent(mean.padding)}"
            f"  waiting {percent(mean.waiting)}  left {clock(left)}"
        )
        bar.advance(
            0, rate=f"{mean.tokens_per_second:,.0f} tokens/s", note=f"epoch {self.now.passes:.2f}  loss {mean.loss:.3f}"
        )
        self.metrics.event(
            event="train",
            **self.place(),
            loss=mean.loss,
            nll=mean.nll,
            **guided,
            learning_rate=rate,
            gradient_norm=mean.norm,
            tokens_per_second=mean.tokens_per_second,
            padding=mean.padding,
            waiting=mean.waiting,
        )
        self.tally = Tally(guided=mean.guided is not None)

    def averaged(self) -> AbstractContextManager[None]:
        """While it is open, the model has the weights that are judged and kept: the moving average, if there is one."""
        return nullcontext() if self.ema is None else self.ema.in_place()

    def check(self, weights: AbstractContextManager[None]) -> Validation:
        """Validate with these weights, in time that is not training's. Whatever ends this early has changed nothing.

        A signal breaks it off where this process is alone; of several each would leave the others waiting.
        """
        began = time.monotonic()
        alone = self.processes.size == 1
        try:
            with weights, self.interruption.breakable() if alone else nullcontext():
                self.model.eval()
                result = self.validate()
        except Interrupted:
            self.end_early()
        self.tally.leave_out(time.monotonic() - began)
        return result

    def try_average(self) -> None:
        """At the end: the mean of the newest kept weights is the run's, if validation finds none better."""
        paths = self.processes.from_first(partial(self.kept.newest, self.config.average))
        if len(paths) < 2:
            if self.config.average:
                say(f"train.average is {self.config.average}: too few weights are kept for a mean, {len(paths)}")
            return
        mean = self.processes.from_first(partial(average_weights, paths))
        value = float(getattr(self.check(weights_in_place(self.model, mean)), self.config.metric))
        better = is_better(value, self.now.best, self.config.metric)
        say(
            f"average of the newest {len(paths)} weights: {self.config.metric} {value:.4f}, "
            f"{'best so far' if better else f'best {self.now.best}'}"
        )
        if better:
            self.now.best = value
            if self.processes.is_first:
                with weights_in_place(self.model, mean):
                    self.run.save_best(dict(named_tensors(self.model)))
            self.save()

    def take_note(self, result: Validation) -> None:
        """Whether it is the best so far; keep the best weights and the newest state."""
        now = self.now
        if now.best is None:
            self.save()  # so that there are never best weights without a state to go on from
        value = float(getattr(result, self.config.metric))
        better = is_better(value, now.best, self.config.metric)
        if better:
            now.best = value
        if is_better(value, now.mark, self.config.metric, self.config.min_delta):
            now.mark, now.worse = value, 0
        else:
            now.worse += 1
        now.validated = now.update
        self.schedule.validated(better)
        if self.processes.is_first:
            with self.averaged():
                if better:
                    self.run.save_best(dict(named_tensors(self.model)))
                self.kept.keep(now.update, value, self.model)
        say(
            f"valid {now.update}  loss {result.loss:.4f}  perplexity {result.perplexity:.2f}  BLEU {result.bleu:.2f}"
            f"  chrF {result.chrf:.2f}  {'best so far' if better else f'best {self.config.metric} {now.best}'}"
        )
        for line in result.sample:
            say(f"  {line}")
        scores = result._asdict()
        del scores["sample"], scores["picture"]
        self.metrics.event(event="valid", **self.place(), **scores, perplexity=result.perplexity, better=better)
        if self.metrics.board is not None and result.picture is not None:
            self.metrics.board.picture(result.picture(), now.update)
        self.save()
        if self.processes.is_first:
            self.kept.prune()
        for reason in self.reasons():
            say(f"{reason}: training stops")

    def place(self) -> dict[str, float]:
        """Where training is."""
        seconds = time.monotonic() - self.started
        return {"update": self.now.update, "epoch": round(self.now.passes, 4), "seconds": round(seconds, 3)}


def named_pairs(numbers: Sequence[int]) -> str:
    """Some pairs of the training data, for people, who count from 1."""
    shown = ", ".join(str(number + 1) for number in numbers[:NAMED])
    more = f" and {len(numbers) - NAMED} more" if len(numbers) > NAMED else ""
    return f"pairs {shown}{more} of train"


def is_better(value: float, best: float | None, metric: str, by: float = 0.0) -> bool:
    """Whether a finite value beats the best so far by more than `by`; one that is not finite never does."""
    if not math.isfinite(value):
        return False
    if best is None:
        return True
    return value > best + by if HIGHER_IS_BETTER[metric] else value < best - by


class Means(NamedTuple):
    """Per target token: loss, nll, guided; norm of the last gradient; rates of training alone; the share of positions
    that are padding, and of the time that training waited for its data."""

    loss: float
    nll: float
    norm: float
    tokens_per_second: float
    seconds_per_update: float
    padding: float
    waiting: float
    guided: float | None


class Tally:
    """Sums since it was made, from which a log line is made. guided: whether there is such a term.

    waiting: seconds for data; updates: all, those that were skipped too; the rest is of the others. positions, filled:
    see `Portion`. Where all were skipped, there are no means: they are nan.
    """

    SUMS = ("loss", "nll", "norm", "waiting", "tokens", "positions", "filled", "updates")  # of a checkpoint

    def __init__(self, *, guided: bool = False) -> None:
        self.began = time.monotonic()
        self.loss = self.nll = self.norm = self.waiting = 0.0
        self.guided = 0.0 if guided else None
        self.tokens = self.positions = self.filled = self.updates = 0

    @classmethod
    def of(cls, state: Mapping[str, float]) -> Tally:
        """The one whose `state` this was."""
        tally = cls()
        tally.began -= state["seconds"]
        for name in cls.SUMS:
            setattr(tally, name, state[name])
        tally.guided = state.get("guided")
        return tally

    def state(self) -> dict[str, float]:
        """For a checkpoint."""
        own = {name: getattr(self, name) for name in self.SUMS}
        guided = {} if self.guided is None else {"guided": self.guided}
        return {**own, **guided, "seconds": time.monotonic() - self.began}

    def add(self, sums: LossSum, norm: float, portion: Portion) -> None:
        """One update that was made."""
        self.loss += float(sums.loss)
        self.nll += float(sums.nll)
        if self.guided is not None and sums.guided is not None:
            self.guided += float(sums.guided)
        self.norm = norm
        self.tokens += sums.tokens
        self.positions += portion.positions
        self.filled += portion.filled

    def leave_out(self, seconds: float) -> None:
        """Time that was not training."""
        self.began += seconds

    def means(self) -> Means:
        """As they stand now."""
        seconds = max(time.monotonic() - self.began, 1e-9)
        tokens = self.tokens or math.nan
        return Means(
            self.loss / tokens,
            self.nll / tokens,
            self.norm if self.tokens else math.nan,
            self.tokens / seconds,
            seconds / max(self.updates, 1),
            1 - self.filled / (self.positions or math.nan),
            self.waiting / seconds,
            None if self.guided is None else self.guided / tokens,
        )
