"""What the areas of the benchmark have in common: options, rows, and the run from start to table."""

import argparse
import os
import time

import rig
import table


class Area:
    """An area has a `name`, says who its `peer()` is, and measures in `run()`."""

    def __init__(self, options):
        self.options = options
        self.rounds = 1 if options.quick else 3
        self.close_rounds = 1 if options.quick else 9  # where a few per cent are what is asked about
        self.seconds = 2 if options.quick else 4
        self.rows = []

    def drive(self, server, *arguments):
        return rig.load(self.options.laud, server, *arguments)

    def row(self, **fields):
        row = table.Row(**fields)
        self.rows.append(row)
        return row

    def attempt(self, rows, measure):
        """A row without a figure must not take the others with it; it is shown as such."""
        try:
            measure()
        except (rig.Failure, OSError) as problem:
            rig.say(f"  failed: {problem}")
            for row in rows:
                if row.value is None:
                    row.problem = str(problem)

    @staticmethod
    def compare_rates(row, rates):
        row.peer = rig.median(rates["peer"])
        row.ours = rig.median(rates["laud"])
        row.value = row.ours / row.peer
        row.runs = rates

    @staticmethod
    def compare_pairs(row):
        """The machine's speed drifts by more than such rows are about: each round is its own ratio."""
        ratios = [ours / peer for ours, peer in zip(row.runs["laud"], row.runs["peer"])]
        row.value = rig.median(ratios)
        row.note += (f"; result: median of {len(ratios)} ratios, each of one round "
                     f"({min(ratios):.2f} to {max(ratios):.2f})")

    def compare(self, row, runs):
        self.compare_rates(row, {side: [run["rate"] for run in runs[side]] for side in runs})
        tails = {side: rig.median([run["latency_us"]["p99"] for run in runs[side]]) / 1000
                 for side in runs}
        row.note = f"p99 {tails['laud']:.2f} ms, peer {tails['peer']:.2f} ms"
        if len(runs["laud"]) != self.rounds:
            self.compare_pairs(row)


def chosen_from(names):
    """For an option that takes some of these names."""
    def rows(text):
        chosen = text.split(",")
        for name in chosen:
            if name not in names:
                raise ValueError(name)
        return chosen
    return rows


def parser(name, description):
    made = argparse.ArgumentParser(prog=f"script/bench {name}", description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--json", action="store_true", help="one JSON object on standard output")
    made.add_argument("--strict", action="store_true", help="exit code 1 if a target is missed")
    made.add_argument("--laud", default="build/laud", help="the program (%(default)s)")
    return made


def show(area, machine, seconds):
    print(f"laud {machine['laud']} against {machine['peer']}; {machine['cpu']}, "
          f"{machine['cores']} cores, {machine['filesystem']}; 50 connections, "
          f"{'pinned' if machine['pinned'] else 'NOT pinned: one core only'}; "
          f"median of {area.rounds}; {seconds:.0f} s")
    if machine["cores_taken_by_others"] >= 0.1:
        print(f"other programs took {machine['cores_taken_by_others']:.2f} of a core meanwhile: "
              "do not trust these figures")
    print()
    table.show(area.rows)


def main(make, options):
    options.laud = os.path.abspath(options.laud)
    if not os.access(options.laud, os.X_OK):
        rig.say(f"{options.laud} is not there: script/build makes it")
        return 2
    rig.exit_on_sigterm()
    machine = rig.machine(options.laud)
    begun = time.monotonic()
    neighbours = rig.Neighbours()
    area = make(options)
    machine["peer"] = area.peer()
    area.run()
    machine["cores_taken_by_others"] = round(neighbours.cores_taken(), 2)
    seconds = time.monotonic() - begun
    if options.json:
        print(table.as_json(area.rows, area=area.name, machine=machine, rounds=area.rounds,
                            seconds=seconds))
    else:
        show(area, machine, seconds)
    if any(row.problem for row in area.rows):
        return 2
    missed = [row for row in area.rows if not row.informal and not row.passed()]
    return 1 if options.strict and missed else 0
