"""Makes the dockets of intents from BANKING77 and CLINC150, and prints how often each source is right.

    make docket-intents                   # downloads the data from GitHub
    make docket-intents SOURCES=checkouts # reads checkouts/task-specific-datasets and checkouts/oos-eval
"""

import argparse
import json
from pathlib import Path

import banking
import domains
from sources import Sources


def main():
    parser = argparse.ArgumentParser(description="Makes the dockets of intents.")
    parser.add_argument("folder", type=Path, help="where to write the dockets")
    parser.add_argument("--sources", metavar="DIR", help="a folder with task-specific-datasets and oos-eval; default: download")
    arguments = parser.parse_args()
    sources = Sources(arguments.sources)
    for name, module in (("banking", banking), ("domains", domains)):
        halves = list(module.halves(sources))
        for number, half in enumerate(halves, start=1):
            with open(arguments.folder / f"{name}-{number}.jsonl", "w", encoding="utf-8", newline="\n") as out:
                out.writelines(json.dumps(case, ensure_ascii=False) + "\n" for case in half)
        print_accuracy(name, halves)


def print_accuracy(name, halves):
    print(f"| source | speaks in `{name}-1` | right | speaks in `{name}-2` | right |\n| --- | ---: | ---: | ---: | ---: |")
    tallies = [tally(half) for half in halves]
    for source in sorted(set().union(*tallies), key=lambda source: (source != "Light", source)):
        row = []
        for half, counts in zip(halves, tallies):
            speaks, right = counts.get(source, (0, 0))
            row.append(f"{speaks} of {len(half)} | {right / speaks:.3f}" if speaks else f"0 of {len(half)} | -")
        print(f"| {source} | {' | '.join(row)} |")


def tally(half):
    """In how many cases each source speaks, and in how many of them it is right."""
    counts = {}
    for case in half:
        statements = [("Light", case["light"]["classification"])]
        statements += [(item["source_ref"], item["supports"]) for item in case["evidence"]]
        for source, label in statements:
            speaks, right = counts.get(source, (0, 0))
            counts[source] = speaks + 1, right + (label == case["truth"]["classification"])
    return counts


if __name__ == "__main__":
    main()
