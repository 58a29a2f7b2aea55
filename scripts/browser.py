"""A headless Chromium, driven by its DevTools protocol over two pipes: no driver, no port, no package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)
KEYS = {
    **{f"Arrow{name}": 37 + i for i, name in enumerate(("Left", "Up", "Right", "Down"))},
    **{"Escape": 27, "Enter": 13, "Home": 36, "End": 35, "Tab": 9},
}


def find_program() -> str | None:
    """The path of a Chromium, None where there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class BrowserError(RuntimeError):
    """The browser refused a command, threw an exception in the page, or did not answer in time."""


class Browser:
    """One page. `log` has what its console said and what it threw, `requests` the addresses that it asked for."""

    def __init__(self, program: str, *, width: int = 1360, height: int = 860, patience: float = 60.0) -> None:
        self.patience = patience
        self.log: list[str] = []
        self.requests: list[str] = []
        self._answers: dict[int, dict[str, Any]] = {}
        self._count, self._buffer = 0, b""
        self._profile = tempfile.TemporaryDirectory(prefix="browser", ignore_cleanup_errors=True)
        self._start([program, *FLAGS, f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}"])
        target = self._send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.command(f"{domain}.enable")

    def _start(self, command: list[str]) -> None:
        """Chromium reads commands at descriptor 3 and answers at 4; dup2 by a shell, since 3 or 4 may be taken here."""
        read_end, self._write = os.pipe()
        self._read, write_end = os.pipe()
        line = f'exec 3<&{read_end} 4>&{write_end}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", line, "browser", *command, "--remote-debugging-pipe", "about:blank"],
            pass_fds=(read_end, write_end),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_end)
        os.close(write_end)

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(timeout=self.patience)
        os.close(self._read)
        os.close(self._write)
        self._profile.cleanup()

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the protocol to the page, and its result."""
        return self._send(method, parameters, self._session)

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file afresh, as by double click, and wait until it is read. log and requests begin anew."""
        self._go("about:blank")
        self.log.clear()
        self.requests.clear()
        self._go(path.resolve().as_uri() + fragment)

    def _go(self, address: str) -> None:
        """Between two pages the protocol may have none to ask: that is no error yet."""

        def arrived() -> bool:
            with suppress(BrowserError):
                here, state = self.run("[location.href.split('#')[0], document.readyState]")
                return (here, state) == (address.partition("#")[0], "complete")
            return False

        self.command("Page.navigate", url=address)
        self.wait(arrived, address)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        answer = self.command("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, condition: Callable[[], object] | str, what: str = "") -> None:
        """Until a function or a JavaScript expression is true."""
        end = time.monotonic() + self.patience
        while not (self.run(condition) if isinstance(condition, str) else condition()):
            if time.monotonic() > end:
                raise BrowserError(f"not true after {self.patience:g} s: {what or condition}")
            time.sleep(0.01)

    def press(self, key: str) -> None:
        """One key, typed where the focus is."""
        text = key if len(key) == 1 else ""
        code = KEYS.get(key, ord(key[0].upper()))
        parameters = {"key": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        self.command("Input.dispatchKeyEvent", type="keyDown", **parameters)
        self.command("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def move(self, x: float, y: float) -> None:
        """The mouse to a point of the window."""
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """The mouse on the middle of the first element of a CSS selector."""
        script = f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'nearest'}}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"  # noqa: E501
        x, y = self.run(script)
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path: Path) -> None:
        """What the window shows, as a PNG file."""
        path.write_bytes(base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"]))

    def _send(self, method: str, parameters: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        self._count += 1
        own = self._count
        message = {"id": own, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.patience
        while own not in self._answers:
            self._receive(end, method)
        answer = self._answers.pop(own)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _receive(self, end: float, method: str) -> None:
        ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
        taken = os.read(self._read, 1 << 16) if ready else b""
        if not taken:
            raise BrowserError(f"{method}: the browser {'has gone' if ready else 'does not answer'}")
        *messages, self._buffer = (self._buffer + taken).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self._note(message["method"], message.get("params", {}))

    def _note(self, event: str, details: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        elif event == "Runtime.consoleAPICalled":
            self.log.append(" ".join(str(part.get("value", part.get("description"))) for part in details["args"]))
        elif event == "Runtime.exceptionThrown":
            found = details["exceptionDetails"]
            self.log.append(found.get("exception", {}).get("description") or found["text"])
        elif event == "Log.entryAdded":
            self.log.append(details["entry"]["text"])
        elif event == "Page.javascriptDialogOpening":
            self.log.append(f"dialog: {details['message']}")
