"""From the command line's overrides, and yaml of the user's own, to a configuration or a line that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.build import build
from nmt.compose import compose, compose_values, demo_folder, override_values, read_values
from nmt.config import read_config
from nmt.errors import UserError
from nmt.model.assemble import check_sizes
from tests.laws.models import CORPUS


def own_groups(folder: Path, name: str, text: str) -> Path:
    """A folder for --config-dir with one yaml in it."""
    file = folder / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return folder


def test_language_no_from_a_file(tmp_path: Path) -> None:
    """C01: YAML makes False of `no`; the error says how to write it; quoted it is what the command line gives."""
    text = "defaults: [files]\nsource_language: {}\ntarget_language: 'on'\nroot: corpus\n"
    folder = own_groups(tmp_path / "a", "data/norwegian", text.format("no"))
    with pytest.raises(UserError, match=r"data.source_language is False .*quote it"):
        compose(["data=norwegian"], folder)
    quoted = own_groups(tmp_path / "b", "data/norwegian", text.format("'no'"))
    from_file = compose(["data=norwegian"], quoted).data
    given = ("data.root=corpus", "data.source_language=no", "data.target_language=on")
    assert from_file == compose(list(given)).data
    assert from_file.source_language == "no"
    assert from_file.train["source"] == "corpus/train.no"


MISSPELT = [
    ("train.patiens=1", r"train.patiens: there is no such key \(did you mean train.patience\?\)"),
    ("train.lerning_rate=1", r"train.lerning_rate: there is no such key; there are .*updates"),
    ("+train.lerning_rate=1", "train.lerning_rate: there is no such key"),
    ("++train.lerning_rate=1", "train.lerning_rate: there is no such key"),
    ("train=5", "train is 5: a section with keys"),
    ("seed=abc", "seed is 'abc': allowed is a whole number"),
    ("train.batch_tokens=-4", "train.batch_tokens is -4"),
    ("model.encoder.dropout=1.5", "model.encoder: dropout is 1.5"),
    ("search.beam_size=0", "search.beam_size is 0"),
    ("batch_size=-4", "batch_size: there is no such key"),
    (
        "attention=bahdanu",
        r"attention=bahdanu: there is no such option \(did you mean bahdanau\?\); there are bahdanau,",
    ),
    ("attention/score=dto", "attention/score=dto: there is no such option .did you mean dot"),
    ("foo", "'foo' is no override: key=value is wanted"),
    ("=3", "'=3' is no override"),
    ("", "'' is no override"),
    ("~train", "train is missing"),
    ("seed=${nope}", r"seed is \$\{nope\}, and there is no nope here: set seed"),
    ("attention=transformer", r"attention.heads is \$\{model.decoder.self_attention.heads\}, and there is no"),
    ("model.encoder.layers=two", "model.encoder.layers is 'two': allowed is a whole number"),
    ("wiring.input_feeding=no", "input_feeding is 'no': allowed is true or false"),
    ("optimizer._target_=os.system", "optimizer._target_ is 'os.system'"),
]


def build_all(override: str) -> None:
    """What `nmt train` does with a configuration before it reads any data."""
    config = compose([*CORPUS, override])
    check_sizes(config)
    build(config.optimizer, "optimizer", params=[])


@pytest.mark.parametrize(("override", "message"), MISSPELT)
def test_mistakes_on_the_command_line(override: str, message: str) -> None:
    """C02, C11: one line that names the key."""
    with pytest.raises(UserError, match=message) as raised:
        build_all(override)
    assert "\n" not in str(raised.value)


def test_mistakes_in_a_file(tmp_path: Path) -> None:
    """C02: a file of the user's own may add keys, and our schema refuses them."""
    folder = own_groups(tmp_path, "experiment/mine", "# @package _global_\ntrain:\n  patiense: 1\n")
    with pytest.raises(UserError, match=r"train.patiense: there is no such key \(did you mean train.patience\?\)"):
        compose([*CORPUS, "experiment=mine"], folder)
    with pytest.raises(UserError, match="no such folder"):
        compose(list(CORPUS), tmp_path / "nowhere")


def test_a_group_of_the_users_own(tmp_path: Path) -> None:
    folder = own_groups(tmp_path / "my, groups=1", "optimizer/plain_sgd", "_target_: torch.optim.SGD\nlr: 0.5\n")
    assert compose([*CORPUS, "optimizer=plain_sgd"], folder).optimizer == {"_target_": "torch.optim.SGD", "lr": 0.5}


@pytest.mark.parametrize(
    "name",
    ["runs/a,b", "runs/a b", "runs/x=y", "runs/it's", 'runs/"q"', "runs/(v2)", "runs/ü", "/r/[1]", "a\\b", "runs/$x"],
)
def test_any_path_may_be_a_value(name: str) -> None:
    """B05: blanks, commas, equal signs and quotes are for Hydra's grammar, not for people."""
    assert compose([*CORPUS, f"run={name}"]).run == name


def test_what_must_be_given() -> None:
    root = r"^data.train.source is .*there is no data.root here: set data.root or data.train.source$"
    for given in ([], ["data.source_language=xx", "data.target_language=yy"]):
        with pytest.raises(UserError, match=root):
            compose(given)
    with pytest.raises(UserError, match=r"^data.\w+_language must be given$"):
        compose(["data.root=x"])


def test_files_follow_from_root_and_languages() -> None:
    data = compose([*CORPUS, "data.valid.source=other.txt"]).data
    assert (data.train["source"], data.train["target"]) == ("corpus/train.xx", "corpus/train.yy")
    assert (data.valid["source"], data.valid["target"]) == ("other.txt", "corpus/valid.yy")


def test_demo_is_found() -> None:
    assert compose(["data=demo"]).data.root == str(demo_folder())


def test_overrides_of_a_run() -> None:
    """The same grammar for a run's plain values; unknown keys are left for the schema."""
    values = compose_values(list(CORPUS))
    changed = override_values(values, ["search.beam_size=2", "run=a,b", "data.source_language=no"])
    assert (changed["search"]["beam_size"], changed["run"]) == (2, "a,b")
    assert changed["data"]["source_language"] == "no"
    assert values["search"]["beam_size"] != 2
    with pytest.raises(UserError, match=r"search.beamsize: there is no such key \(did you mean search.beam_size\?\)"):
        read_config(override_values(values, ["search.beamsize=2"]))
    with pytest.raises(UserError, match="'beam' is no override"):
        override_values(values, ["beam"])


def test_a_file_that_is_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("- 1\n- 2\n", encoding="utf-8")
    with pytest.raises(UserError, match="no configuration"):
        read_values(tmp_path / "config.yaml")
