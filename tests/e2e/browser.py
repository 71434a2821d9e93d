# SPDX-License-Identifier: GPL-2.0-or-later
"""Headless Chromium, driven through its debugging pipe: a person who looks,
clicks and types."""

import json
import os
import select
import time

import harness as h

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Chromium reads commands from descriptor 3 and answers on 4.
WITH_PIPE = 'exec "$0" "$@" 3<&%d 4>&%d'
KEYS = {"Escape": 27, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40}


class Browser:
    def __init__(self, case, width=1200, height=800):
        program = next(filter(h.shutil.which, NAMES), None)
        if not program:
            raise h.Skip("chromium isn't installed")
        h.need("bash")
        theirs_in, self.to = os.pipe()
        self.answers, theirs_out = os.pipe()
        self.process = case.start(
            ["bash", "-c", WITH_PIPE % (theirs_in, theirs_out), program,
             "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--user-data-dir=" + case.path("chromium.%d" % case.number()),
             "--window-size=%d,%d" % (width, height), "about:blank"],
            stdin=h.subprocess.DEVNULL, pass_fds=(theirs_in, theirs_out))
        os.close(theirs_in)
        os.close(theirs_out)
        self.left, self.number, self.session = b"", 0, None
        self.events = []
        found = self.ask("Target.createTarget", url="about:blank")
        self.session = self.ask("Target.attachToTarget", flatten=True,
                                targetId=found["targetId"])["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def close(self):
        os.close(self.to)
        os.close(self.answers)

    def _message(self, end):
        while b"\0" not in self.left:
            ready = select.select([self.answers], [], [],
                                  max(0, end - time.monotonic()))[0]
            more = os.read(self.answers, 1 << 20) if ready else b""
            h.check(more, "chromium doesn't answer; it said:\n" +
                    h.shorten(self.process.err))
            self.left += more
        text, self.left = self.left.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **parameters):
        self.number += 1
        wanted = self.number
        command = {"id": wanted, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        end = time.monotonic() + h.PATIENCE
        while True:
            message = self._message(end)
            if message.get("id") == wanted:
                h.check("error" not in message, "%s: %s" % (method, message))
                return message["result"]
            self.events.append(message)

    def complaints(self):
        """What has gone wrong in pages, or popped up."""
        self.value("0")
        return [event for event in self.events if event.get("method") in
                ("Runtime.exceptionThrown", "Log.entryAdded",
                 "Page.javascriptDialogOpening")]

    def value(self, expression):
        found = self.ask("Runtime.evaluate", expression=expression,
                         returnByValue=True)
        h.check("exceptionDetails" not in found,
                "%s: %s" % (expression, found))
        return found["result"].get("value")

    def wait(self, expression, wanted):
        end = time.monotonic() + h.PATIENCE
        while True:
            found = self.value(expression)
            if found == wanted:
                return
            if time.monotonic() > end:
                h.check_equal(found, wanted, expression)
            time.sleep(0.02)

    def open(self, address, tag="svg"):
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=address)
        self.wait("document.readyState + location.protocol.slice(0, 5) + "
                  "document.documentElement?.tagName",
                  "complete" + address[:5] + tag)

    def click(self, expression):
        """The middle of what an expression gives."""
        box = self.value("(() => { const b = (%s).getBoundingClientRect();"
                         "return [b.x + b.width / 2, b.y + b.height / 2] })()"
                         % expression)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1],
                     button="left" if kind != "mouseMoved" else "none",
                     clickCount=int(kind != "mouseMoved"))

    def key(self, name, control=False):
        text = {} if len(name) > 1 or control else {"text": name}
        if name == "Enter":
            text = {"text": "\r"}
        code = KEYS.get(name, ord(name[0].upper()))
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name,
                     windowsVirtualKeyCode=code, modifiers=2 * control,
                     **(text if kind == "keyDown" else {}))

    def type(self, text):
        self.ask("Input.insertText", text=text)
