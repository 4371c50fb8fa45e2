"""A limit of memory that the kernel enforces on a server: a memory cgroup of the test's own where one can
be made, RLIMIT_DATA where not. LAUD_NO_CGROUP=1 asks for the latter."""
import atexit
import contextlib
import os
import resource
import subprocess
import tempfile

from laud import expect_equal

MIB = 1 << 20
# What the kernel charges to a group beside what is resident, and cannot take back (pages of files it
# can): sockets, page tables, the kernel's stacks of threads. Measured here (memory.kmem.max_usage_in_bytes):
# 1.7 KiB a connection and 1 to 2 MiB for the rest. Version 2 counts what is in sockets, too.
KERNEL_BYTES = 4 * MIB
CONNECTION_BYTES = 4096


def read(*path):
    with open(os.path.join(*path), encoding="ascii") as file:
        return file.read()


def write(value, *path):
    with open(os.path.join(*path), "w", encoding="ascii") as file:
        file.write(str(value))


class Group:
    """A cgroup of version 1 or 2 whose processes get so much memory, no swap, and are killed past it."""

    FILES = {"cgroup": ("memory.limit_in_bytes", "memory.swappiness", "memory.oom_control"),
             "cgroup2": ("memory.max", "memory.swap.max", "memory.events")}

    def __init__(self, mib, connections):
        point, kind = self.find()
        self.path = tempfile.mkdtemp(prefix="laud-test-", dir=point)
        atexit.register(self.remove)
        self.limit, swap, self.events = self.FILES[kind]
        self.bytes = mib * MIB + KERNEL_BYTES + connections * CONNECTION_BYTES
        write(self.bytes, self.path, self.limit)
        write(0, self.path, swap)
        self.prefix = ["sh", "-c", f'echo $$ >{self.path}/cgroup.procs && exec "$@"', "sh"]

    @staticmethod
    def find():
        for mount in read("/proc/self/mounts").splitlines():
            _, point, kind, options = mount.split()[:4]
            if kind == "cgroup" and "memory" in options.split(",") or (
                    kind == "cgroup2" and "memory" in read(point, "cgroup.subtree_control").split()):
                return point, kind
        raise OSError("there is no cgroup hierarchy for memory")

    def hold(self, server):
        expect_equal(read(self.path, "cgroup.procs").split(), [str(server.process.pid)], "the group")

    def check(self):
        events = dict(line.split() for line in read(self.path, self.events).splitlines())
        expect_equal(events["oom_kill"], "0", "processes killed for want of memory")

    def remove(self):
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(self.path)

    def __str__(self):
        return f"a memory cgroup of {self.bytes / MIB:.1f} MiB"


class Data:
    """RLIMIT_DATA counts private memory that can be written, touched or not. What was not touched when
    the server is ready, mostly stacks of threads, comes on top."""

    prefix = ()

    def __init__(self, mib, why):
        self.mib, self.why, self.bytes = mib, why, None

    def hold(self, server):
        status = dict(line.split(":", 1) for line in
                      read(f"/proc/{server.process.pid}/status").splitlines())
        data, resident = (int(status[name].split()[0]) * 1024 for name in ("VmData", "RssAnon"))
        self.bytes = self.mib * MIB + data - resident
        resource.prlimit(server.process.pid, resource.RLIMIT_DATA, (self.bytes, self.bytes))

    def check(self):
        """Memory that is refused kills nobody."""

    def remove(self):
        """Goes with the process."""

    def __str__(self):
        return f"RLIMIT_DATA of {self.bytes / MIB:.1f} MiB ({self.why})"


def file_system(path):
    said = subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True, check=True)
    return said.stdout.strip()


def choose(mib, connections):
    if os.environ.get("LAUD_NO_CGROUP") == "1":
        return Data(mib, "as asked")
    directory = tempfile.gettempdir()
    if file_system(directory) == "tmpfs":
        return Data(mib, f"files in {directory} would count as memory")
    try:
        return Group(mib, connections)
    except OSError as problem:
        return Data(mib, f"no cgroup: {problem}")


@contextlib.contextmanager
def memory_limit(mib, connections):
    """Servers with the prefix of this, once held, get `mib` and what the kernel needs for so many
    connections."""
    limit = choose(mib, connections)
    try:
        yield limit
    finally:
        limit.remove()
