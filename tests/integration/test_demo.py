"""`make demo` as a whole: both models learn the embedded corpus, and their attention finds its gold alignments."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_demo_reaches_what_readme_says(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "demo.py"), "--folder", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line.split("│") for line in done.stdout.splitlines() if "demo_" in line and "│" in line]
    errors = {row[1].strip(): float(row[4]) for row in rows}
    for name in ("demo_recurrent", "demo_transformer"):
        scores = json.loads((tmp_path / name / "evaluation.json").read_text(encoding="utf-8"))
        assert scores["bleu"]["score"] >= 90, (name, scores)
        assert (tmp_path / name / "alignments" / "inspector.html").is_file()
    assert min(errors.values()) <= 0.15, errors
    assert Path(done.stdout.split()[-1]).is_file()
