"""The command's surface: what answers without work, exit codes, and what goes to which stream."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import nmt
from nmt.cli.main import COMMANDS, Parser, main
from nmt.cli.overrides import split_overrides
from nmt.errors import Unsuccessful, UserError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[argparse.Namespace], int]], None]:
    """Puts a function of the test in the place of `nmt aer`, whose only argument is then --number."""

    def replace(run: Callable[[argparse.Namespace], int]) -> None:
        module = SimpleNamespace(
            SUMMARY="a test", add_arguments=lambda parser: parser.add_argument("--number", type=int), run=run
        )
        monkeypatch.setitem(sys.modules, "nmt.cli.aer", module)

    return replace


def raising(error: BaseException) -> Callable[[argparse.Namespace], int]:
    def run(arguments: argparse.Namespace) -> int:
        raise error

    return run


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", env={**os.environ, **environment}
    )


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_overview_names_every_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    output = capsys.readouterr()
    assert output.err == ""
    assert all(f"  {name} " in output.out for name in COMMANDS)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"nmt {nmt.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["bogus"]])
def test_surface_loads_nothing_heavy_and_leaves_nothing(arguments: list[str], tmp_path: Path) -> None:
    heavy = ("torch", "numpy", "hydra", "omegaconf", "matplotlib", "datasets", "sacrebleu", "rich")
    code = f"import sys; from nmt.cli.main import main; main({arguments}); assert not sys.modules.keys() & {{*{heavy}}}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())


def test_importing_the_package_loads_no_torch() -> None:
    assert run_python("import nmt, sys; assert 'torch' not in sys.modules").returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(f"nmt.cli.{name}")
    assert COMMANDS[name].summary == module.SUMMARY, "the overview and the command must say the same"
    assert main([name, "--help"]) == 0
    assert f"nmt {name}" in capsys.readouterr().out


def test_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tarin", "x=1"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("nmt: error: unknown command 'tarin'; did you mean 'train'?")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--number", "x"], ["--numbr", "1"], ["--numb", "1"], ["stray"], ["--number"]])
def test_wrong_arguments_are_one_line(
    arguments: list[str], command: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    command(lambda arguments: 0)
    assert main(["aer", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("nmt: error: ")
    assert output.err.endswith("(see `nmt aer --help`)\n")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (UserError("line 3\nof file F is bad"), 2, "nmt: error: line 3 of file F is bad\n"),
        (
            FileNotFoundError(2, "No such file or directory", "f.txt"),
            2,
            "nmt: error: f.txt: No such file or directory\n",
        ),
        (Unsuccessful("training diverged"), 1, "nmt: error: training diverged\n"),
        (OSError("disk is full"), 2, "nmt: error: disk is full\n"),
        (KeyboardInterrupt(), 130, ""),
        (SystemExit(7), 7, ""),
    ],
)
def test_what_goes_wrong_becomes_a_line_and_a_code(
    error: BaseException, code: int, text: str, command: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    command(raising(error))
    assert main(["aer"]) == code
    assert capsys.readouterr() == ("", text)


@pytest.mark.parametrize("arguments", [["--debug", "aer"], ["aer", "--debug"]])
def test_debug_adds_the_traceback(
    arguments: list[str], command: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    command(raising(UserError("bad")))
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert error.endswith("nmt: error: bad\n")


def test_our_own_mistakes_are_not_hidden(command: Callable[..., None]) -> None:
    command(raising(AssertionError("ours")))
    with pytest.raises(AssertionError, match="ours"):
        main(["aer"])


def test_exit_code_is_the_commands(command: Callable[..., None]) -> None:
    command(lambda arguments: arguments.number)
    assert main(["aer", "--number", "1"]) == 1


def test_sigterm_unwinds_and_gives_143(command: Callable[..., None]) -> None:
    tidied = []

    def run(arguments: argparse.Namespace) -> int:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        finally:
            tidied.append(True)
        return 0

    before = signal.getsignal(signal.SIGTERM)
    command(run)
    assert main(["aer"]) == 143
    assert tidied == [True]
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_closed_pipe_is_quiet() -> None:
    code = (
        "import sys; from types import SimpleNamespace as N; from nmt.cli.main import main\n"
        "def run(a):\n  while True: print('x' * 1000)\n"
        "sys.modules['nmt.cli.aer'] = N(SUMMARY='', add_arguments=lambda p: None, run=run); sys.exit(main(['aer']))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_results_are_utf8_in_any_locale() -> None:
    code = (
        "import sys; from types import SimpleNamespace as N; from nmt.cli.main import main\n"
        "def run(a):\n  print('señor 漢'); return 0\n"
        "sys.modules['nmt.cli.aer'] = N(SUMMARY='', add_arguments=lambda p: None, run=run); sys.exit(main(['aer']))"
    )
    done = run_python(code, PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert (done.returncode, done.stdout) == (0, "señor 漢\n")


@pytest.mark.parametrize(
    ("given", "ordinary", "overrides"),
    [
        ("RUN -o out", "RUN -o out", ""),
        ("RUN search.beam_size=1 device=cpu", "RUN", "search.beam_size=1 device=cpu"),
        ("RUN --json a.b=1", "RUN --json", "a.b=1"),
        ("RUN -o a=b", "RUN -o a=b", ""),
        ("RUN -o a=b c=d", "RUN -o a=b", "c=d"),
        ("RUN here=1", "RUN here=1", ""),
        ("here=1 a=1", "here=1", "a=1"),
        ("a=1 RUN", "a=1 RUN", ""),
        ("a=1 --json", "a=1 --json", ""),
        ("./x=1", "./x=1", ""),
        ("--out=a=b", "--out=a=b", ""),
        ("attention/score=dot", "", "attention/score=dot"),
    ],
)
def test_overrides_stand_last_and_are_no_paths(
    given: str, ordinary: str, overrides: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here=1").touch()
    monkeypatch.chdir(tmp_path)
    parser = Parser()
    parser.add_argument("-o", "--out")
    parser.add_argument("--json", action="store_true")
    assert split_overrides(parser, given.split()) == (ordinary.split(), overrides.split())


def test_train_gets_its_arguments_raw(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[argparse.Namespace] = []
    module = SimpleNamespace(SUMMARY="", add_arguments=lambda parser: None, run=lambda a: seen.append(a) or 0)
    monkeypatch.setitem(sys.modules, "nmt.cli.train", module)
    assert main(["train", "-m", "seed=1,2", "--debug", "+x=1"]) == 0
    assert seen[0].overrides == ["-m", "seed=1,2", "+x=1"]


@pytest.mark.parametrize("door", ["train", "translate", "evaluate", "align"])
def test_scripts_are_doors_to_the_commands(door: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / f"{door}.py"), "--help"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"nmt {door}" in done.stdout
