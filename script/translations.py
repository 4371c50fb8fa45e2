"""Compares translated documents with the English ones: the same headings, level by level, and the same code
blocks, byte for byte. So a change of one that is not made in the other is noticed.

Prints each difference as path:line: sentence and ends with 1 if there was any.
"""

import pathlib
import sys

TRANSLATED = [("README.md", "README.zh.md"), ("docs/tutorial.md", "docs/zh/tutorial.md"),
              ("docs/api.md", "docs/zh/api.md")]


def structure(path):
    """Headings as (line, level, None), and code blocks as (line, language, content)."""
    found, block, began = [], None, 0
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            if block is None:
                block, began, language = [], number, line[3:]
            else:
                found.append((began, f"code block {language}".strip(), block))
                block = None
        elif block is not None:
            block.append(line)
        elif line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            found.append((number, f"heading of level {level}", None))
    return found


def compare(english, translated):
    ours, theirs = structure(english), structure(translated)
    for (line, kind, content), (other_line, other_kind, other) in zip(ours, theirs):
        if kind != other_kind:
            return f"{translated}:{other_line}: a {other_kind}, but {english}:{line} has a {kind}"
        if content != other:
            return f"{translated}:{other_line}: another {kind} than {english}:{line}"
    if len(ours) != len(theirs):
        return f"{translated}:1: {len(theirs)} headings and code blocks, but {english} has {len(ours)}"
    return None


def main():
    differences = [found for pair in TRANSLATED if (found := compare(*pair)) is not None]
    print("\n".join(differences), end="\n" if differences else "")
    sys.exit(1 if differences else 0)


main()
