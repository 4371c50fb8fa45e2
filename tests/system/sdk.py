"""The JavaScript package in sdk/js, for the tests that need it: its tools, and its compiled form."""
import fcntl
import os
import shutil
import subprocess

import laud
from laud import Skip, expect

SDK = os.path.join(laud.ROOT, "sdk", "js")
MODULES = os.path.join(SDK, "node_modules")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


def run_in_sdk(*words, seconds=2 * laud.WAIT_SECONDS, environment=None):
    return subprocess.run(words, cwd=SDK, check=False, capture_output=True, text=True, timeout=seconds,
                          env=environment, stdin=subprocess.DEVNULL)


def install():
    """What script/bootstrap could not install is tried once more, then skipped."""
    for name in ("node", "npm"):
        if shutil.which(name) is None:
            raise Skip(f"{name} is not installed; script/bootstrap installs it")
    if os.path.isfile(os.path.join(MODULES, "typescript", "bin", "tsc")):
        return
    done = run_in_sdk("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1")
    if done.returncode != 0:
        raise Skip(f"npm ci in sdk/js: {(done.stderr.strip().splitlines() or ['it failed'])[0]}")


def install_for_tests(name):
    """A package that tests/system/package.json lists; tried once more, then skipped."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise Skip("node and npm are not installed; script/bootstrap installs them")
    if os.path.isdir(os.path.join(laud.HERE, "node_modules", name)):
        return
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--omit=dev", "--fetch-retries=1"], cwd=laud.HERE,
                          check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=2 * laud.WAIT_SECONDS)
    if done.returncode != 0:
        raise Skip(f"npm ci in tests/system: {(done.stderr.strip().splitlines() or ['it failed'])[0]}")


def build():
    """Compiles the package. Two tests may do this at the same time, so they take turns."""
    with open(os.path.join(laud.ROOT, "sdk", "js", "tsconfig.json"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install()
        if not os.path.isdir(os.path.join(SDK, "dist")):
            # Without this the compiler believes that its output is there.
            shutil.rmtree(os.path.join(MODULES, ".cache"), ignore_errors=True)
        run_compiler()


def run_compiler(*options):
    done = run_in_sdk("node", os.path.join(MODULES, "typescript", "bin", "tsc"), *options)
    expect(done.returncode == 0, f"tsc: {done.stdout}{done.stderr}")
