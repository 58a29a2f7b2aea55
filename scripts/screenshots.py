"""Draw README's two pictures from real exports.

    python scripts/screenshots.py runs/bahdanau runs/luong runs/transformer --line 3 [--inspect runs/transformer]

heatmap_grid.png has the line as every run (or export) reads it, side by side; inspector.png is what a browser shows of
`nmt inspect`, opened at that line. Each stays under 300 kB. Chromium or Chrome has to be there.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

from nmt.cli.main import main as nmt
from nmt.data.files import write_atomically

LIMIT = 300_000  # bytes
WIDEST = 1600  # pixels
WINDOW = "1400,900"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    """Both pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("exports", nargs="+", metavar="RUN|EXPORT", help="for the grid, of the same lines")
    parser.add_argument("--line", type=int, default=1, help="from 1")
    parser.add_argument("--view", action="append", default=[], help="of the grid, as for nmt heatmap")
    parser.add_argument("--inspect", metavar="RUN|EXPORT", help="for the inspector (default: the last of the grid)")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "data" / "figures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nmt-") as folder:
        views = [flag for view in arguments.view for flag in ("--view", view)]
        grid = Path(folder) / "grid.png"
        run_nmt("heatmap", *arguments.exports, "--line", str(arguments.line), *views, "-o", str(grid))
        keep(grid, arguments.output / "heatmap_grid.png")
        page = Path(folder) / "page.html"
        run_nmt("inspect", arguments.inspect or arguments.exports[-1], "-o", str(page))
        keep(screenshot(page, arguments.line, Path(folder)), arguments.output / "inspector.png")


def run_nmt(*arguments: str) -> None:
    """A command of ours, which has said what is wrong where it fails."""
    code = nmt(arguments)
    if code:
        raise SystemExit(code)


def screenshot(page: Path, line: int, folder: Path) -> Path:
    """What a browser shows of the page at the line's link, after the page's scripts have run."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"none of {', '.join(BROWSERS)} is installed")
    picture = folder / "page.png"
    subprocess.run(
        [
            browser,
            "--headless",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium refuses its sandbox to root
            "--hide-scrollbars",
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={WINDOW}",
            "--virtual-time-budget=10000",
            f"--screenshot={picture}",
            f"{page.resolve().as_uri()}#{line}",
        ],
        check=True,
        capture_output=True,
    )
    return picture


def keep(picture: Path, path: Path) -> None:
    """Put the picture there, made small, and say so."""
    with Image.open(picture) as image:
        content = small(image)
    write_atomically(path, content)
    print(f"{path}: {len(content):,} bytes")


def small(image: Image.Image, limit: int = LIMIT) -> bytes:
    """As PNG of at most `limit` bytes: no wider than 1600 pixels, with fewer colours, at last ever smaller."""
    image = image.convert("RGB")
    width = min(image.width, WIDEST)
    while width > 1:
        shrunk = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
        for candidate in (shrunk, shrunk.quantize(256), shrunk.quantize(64)):
            stream = io.BytesIO()
            candidate.save(stream, "PNG", optimize=True)
            if stream.tell() <= limit:
                return stream.getvalue()
        width = width * 4 // 5
    raise ValueError(f"a picture cannot have as few as {limit} bytes")


if __name__ == "__main__":
    main()
