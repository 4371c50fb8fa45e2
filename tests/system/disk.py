"""Small file systems of a test's own, and a power cut for them. All of it needs root and a kernel
that allows mounting; where it does not, the test is skipped with the reason."""
import atexit
import contextlib
import fcntl
import os
import struct
import subprocess

from laud import Skip, temporary_directory

FS_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = 2


def command(*words):
    """Runs a tool; what it could not do is a reason to skip."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Skip(f"{words[0]} is not installed") from None
    if done.returncode != 0:
        raise Skip(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip()


class Disk:
    """A mounted file system; closing it unmounts and frees everything, also at exit."""

    def __init__(self):
        self.base = temporary_directory()
        self.path = os.path.join(self.base, "mounted")
        self.mounted = False
        os.mkdir(self.path)
        atexit.register(self.close)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def unmount(self):
        if self.mounted:
            done = subprocess.run(["umount", self.path], capture_output=True, check=False)
            if done.returncode != 0:  # never leave a mount behind
                subprocess.run(["umount", "-l", self.path], capture_output=True, check=False)
        self.mounted = False

    def close(self):
        self.unmount()


class Memory(Disk):
    """tmpfs of a given size."""

    def __init__(self, size):
        super().__init__()
        command("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.path)
        self.mounted = True


class Ext4(Disk):
    """ext4 on a loop device over a sparse file."""

    def __init__(self, megabytes):
        super().__init__()
        image = os.path.join(self.base, "image")
        with open(image, "wb") as file:
            file.truncate(megabytes << 20)
        command("mkfs.ext4", "-q", "-F", image)
        self.device = command("losetup", "--find", "--show", image)
        self.mount()

    def mount(self):
        command("mount", "-t", "ext4", self.device, self.path)
        self.mounted = True

    def cut_power(self):
        """From here on nothing reaches the device; what only memory held is gone."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, FS_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        except OSError as problem:
            raise Skip(f"FS_IOC_SHUTDOWN: {problem}") from None
        finally:
            os.close(handle)

    def close(self):
        super().close()
        device, self.device = getattr(self, "device", None), None
        if device:
            with contextlib.suppress(FileNotFoundError):
                subprocess.run(["losetup", "-d", device], capture_output=True, check=False)
