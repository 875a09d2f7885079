# SPDX-License-Identifier: MIT
"""A real browser for tests: Debian's chromium-shell, spoken to over a pipe (the DevTools protocol), never the network."""
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

CANDIDATES = ("/usr/lib/chromium/chromium-shell", "/usr/bin/chromium", "/usr/bin/chromium-headless-shell")


def find():
    return next((path for path in CANDIDATES if os.access(path, os.X_OK)), None)


class Browser:
    """with Browser() as b: b.open(path); b.value('document.title')"""

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="report-html-")
        down_read, self.down = os.pipe()
        self.up, up_write = os.pipe()
        # Out of the way of 3 and 4, where the browser wants them.
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 50) for fd in (down_read, up_write)]
        os.close(down_read)
        os.close(up_write)

        def place():
            os.dup2(theirs[0], 3)
            os.dup2(theirs[1], 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars",
             f"--user-data-dir={self.profile}", f"--data-path={self.profile}", "about:blank"],
            preexec_fn=place, pass_fds=(3, 4, *theirs), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in theirs:
            os.close(fd)
        self.number, self.pending, self.events, self.session = 0, b"", [], None
        pages = []
        while not pages:
            pages = [t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.send("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.down)
        os.close(self.up)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _message(self, seconds):
        deadline = time.monotonic() + seconds
        while b"\0" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.up], [], [], left)[0]:
                return None
            got = os.read(self.up, 1 << 20)
            if not got:
                raise RuntimeError("the browser ended")
            self.pending += got
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.down, json.dumps(request).encode() + b"\0")
        while True:
            message = self._message(60)
            if message is None:
                raise RuntimeError(f"no answer to {method}")
            if message.get("id") != self.number:
                self.events.append(message)
                continue
            if "error" in message:
                raise RuntimeError(f"{method}: {message['error']['message']}")
            return message["result"]

    def wait(self, event):
        for _ in range(1000):
            if any(e.get("method") == event for e in self.events):
                return
            message = self._message(30)
            if message is None:
                break
            self.events.append(message)
        raise RuntimeError(f"no {event}")

    def open(self, path, width=1280, height=900, dark=False):
        """Show a file; afterwards `complaints` holds what the browser had to say about it."""
        self.events = []
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 700)
        scheme = "dark" if dark else "light"
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("Page.loadEventFired")
        self.value("document.readyState")

    @property
    def complaints(self):
        wanted = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Network.loadingFailed")
        return [e for e in self.events if e.get("method") in wanted]

    @property
    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def value(self, expression):
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def print_media(self):
        self.send("Emulation.setEmulatedMedia", media="print")

    def screenshot(self, path):
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
