"""A small driver of Chromium: its developer tools' protocol over a pair of pipes, and no library between."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: Chromium reads commands from file 3 and answers in file 4, which only a process in between can arrange.
_LAUNCHER: Final = (
    "import os, sys; a, b = (os.dup(int(each)) for each in sys.argv[1:3]); a, b = os.dup(a), os.dup(b);"
    " os.dup2(a, 3); os.dup2(b, 4); os.execvp(sys.argv[3], sys.argv[3:])"
)
_OPTIONS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
)
#: Keys that no text stands for: code, number, text.
_KEYS: Final = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    " ": (32, " "),
}
_READY: Final = "document.readyState === 'complete' && document.documentElement.dataset.ready === 'yes'"
_PATIENCE: Final = 30


def found() -> str | None:
    """The path of a Chromium, if there is one."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """A Chromium that runs."""

    def __init__(self, process: subprocess.Popen[bytes], to: int, back: int) -> None:
        self._process = process
        self._to = to
        self._back = back
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol; its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def rest(self) -> None:
        """Let Chromium work for a hundredth of a second, unless it says something."""
        select.select([self._back], [], [], 0.01)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._back], [], [], _PATIENCE)
            more = os.read(self._back, 1 << 20) if ready else b""
            if not more:
                raise RuntimeError("Chromium says nothing any more")
            self._buffer += more
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def open(self, url: str, *, width: int = 1280, height: int = 800, dark: bool = False, scripts: bool = True) -> Page:
        """A page in a window of its own, loaded.

        Args:
            url: of the page.
            width: of the window, in CSS pixels.
            height: likewise.
            dark: whether dark colours are preferred.
            scripts: whether the page's scripts run.
        """
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call("Emulation.setEmulatedMedia", features=[scheme])
        page.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        page.load(url, ready=_READY if scripts else "document.readyState === 'complete'")
        return page


class Page:
    """One page of a browser."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser = browser
        self._session = session
        self._target = target

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol for this page."""
        return self._browser.call(method, self._session, **params)

    def resize(self, width: int, height: int) -> None:
        """The window's size in CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def load(self, url: str, *, ready: str = _READY) -> None:
        """Go to an address, and wait until the page is ready."""
        self.call("Page.navigate", url=url)
        self.until(ready)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression; a promise's when it is kept."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait for a condition of the page; where it doesn't come, that is an error."""
        for _ in range(_PATIENCE * 30):
            with contextlib.suppress(RuntimeError):  # the page that was asked is gone
                if self.evaluate(f"Boolean({condition})"):
                    return
            self._browser.rest()
        raise AssertionError(f"it never came to this: {condition}")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key and let it go."""
        number, text = _KEYS[key]
        common = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": number}
        modifiers = 8 if shift else 0
        down = {"type": "keyDown" if text else "rawKeyDown", "modifiers": modifiers, **common}
        self.call("Input.dispatchKeyEvent", **down, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", modifiers=modifiers, **common)

    def type(self, text: str) -> None:
        """Type a text."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click what a selector finds first, with a real press of the mouse in its middle."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.evaluate(f"{found}.scrollIntoView({{ block: 'center' }})")
        place = self.evaluate(
            f"(({{ x, y, width, height }}) => [x + width / 2, y + height / 2])({found}.getClientRects()[0])"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")

    def text(self, selector: str = "main") -> str:
        """The visible text of what a selector finds first."""
        found = self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")
        return str(found)

    def problems(self) -> list[str]:
        """Errors and warnings of the page so far, and whatever it asked the network for."""
        self.evaluate("0")
        told = []
        for event in self._browser.events:
            if event.get("sessionId") != self._session:
                continue
            params, method = event.get("params", {}), event["method"]
            if method == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                told.append(details.get("exception", {}).get("description", details["text"]))
            elif method == "Runtime.consoleAPICalled" and params["type"] in {"error", "warning", "assert"}:
                told.append(" ".join(str(each.get("value", each.get("description"))) for each in params["args"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in {"error", "warning"}:
                told.append(params["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    told.append(f"asked for {url}")
        return told

    def screenshot(self, path: Path, *, full: bool = False) -> None:
        """The window as an image, or the whole page."""
        params: dict[str, Any] = {"format": "png"}
        if full:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            params["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
            params["captureBeyondViewport"] = True
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **params)["data"]))

    def close(self) -> None:
        """Close its window."""
        self._browser.call("Target.closeTarget", targetId=self._target)


@contextmanager
def running(path: str) -> Iterator[Browser]:
    """A browser, which ends with the block.

    Args:
        path: of Chromium.
    """
    inward, to = os.pipe()
    back, outward = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [path, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCHER, str(inward), str(outward), *command],
            pass_fds=(inward, outward),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(inward)
        os.close(outward)
        browser = Browser(process, to, back)
        try:
            yield browser
            browser.call("Browser.close")
        finally:
            os.close(to)
            os.close(back)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
