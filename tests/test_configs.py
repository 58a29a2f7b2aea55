"""Every yaml under configs/ composes and builds: each option of each group, each experiment, each pair that fits."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nmt.build import build
from nmt.compose import compose, compose_values, config_folder, read_values, write_config
from nmt.config import Config, read_config
from nmt.errors import UserError
from nmt.experiment import check_settings
from nmt.model.assemble import check_sizes
from tests.laws.models import AFTER_STEP, CORPUS, OWN, PRESETS

FOLDER = config_folder()
FILES = sorted(str(file.relative_to(FOLDER).with_suffix("")) for file in FOLDER.rglob("*.yaml"))
OPTIONS = [name for name in FILES if "/" in name]
# What an option asks for beside itself
BESIDE = {
    "attention/luong_dot": ("model.decoder.hidden_size=512",),
    "attention/score/dot": ("model.decoder.hidden_size=512",),
    "attention/score/scaled_dot": ("model.decoder.hidden_size=512",),
    "attention/transformer": ("model=transformer",),
    "attention/recurrent_transformer": ("model=recurrent_transformer",),
    "attention/hidden_markov": ("model=hidden_markov",),
    **{name: ("model=transformer",) for name in OPTIONS if name.startswith("position/")},
    "data/hub": ("data.train.path=x",),
}
# What only others begin with, and a corpus that has a test set alone
UNFINISHED = ("data/base", "data/flores200", "tokenizer/base")
FINISHED = [name for name in OPTIONS if name not in UNFINISHED]
WHOLE_RECIPES = (
    *("demo", "multi30k", "iwslt14", "iwslt15", "iwslt2017", "wmt14", "opus100", "opus_books", "tatoeba"),
    *("europarl", "kde4", "bible_nt", "bible_nt_translation"),
)


def build_all(config: Config) -> None:
    """All that a configuration names."""
    check_sizes(config)
    build(config.optimizer, "optimizer", params=[torch.nn.Parameter(torch.zeros(1))])
    assert build(config.schedule, "schedule").factor(1) > 0


@pytest.mark.parametrize("option", FINISHED)
def test_every_option_builds(option: str) -> None:
    group, _, name = option.rpartition("/")
    own = (group == "data" and name in WHOLE_RECIPES) or (group == "experiment" and name != "aligner")
    corpus = () if own else CORPUS
    build_all(compose([*corpus, *BESIDE.get(option, ()), f"{group}={name}"]))


@pytest.mark.parametrize("option", UNFINISHED)
def test_what_is_left_out_is_asked_for(option: str) -> None:
    group, _, name = option.rpartition("/")
    with pytest.raises(UserError, match=rf"{group}\.\w+ must be given"):
        compose([*CORPUS, f"{group}={name}"])


@pytest.mark.parametrize("model", ["recurrent", "recurrent_transformer", "transformer_recurrent"])
def test_only_transformers_are_compiled(model: str) -> None:
    check_settings(compose([*CORPUS, "model=transformer", "train.compile=true"]))
    with pytest.raises(UserError, match=r"train\.compile: the steps of a recurrent .* are not compiled"):
        check_settings(compose([*CORPUS, f"model={model}", "train.compile=true"]))


@pytest.mark.parametrize("setting", ["train.label_smoothing=0.1", "train.r_drop=1"])
def test_a_likelihood_of_whole_targets_is_not_smoothed(setting: str) -> None:
    given = [*CORPUS, "experiment=aligner"]
    check_settings(compose(given))
    with pytest.raises(UserError, match=rf"{setting.partition('=')[0]}: this model is trained by the likelihood"):
        check_settings(compose([*given, setting]))


def test_a_posterior_needs_a_choice() -> None:
    for given in (["experiment=aligner"], ["attention=hard_marginal", "alignment.method=posterior"]):
        check_settings(compose([*CORPUS, *given]))
    for model in ("recurrent", "transformer"):
        with pytest.raises(UserError, match=r"alignment\.method posterior: this model's attention makes no choice"):
            check_settings(compose([*CORPUS, f"model={model}", "alignment.method=posterior"]))


@pytest.mark.parametrize("model", ["recurrent", "transformer"])
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_on_every_model(model: str, preset: str) -> None:
    """With what it needs to fit, where it fits; what cannot be is refused with the reason."""
    given = [*CORPUS, f"model={model}", f"attention={preset}"]
    if model == "recurrent":
        build_all(compose([*given, *OWN.get(preset, ())]))
    elif preset == "transformer":
        build_all(compose(given))
    else:
        with pytest.raises(UserError, match=r"wiring: this decoder has none.*set wiring=null"):
            compose(given)
        without = compose([*given, "wiring=null"])
        if preset == "hard_marginal":
            with pytest.raises(UserError, match=r"reads a mixture.*and one context must enter the residual sum"):
                build_all(without)
        else:
            build_all(without)


def test_a_transformer_needs_something_to_add() -> None:
    given = [*CORPUS, "model=transformer", "attention=none", "attention.feed_summary=false", "wiring=null"]
    with pytest.raises(UserError, match="reads a context of 0 numbers, and the residual sum needs 256"):
        build_all(compose(given))


def test_every_group_has_options() -> None:
    groups = {option.rpartition("/")[0] for option in OPTIONS}
    named = {"data", "tokenizer", "model", "attention", "optimizer", "schedule", "search", "position", "experiment"}
    assert groups == named | {f"attention/{part}" for part in ("score", "window", "normalizer")}
    assert set(FILES) - set(OPTIONS) == {"train"}


def test_a_preset_is_the_models_default() -> None:
    for model in ("recurrent", "transformer"):
        chosen = compose([*CORPUS, f"model={model}"])
        assert chosen.attention == compose([*CORPUS, f"model={model}", f"attention={model}"]).attention


@pytest.mark.parametrize("option", [name for name in OPTIONS if name.startswith("experiment/")])
def test_an_experiment_names_a_run_of_its_own(option: str) -> None:
    name = option.partition("/")[2]
    assert compose([*(CORPUS if name == "aligner" else ()), f"experiment={name}"]).run == f"runs/{name}"


def test_axes_combine() -> None:
    """Bahdanau's wiring with another score; a score is changed by its group alone."""
    config = compose([*CORPUS, "attention=bahdanau", "attention/score=general"])
    assert config.attention["score"]["_target_"].endswith("General")
    assert config.wiring is not None
    assert config.wiring["_target_"].endswith("BeforeStep")
    build_all(config)


@pytest.mark.parametrize("extra", [(), ("model=transformer",), ("data.source_language=no", "data.target_language=on")])
def test_what_a_run_keeps_is_what_was_composed(tmp_path: Any, extra: tuple[str, ...]) -> None:
    values = compose_values([*CORPUS, *extra])
    (tmp_path / "config.yaml").write_text(write_config(values), encoding="utf-8")
    assert read_values(tmp_path / "config.yaml") == values
    assert read_config(read_values(tmp_path / "config.yaml")) == read_config(values)


def test_a_wiring_must_be_named_for_a_recurrent_decoder() -> None:
    given = [*CORPUS, "model=recurrent", "attention=transformer", "attention.heads=2"]
    with pytest.raises(UserError, match=r"model.decoder.wiring is None: a section that names a class"):
        build_all(compose(given))
    build_all(compose([*given, AFTER_STEP]))
