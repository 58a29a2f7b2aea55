"""Test sets by name, from what sacrebleu has downloaded before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.data.corpora.sacrebleu import SacrebleuSet
from nmt.errors import UserError

SHOW = """
from nmt.data.corpora.sacrebleu import SacrebleuSet
corpus = SacrebleuSet(source_language="en", target_language="de", test_set="{name}")
print(corpus.name, corpus.count(), list(corpus.pairs()), list(corpus.pairs(1)))
"""


def shown(folder: Path, name: str) -> str:
    """What a process prints for which $SACREBLEU is the folder: sacrebleu reads it when it is imported."""
    environment = {**os.environ, "SACREBLEU": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", SHOW.format(name=name)], env=environment, capture_output=True, text=True
    )
    return done.stdout + done.stderr


def test_a_set_that_is_there(tmp_path: Path) -> None:
    """In the layout in which sacrebleu keeps its texts; A04: U+2028 ends no line."""
    fields = {"src": "ka\u2028lo\nmi\n", "ref": "AK\nIM\n", "docid": "d\nd\n", "genre": "g\ng\n", "origlang": "e\ne\n"}
    (tmp_path / "wmt18").mkdir()
    for field, text in fields.items():
        (tmp_path / "wmt18" / f"wmt18.en-de.{field}").write_text(text, encoding="utf-8")
    pairs = [("ka\u2028lo", "AK"), ("mi", "IM")]
    assert shown(tmp_path, "wmt18") == f"wmt18 of sacrebleu 2 {pairs} {pairs[1:]}\n"


def test_a_set_that_has_to_be_unpacked(tmp_path: Path) -> None:
    """wmt24 is one XML file, of which sacrebleu makes its texts."""
    raw = tmp_path / "wmt24" / "raw"
    (raw / "wmt24").mkdir(parents=True)
    file = '<dataset id="x"><doc id="d" origlang="en" domain="news"><src lang="en"><p><seg id="1">ka</seg></p></src>'
    file += '<ref lang="de" translator="refA"><p><seg id="1">AK</seg></p></ref></doc></dataset>'
    from sacrebleu.dataset import DATASETS

    dataset = DATASETS["wmt24"]
    place = raw / str(dataset.langpairs["en-de"][0])
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(file)
    for url in dataset.data:
        (raw / dataset._get_tarball_filename(url)).write_text("downloaded before")
    assert shown(tmp_path, "wmt24").endswith("wmt24 of sacrebleu 1 [('ka', 'AK')] []\n")


def test_what_sacrebleu_does_not_know(tmp_path: Path) -> None:
    """At once, with what there is."""
    with pytest.raises(UserError, match=r"sacrebleu has no test set 'wmt14/ful' \(did you mean wmt14/full\?\)"):
        SacrebleuSet(source_language="en", target_language="de", test_set="wmt14/ful").pairs()
    with pytest.raises(UserError, match=r"wmt14 of sacrebleu has no 'en-xx'; it has: .*de-en, en-cs, en-de"):
        SacrebleuSet(source_language="en", target_language="xx", test_set="wmt14").pairs()


@pytest.mark.parametrize("error", [SystemExit(1), OSError("no network"), Exception("No such language")])
def test_a_download_that_fails(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    from sacrebleu.dataset import DATASETS

    def fails(languages: str) -> str:
        raise error

    monkeypatch.setattr(DATASETS["wmt14"], "get_source_file", fails)
    with pytest.raises(UserError, match=rf"wmt14 of sacrebleu could not be downloaded or unpacked: {error}"):
        SacrebleuSet(source_language="en", target_language="de", test_set="wmt14").pairs()
