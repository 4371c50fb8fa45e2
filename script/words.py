"""Refuses ambiguous words (script/words.txt) in the comments of headers and tables, and in documents.

  script/words.py [FILE…]    these files only; else all headers and tables of src/ and all documents

Prints each breach as path:line: sentence and ends with 1 if there was any.
"""

import pathlib
import re
import subprocess
import sys

TABLE = pathlib.Path("script/words.txt")


def read_table():
    """A list of (pattern, pattern of the phrases that are allowed or None, what to write instead)."""
    rules = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        words, _, rest = line.partition(":")
        instead, _, allowed = rest.partition("; allowed:")
        phrases = [phrase.strip() for phrase in allowed.split(",") if phrase.strip()]
        rules.append((pattern_of(words.split(",")), pattern_of(phrases) if phrases else None,
                      instead.strip()))
    return rules


def pattern_of(phrases):
    texts = sorted((re.escape(phrase.strip()).replace(r"\ ", r"\s+") for phrase in phrases), key=len,
                   reverse=True)
    return re.compile(r"(?<![\w/.-])(?:" + "|".join(texts) + r")(?![\w/-])", re.IGNORECASE)


def blank(text):
    """The same number of lines and columns, with nothing to read."""
    return re.sub(r"[^\n]", " ", text)


def comments_only(text):
    """A C file without its code, and without quoted and backticked words in its comments."""
    kept, at = [], 0
    for comment in re.finditer(r"/\*.*?\*/", text, re.DOTALL):
        kept.append(blank(text[at:comment.start()]))
        kept.append(re.sub(r"\n\s*\* ", lambda found: "\n" + " " * (len(found[0]) - 1), comment[0]))
        at = comment.end()
    kept.append(blank(text[at:]))
    return re.sub(r"`[^`\n]*`|'[^'\n]*'|\"[^\"\n]*\"|\b\w+\.(?:c|h|def)\b|\b[a-z]+_\w+",
                  lambda found: blank(found[0]), "".join(kept))


def prose_only(text):
    """A Markdown document without its code, its link targets and its anchors."""
    text = re.sub(r"```.*?```", lambda found: blank(found[0]), text, flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`|\]\([^)]*\)|\"[^\"\n]*\"", lambda found: blank(found[0]), text)


def check(path, rules):
    text = path.read_text(encoding="utf-8")
    text = prose_only(text) if path.suffix == ".md" else comments_only(text)
    count = 0
    for pattern, allowed, instead in rules:
        spans = [found.span() for found in allowed.finditer(text)] if allowed else []
        for found in pattern.finditer(text):
            if any(start <= found.start() and found.end() <= end for start, end in spans):
                continue
            line = text.count("\n", 0, found.start()) + 1
            print(f"{path}:{line}: '{found[0]}' is ambiguous here: {instead}")
            count += 1
    return count


def main():
    names = sys.argv[1:]
    if not names:
        names = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/*.h", "src/*.def",
             "*.md"], check=True, capture_output=True, text=True).stdout.splitlines()
    paths = [pathlib.Path(name) for name in names]
    rules = read_table()
    return 1 if sum(check(path, rules) for path in paths if path.is_file()) else 0


sys.exit(main())
