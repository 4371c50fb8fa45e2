"""The house rules that no other tool checks: sizes, tabs, unfinished marks, header guards, layers.

Prints each breach as path:line: sentence and ends with 1 if there was any.
"""

import pathlib
import re
import subprocess
import sys

FILE_MOST, FILE_NEVER = 400, 700
FUNCTION_MOST, FUNCTION_NEVER = 40, 70
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")

breaches = []
long_files = []
long_functions = []


def breach(path, line, sentence):
    breaches.append(f"{path}:{line}: {sentence}")


def functions(lines):
    """(first line, length) of each body: clang-format puts its braces alone in the first column."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield start, number - start + 1
            start = None


def guards(path):
    """The guard a header should have: its path, without saying a folder's name twice."""
    folders, words = list(path.parts[1:-1]), path.stem.split("_")
    flat = [word for folder in folders for word in folder.split("_")]
    allowed = []
    for overlap in range(len(flat) + 1):
        if overlap == 0 or flat[-overlap:] == words[:overlap]:
            parts = flat[: len(flat) - overlap] + words
            allowed.append("LAUD_" + "_".join(parts).upper() + "_H")
    return allowed


def check_guard(path, text):
    found = re.search(r"^#ifndef (\w+)\n#define (\w+)$", text, re.MULTILINE)
    allowed = guards(path)
    if not found or found[1] != found[2] or found[1] not in allowed:
        breach(path, 1, "the header guard should be " + " or ".join(allowed))


def check_c(path, lines):
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            breach(path, number, "a tab")
    if len(lines) > FILE_NEVER:
        breach(path, FILE_NEVER, f"{len(lines)} lines, never more than {FILE_NEVER}")
    elif len(lines) > FILE_MOST:
        long_files.append(f"{path}: {len(lines)} lines")
    for start, length in functions(lines):
        if length > FUNCTION_NEVER:
            breach(path, start, f"a function of {length} lines, never more than {FUNCTION_NEVER}")
        elif length > FUNCTION_MOST:
            long_functions.append(f"{path}:{start}: {length} lines")


def check(path):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if MARKS.search(line):
            breach(path, number, "an unfinished mark")
        if line != line.rstrip():
            breach(path, number, "trailing space")
    if path.suffix in (".c", ".h", ".def"):
        check_c(path, lines)
    if path.suffix == ".h":
        check_guard(path, text)


def read_layers(path):
    """The table of layers: folder -> the folders it may include. Each may name only those above it."""
    layers = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, _, allowed = line.partition(":")
        for name in allowed.split():
            if name not in layers:
                breach(path, number, f"{folder} may include only folders above it, not {name}")
        layers[folder] = set(allowed.split()) | {folder}
    return layers


def layer_of(file):
    """The folder of src/ that has a file: each implementation of a port is a layer of its own."""
    return str(pathlib.PurePath(file).parent)


def check_layers(paths):
    """Compares the #include lines of src/ with the table, in both directions."""
    table = pathlib.Path("src/layers.txt")
    layers, used = read_layers(table), {}
    for path in paths:
        if path.parts[0] != "src" or len(path.parts) < 3 or path.suffix not in (".c", ".h", ".def"):
            continue
        folder = layer_of(path.relative_to("src"))
        if folder not in layers:
            breach(path, 1, f"the folder {folder} is not in {table}")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = re.match(r'#include "([\w/]+/\w+\.\w+)"', line)
            if not found:
                continue
            layer = layer_of(found[1])
            used.setdefault(folder, set()).add(layer)
            if layer not in layers[folder]:
                breach(path, number, f"{folder} may not include {layer}, see {table}")
    for folder, allowed in layers.items():
        for name in sorted(allowed - used.get(folder, set()) - {folder}):
            breach(table, 1, f"{folder} does not include {name} any more")


def main():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src", "tests", "script"],
        check=True, capture_output=True, text=True).stdout.split("\n")
    paths = [pathlib.Path(name) for name in listed if name]
    checked = [path for path in paths
               if path.is_file() and path.suffix in (".c", ".h", ".def", ".build", ".py", "", ".md")
               and "corpus" not in path.parts]
    for path in checked:
        check(path)
    check_layers(checked)
    for line in breaches:
        print(line)
    if long_files:
        print(f"{len(long_files)} files over {FILE_MOST} lines")
    if long_functions:
        print(f"{len(long_functions)} functions over {FUNCTION_MOST} lines")
    if "--list" in sys.argv:
        print("\n".join(long_files + long_functions))
    return 1 if breaches else 0


sys.exit(main())
