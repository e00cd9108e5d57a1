#!/usr/bin/env python3
"""Checks that the tree's prose is plain English, by the rules of tools/prose/rules.py.

What users see (messages, help, summaries of REST, the page, public headers, documents) must break no rule. All other
prose has a number of violations by folder and rule in tools/prose_counts.json, which may only fall. Exits with 1 if
either does not hold. docs/decisions/plain-english.md explains why.

check_prose.py                       checks
check_prose.py --update              writes lower numbers; refuses to write higher ones
check_prose.py --list FOLDER...      prints each violation in files below these folders
check_prose.py --draw N [--seed S]   prints N sentences drawn at random from all prose, for people to judge
"""
import argparse
import random
import sys

from prose import counts, rules, sources

DRAWN_WORDS = 5


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write lower numbers of violations")
    parser.add_argument("--list", nargs="+", metavar="FOLDER", help="print each violation below these folders")
    parser.add_argument("--draw", type=int, metavar="N", help="print N sentences drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the draw; default: %(default)s")
    return parser.parse_args()


def draw(number, seed):
    """Prints sentences of at least DRAWN_WORDS words, each with where it stands."""
    all_sentences = [(passage, sentence) for passage in sources.passages() for sentence in rules.sentences(passage.text)
                     if len(sentence.split()) >= DRAWN_WORDS]
    for passage, sentence in random.Random(seed).sample(all_sentences, number):
        print(f"{passage.path}:{passage.line}: {sentence}")


def update(now, stored):
    """Writes the numbers unless a rule is broken more often; returns the exit status."""
    risen = counts.rises(now, stored)
    for rule, more in risen.items():
        print(f"{rule}: {more} more than stored; rewrite as many sentences (check_prose.py --list FOLDER)")
    if not risen:
        counts.save(now)
        print(f"{counts.FILE.name}: {sum(counts.totals(now).values())} violations are left, "
              f"{sum(counts.totals(stored).values())} before")
    return 1 if risen else 0


def check(public, other, stored):
    """Prints what breaks the rules beyond the stored numbers; returns the exit status."""
    for one in public:
        print(one)
    different = counts.differences(counts.count(other), stored)
    for folder, rule, now, before in different:
        if now < before:
            print(f"{folder} breaks '{rule}' {now} times, {before} are stored: run tools/check_prose.py --update")
            continue
        print(f"{folder} breaks '{rule}' {now} times, {before} are stored. Rewrite the new ones among:")
        for one in other:
            if (counts.folder_of(one.passage.path), one.rule) == (folder, rule):
                print(f"  {one}")
    return 1 if public or any(now > before for _, _, now, before in different) else 0


def main():
    options = parsed()
    if options.draw is not None:
        draw(options.draw, options.seed)
        return 0
    found = [one for passage in sources.passages() for one in rules.findings(passage)]
    if options.list is not None:
        folders = tuple(folder.rstrip("/") for folder in options.list)
        for one in found:
            if any((one.passage.path + "/").startswith(folder + "/") for folder in folders):
                print(one)
        return 0
    public = [one for one in found if one.passage.is_public]
    other = [one for one in found if not one.passage.is_public]
    if options.update:
        return update(counts.count(other), counts.load())
    status = check(public, other, counts.load())
    if status == 0:
        print(f"prose for users breaks no rule, other prose breaks them {len(other)} times, as stored")
    return status


if __name__ == "__main__":
    sys.exit(main())
