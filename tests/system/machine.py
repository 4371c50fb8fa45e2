"""A machine of its own to install things on: a root file system that writes to memory, and systemd as
its first process, in namespaces of their own. What is installed, started or removed in there is not
seen outside, and nothing of it is left when the test ends."""
import atexit
import concurrent.futures
import ctypes
import os
import subprocess

import laud
from disk import command
from laud import LIBC, Failed, Skip, expect, wait_until

CLONE_NEWNET = 0x40000000
# Of a machine that has much installed, only what is asked for is to be started.
BARE_TARGET = "[Unit]\nRequires=basic.target dbus.service\nAfter=basic.target dbus.service\n"


def cgroup_directory():
    """Where cgroups of this process may be made, in the hierarchy that systemd wants."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    points = [fields[1] for fields in mounts if fields[2] == "cgroup2"]
    if not points:
        raise Skip("there is no cgroup2 file system")
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        own = [line[3:].strip() for line in file if line.startswith("0::")]
    return points[0] + own[0].rstrip("/")


class Machine:
    """Above the directory `lower`, which stays as it is; all that changes is in `upper`."""

    def __init__(self, lower="/", bare=True):
        if os.geteuid() != 0:
            raise Skip("only root may boot a machine")
        if not os.access("/lib/systemd/systemd", os.X_OK):
            raise Skip("there is no systemd")
        self.lower = lower
        self.bare = bare
        self.own = laud.temporary_directory()
        self.upper = os.path.join(self.own, "upper")
        self.root = os.path.join(self.own, "root")
        self.cgroup = os.path.join(cgroup_directory(), os.path.basename(self.own))
        self.process = None
        self.first = None
        atexit.register(self.remove)
        self.make_root()

    def make_root(self):
        command("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", self.own)
        work = os.path.join(self.own, "work")
        for path in (self.upper, work, self.root):
            os.mkdir(path)
        command("mount", "-t", "overlay", "overlay", "-o",
                f"lowerdir={self.lower},upperdir={self.upper},workdir={work}", self.root)
        # A machine that must not start services has the first; the second asks for ten seconds of
        # sorting manuals at each installation.
        for name in ("/usr/sbin/policy-rc.d", "/var/lib/man-db/auto-update"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        if self.bare:
            with open(self.path("/etc/systemd/system/bare.target"), "w", encoding="utf-8") as file:
                file.write(BARE_TARGET)

    def path(self, name):
        return self.root + name

    def boot(self):
        os.makedirs(self.cgroup, exist_ok=True)

        def enter():
            laud.die_with_parent()
            with open(os.path.join(self.cgroup, "cgroup.procs"), "w", encoding="ascii") as file:
                file.write("0")

        arguments = ["--unit=bare.target"] if self.bare else []
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--net", "--ipc", "--uts",
             "--cgroup", "--propagation", "private", "sh", os.path.join(laud.HERE, "machine.sh"),
             self.root, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=enter)
        wait_until(self.has_first, "the machine has a first process")
        wait_until(self.is_up, "the machine is up")
        return self

    def has_first(self):
        if self.process.poll() is not None:
            raise Failed("the machine did not start: " + self.process.stderr.read())
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
        self.first = int(children[0]) if children else None
        return self.first and os.readlink(f"/proc/{self.first}/exe").endswith("/systemd")

    def is_up(self):
        expect(self.process.poll() is None, "the machine went down")
        said = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return said in ("running", "degraded")

    def run(self, *command, check=True, seconds=2 * laud.WAIT_SECONDS):
        done = subprocess.run(
            ["nsenter", "--all", "--target", str(self.first), "env", "-i", "DEBIAN_FRONTEND=noninteractive",
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", *command],
            text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False)
        if check and done.returncode != 0:
            raise Failed(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def says(self, *command):
        """Its output, whatever the exit status."""
        return self.run(*command, check=False).stdout.strip()

    def connect(self, port):
        """A RESP connection to a port of the machine, whose loopback is not ours."""
        def enter_and_connect():
            network = os.open(f"/proc/{self.first}/ns/net", os.O_RDONLY)
            try:
                expect(LIBC.setns(network, CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno()))
            finally:
                os.close(network)
            return laud.Connection(port)

        # Only the thread changes networks, and it ends.
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return pool.submit(enter_and_connect).result()

    def added(self):
        """Paths that the directory below does not have."""
        found = set()
        for directory, folders, files in os.walk(self.upper):
            inside = directory[len(self.upper):]
            for name in folders + files:
                path = f"{inside}/{name}"
                if os.path.lexists(self.path(path)) and not os.path.lexists(self.lower + path):
                    found.add(path)
        return found

    def shut_down(self):
        self.run("systemctl", "poweroff", check=False)
        self.process.wait(laud.WAIT_SECONDS)
        self.power_off()

    def power_off(self):
        """As if the plug were pulled; harmless if it does not run."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stderr.close()
            self.process = None
        if os.path.isdir(self.cgroup):
            wait_until(self.is_empty, "nothing runs on the machine")
            for directory, _, _ in os.walk(self.cgroup, topdown=False):
                os.rmdir(directory)

    def is_empty(self):
        with open(os.path.join(self.cgroup, "cgroup.events"), encoding="ascii") as file:
            return "populated 0" in file.read()

    def remove(self):
        self.power_off()
        for path in (self.root, self.own):
            if os.path.ismount(path):
                subprocess.run(["umount", "-l", path], check=False)
