# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's chromium without a window, driven by the DevTools protocol through two pipes
(https://chromedevtools.github.io/devtools-protocol/): JSON messages, each ended by a zero byte.

    with Browser(folder) as browser:
        page = browser.open(path, "#fragment", script=True)
        page.evaluate("document.title")

A page notes what its console said, which errors it threw and which addresses it asked for."""
import base64
import json
import os
import select
import subprocess
import time

ANSWER_WITHIN = 60


class Browser:
    def __init__(self, folder):
        to_browser, ours = os.pipe()
        self.answers, from_browser = os.pipe()
        # the program wants its pipes as descriptors 3 and 4
        line = ("exec 3<&%d 4>&%d; exec chromium --headless --no-sandbox --disable-gpu "
                "--disable-dev-shm-usage --no-first-run --remote-debugging-pipe "
                "--user-data-dir=%s about:blank" % (to_browser, from_browser, folder))
        self.log = open(os.path.join(str(folder), "browser.log"), "wb")
        self.process = subprocess.Popen(["bash", "-c", line], pass_fds=(to_browser, from_browser),
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env={**os.environ, "HOME": str(folder)})
        os.close(to_browser)
        os.close(from_browser)
        self.requests, self.number, self.rest = ours, 0, b""
        self.pages = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.requests)
        os.close(self.answers)
        self.log.close()

    def receive(self, until):
        while b"\0" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise RuntimeError("chromium does not answer")
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise RuntimeError("chromium has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        page = self.pages.get(message.get("sessionId"))
        if page is not None and "method" in message:
            page.events.append((message["method"], message["params"]))

    def call(self, method, session=None, **parameters):
        self.number += 1
        wanted = {"id": self.number, "method": method, "params": parameters}
        if session:
            wanted["sessionId"] = session
        os.write(self.requests, json.dumps(wanted).encode() + b"\0")
        until = time.monotonic() + ANSWER_WITHIN
        while True:
            message = self.receive(until)
            if message.get("id") == wanted["id"]:
                if "error" in message:
                    raise RuntimeError("%s: %s" % (method, message["error"]))
                return message["result"]
            self.note(message)

    def open(self, path, fragment="", script=True, **media):
        return Page(self, "file://%s%s" % (os.path.abspath(path), fragment), script, media)


class Page:
    def __init__(self, browser, address, script, media):
        self.browser, self.events, self.address = browser, [], address
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target,
                                    flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(domain + ".enable")
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.size(1300, 900)
        self.media(**media)
        self.call("Page.navigate", url=address)
        self.wait("Page.loadEventFired")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def wait(self, method):
        until = time.monotonic() + ANSWER_WITHIN
        while not any(name == method for name, _ in self.events):
            self.browser.note(self.browser.receive(until))

    def media(self, scheme="light", kind="screen"):
        self.call("Emulation.setEmulatedMedia", media=kind,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def evaluate(self, expression):
        """The value of an expression; promises are waited for."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                         awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError("%s: %s" % (expression, done["exceptionDetails"]))
        return done["result"].get("value")

    def key(self, name, text=None, code=0):
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, windowsVirtualKeyCode=code,
                  **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def complaints(self):
        """What the console said and what was thrown."""
        return [str(p)[:400] for name, p in self.events
                if name in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown",
                            "Log.entryAdded")]

    def requests(self):
        return [p["request"]["url"] for name, p in self.events
                if name == "Network.requestWillBeSent"]

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)

    def screenshot(self, path, width, height, scale=1):
        self.size(width, height, scale)
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
