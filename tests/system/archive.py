"""A data directory as text: of each file its path, its size and its bytes, compressed with xz, in base64."""
import base64
import lzma
import os
import textwrap

import laud

# RocksDB makes these anew; its logs and options name paths of the machine.
LEFT_OUT = ("LOCK", "LOG", "OPTIONS-")


def pack(directory, path, comment):
    lines = [f"# {line}" for line in comment]
    for folder, _, names in sorted(os.walk(directory)):
        for name in sorted(names):
            if name.startswith(LEFT_OUT):
                continue
            with open(os.path.join(folder, name), "rb") as file:
                raw = file.read()
            lines.append(f"= {os.path.relpath(os.path.join(folder, name), directory)} {len(raw)}")
            packed = lzma.compress(raw, preset=9 | lzma.PRESET_EXTREME)
            lines += textwrap.wrap(base64.b64encode(packed).decode(), 100)
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines)


def unpack(path):
    """A new directory with these files, which is removed at the end."""
    directory = os.path.join(laud.temporary_directory(), "data")
    os.mkdir(directory, 0o700)
    with open(path, encoding="ascii") as file:
        files = [part.split("\n", 1) for part in ("\n" + file.read()).split("\n= ")[1:]]
    for head, text in files:
        name, size = head.rsplit(" ", 1)
        raw = lzma.decompress(base64.b64decode(text))
        laud.expect_equal(len(raw), int(size), f"the size of {name}")
        target = os.path.join(directory, name)
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        with open(target, "wb") as out:
            out.write(raw)
    return directory
