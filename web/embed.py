"""Writes the files of the console as C: each as it is and compressed, with an ETag for both forms.

usage: embed.py OUTPUT [FILE…]    without files, the program has no console
"""

import gzip
import hashlib
import os
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
LINE_BYTES = 64


def literal(content):
    """A string in C. Escapes of three octal digits never run into the next character."""
    lines = (content[i:i + LINE_BYTES] for i in range(0, len(content), LINE_BYTES))
    return "\n".join('"' + "".join(f"\\{byte:03o}" for byte in line) + '"' for line in lines)


def form(content):
    return f"{{\n{literal(content)}, {len(content)}}}"


def entry(name, content):
    packed = gzip.compress(content, compresslevel=9, mtime=0)
    version = hashlib.sha256(content).hexdigest()[:16]
    kind = TYPES[os.path.splitext(name)[1]]
    return (f'{{"{name}", "{kind}", {form(content)}, {form(packed)}, '
            f'"\\"{version}\\"", "\\"{version}-gzip\\""}},\n')


def main():
    output, entries = sys.argv[1], []
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            entries.append(entry(os.path.basename(path), file.read()))
    with open(output, "w", encoding="ascii") as file:
        file.write('/* Written by web/embed.py. */\n#include "http/console.h"\n\n'
                   "const struct console_file console_files[] = {\n" + "".join(entries)
                   + "{.name = NULL}};\n")


main()
