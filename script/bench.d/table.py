"""Rows of a benchmark and how they are shown."""

import dataclasses
import json
from typing import Optional


@dataclasses.dataclass
class Row:
    what: str
    target: float
    at_least: bool                  # else at most
    unit: str                       # of `value`
    value: Optional[float] = None   # what is held against the target
    ours: Optional[float] = None
    peer: Optional[float] = None
    note: str = ""
    problem: str = ""
    runs: dict = dataclasses.field(default_factory=dict)
    informal: bool = False          # shown, not judged
    broken: str = ""                # what had to hold beside the target and did not

    def passed(self):
        if self.value is None or self.broken:
            return False
        return self.value >= self.target if self.at_least else self.value <= self.target

    def mark(self):
        if self.informal:
            return ""
        return "pass" if self.passed() else "MISSED" if self.value is not None else "NO FIGURE"


def number(value):
    if value is None:
        return "-"
    if value >= 10000:
        return f"{value / 1000:,.0f}k"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def figure(row):
    if row.value is None:
        return "-"
    text = f"{row.value:.2f}" if row.value < 1000 else number(row.value)
    return f"{text} {row.unit}"


def goal(row):
    if row.informal:
        return ""
    sign = "≥" if row.at_least else "≤"
    text = f"{row.target:g}" if row.target < 1000 else number(row.target)
    return f"{sign} {text} {row.unit}"


def show(rows, headers=("what", "laud", "peer", "result", "to reach", "")):
    lines = [headers] + [(row.what, number(row.ours), number(row.peer), figure(row), goal(row),
                          row.mark()) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headers))]
    for index, line in enumerate(lines):
        cells = [line[0].ljust(widths[0])] + [
            cell.rjust(width) for cell, width in zip(line[1:5], widths[1:5])] + [line[5]]
        print("  ".join(cells).rstrip())
        if index == 0:
            print("  ".join("-" * width for width in widths).rstrip())
    for row in rows:
        if row.note:
            print(f"  {row.what}: {row.note}")
    for row in rows:
        if row.broken:
            print(f"  {row.what}: MISSED: {row.broken}")
        if row.problem:
            print(f"  {row.what}: NO FIGURE: {row.problem}")


def as_json(rows, **more):
    return json.dumps({**more, "rows": [
        {**dataclasses.asdict(row), "pass": None if row.informal else row.passed()}
        for row in rows]}, indent=2)
