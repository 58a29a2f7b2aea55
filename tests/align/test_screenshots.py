"""scripts/screenshots.py: README's pictures stay small, and show a page whose scripts have run."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from nmt.align.export import write_export
from nmt.align.record import Record, View, make_header

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def script() -> Iterator[ModuleType]:
    sys.path.insert(0, str(SCRIPTS))
    import screenshots

    yield screenshots
    sys.path.remove(str(SCRIPTS))


def test_a_picture_becomes_small_enough_and_stays_a_picture(script: ModuleType) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (40, 200, 3), dtype=np.uint8)
    content = script.small(Image.fromarray(noise), limit=3_000)
    assert len(content) <= 3_000
    made = Image.open(io.BytesIO(content))
    assert made.width / made.height == pytest.approx(5, rel=0.02)
    plain = Image.new("RGB", (800, 300), "#0b2f73")
    same = Image.open(io.BytesIO(script.small(plain))).convert("RGB")
    assert (same.size, same.getpixel((400, 150))) == ((800, 300), (0x0B, 0x2F, 0x73))
    with pytest.raises(ValueError, match="as few as 10 bytes"):
        script.small(plain, limit=10)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_a_screenshot_is_of_the_line_that_the_link_names(script: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<script>document.documentElement.style.background = location.hash == '#7' ? '#0f0' : '#f00'</script>"
    )
    with Image.open(script.screenshot(page, 7, tmp_path)) as image:
        picture = image.convert("RGB")
    assert (picture.size, picture.getpixel((700, 450))) == ((1400, 900), (0, 255, 0))


def test_both_pictures_of_a_readme(
    script: ModuleType,
    make_record: Callable[[int, str, str], Record],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        header = make_header(
            run=name, views=[View("attention", 0, 0, 0)], links="argmax", source_tokenizer="", target_tokenizer=""
        )
        write_export("npz", Path(f"{name}.npz"), iter([make_record(0, "ka lo", "AK OL")]), header)
    monkeypatch.setattr(sys, "argv", ["screenshots.py", "one.npz", "two.npz", "--line", "1", "--output", "out"])
    shots: list[tuple[str, int]] = []

    def screenshot(page: Path, line: int, folder: Path) -> Path:
        shots.append((page.read_text(encoding="utf-8")[:15].lower(), line))
        Image.new("RGB", (14, 9)).save(folder / "page.png")
        return folder / "page.png"

    monkeypatch.setattr(script, "screenshot", screenshot)
    script.main()
    assert shots == [("<!doctype html>", 1)]
    with Image.open("out/heatmap_grid.png") as grid, Image.open("out/inspector.png") as page:
        assert grid.width > page.width == 14
    assert capsys.readouterr().out.count(" bytes\n") == 2
    monkeypatch.setattr(sys, "argv", ["screenshots.py", "gone.npz"])
    with pytest.raises(SystemExit, match="2"):
        script.main()
