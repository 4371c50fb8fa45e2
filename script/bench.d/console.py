"""The console and the JavaScript package, in Chromium and Node.

Rows, for --only:
  tabs   how much of a core the server takes while the console is open in 20 tabs, all of them visible
  paint  the time to the first paint of the console, by a browser that has nothing of it yet
  size   how many bytes the whole page has, compressed
  liked  1,000 answers of liked() from the local copy, against 1,000 requests one after another
The server is pinned to one core and keeps everything on disk; the browser runs on the other one. Chromium,
Node, and the packages of sdk/js are needed: script/bootstrap installs them."""

import json
import os
import shutil
import subprocess
import sys
import time

import area
import rig

NAMES = ("tabs", "paint", "size", "liked")
TABS = 20
LIKED = 1000
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SDK = os.path.join(ROOT, "sdk", "js")
BROWSER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "console_browser.mjs")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


def need_tools():
    for path in (CHROMIUM, os.path.join(SDK, "node_modules", "playwright-core")):
        if not os.path.exists(path):
            raise rig.Failure(f"there is no {path}; script/bootstrap installs it")
    if shutil.which("node") is None:
        raise rig.Failure("node is not installed; script/bootstrap installs it")
    if not os.path.exists(os.path.join(SDK, "dist", "index.js")):
        subprocess.run(["npm", "run", "build"], cwd=SDK, check=True, capture_output=True)


class Browser:
    """console_browser.mjs; it does one thing for each line that it is sent, and answers a line of JSON."""

    def __init__(self, server):
        argv = ["node", BROWSER, f"http://127.0.0.1:{server.http_port}"]
        self.process = subprocess.Popen(rig.pinned(argv, 1), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "CHROMIUM": CHROMIUM, "no_proxy": "*", "NO_PROXY": "*"})

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise rig.Failure(f"the browser ended at '{words[0]}'")
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Console(area.Area):
    name = "console"

    @staticmethod
    def peer():
        return "itself"

    def with_browser(self, row, measure):
        def attempt():
            need_tools()
            with rig.laud(self.options.laud) as server, Browser(server) as browser:
                measure(server, browser)
        self.attempt([row], attempt)

    def tabs(self):
        row = self.row(what=f"the server's CPU, console in {TABS} tabs", target=1, at_least=False, unit="% of a core")
        seconds = 10 if self.options.quick else 60

        def idle(server):
            before, begun = server.cpu_seconds(), time.monotonic()
            time.sleep(seconds)
            return 100 * (server.cpu_seconds() - before) / (time.monotonic() - begun)

        def measure(server, browser):
            row.peer = idle(server)
            browser.ask("tabs", TABS)
            row.ours = row.value = idle(server)
            asked = browser.ask("asked")
            row.note = f"without a tab {row.peer:.2f} %; {asked / seconds:.0f} requests a second"
            rig.say(f"  {TABS} tabs: {row.value:.2f} % of a core, {asked} requests in {seconds} s")
        self.with_browser(row, measure)

    def paint(self):
        row = self.row(what="first paint, cold", target=300, at_least=False, unit="ms")

        def measure(_server, browser):
            times = [browser.ask("paint") for _ in range(3 if self.options.quick else 15)]
            row.ours = row.value = rig.median(times)
            row.note = f"{min(times):.0f} to {max(times):.0f} ms of {len(times)} visits"
        self.with_browser(row, measure)

    def size(self):
        row = self.row(what="the whole page, compressed", target=150, at_least=False, unit="KB")

        def measure(_server, browser):
            row.ours = row.value = browser.ask("size") / 1000
        self.with_browser(row, measure)

    def liked(self):
        row = self.row(what=f"{LIKED} liked() from the local copy, against requests", target=100, at_least=True, unit="x")

        def measure(_server, browser):
            rates = {"laud": [], "peer": []}
            for _ in range(self.rounds):
                local, asked = browser.ask("liked", LIKED)
                rates["laud"].append(1000 * LIKED / local)
                rates["peer"].append(1000 * LIKED / asked)
            self.compare_rates(row, rates)
            row.note = "answers a second; the peer is the same client with a request for each"
        self.with_browser(row, measure)

    def run(self):
        for name in NAMES:
            if not self.options.only or name in self.options.only:
                getattr(self, name)()


def main():
    parser = area.parser("console", __doc__)
    parser.add_argument("--quick", action="store_true", help="short rounds")
    parser.add_argument("--only", type=area.chosen_from(NAMES), metavar="NAME,NAME", help="only these rows")
    return area.main(Console, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
