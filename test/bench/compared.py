"""Near-duplicate texts in the memory of a Python program, for test/bench/compared.

usage: compared.py TEXTS

TEXTS has a number and a text on each line, with a tab between.  Writes the file
  true_pairs     all pairs whose sets of three-word shingles have a Jaccard coefficient of .8
                 or more.  Such sets share one of their rarer members, so comparing the texts
                 that do finds every pair.
"""
import hashlib
import math
import re
import sys

THRESHOLD = 0.8
WORD = re.compile(r"[^\W_]+")


def feature(run):
    return int.from_bytes(hashlib.blake2b(run.encode(), digest_size=8).digest(), "big")


def shingles(text):
    words = WORD.findall(text.lower())
    return {feature(" ".join(words[i : i + 3])) for i in range(max(1, len(words) - 2))}


def jaccard(a, b):
    common = len(a & b)
    return common / (len(a) + len(b) - common)


def true_pairs(sets):
    frequency = {}
    for features in sets.values():
        for feature in features:
            frequency[feature] = frequency.get(feature, 0) + 1
    seen_with = {}
    for number, features in sets.items():
        rare_first = sorted(features, key=lambda feature: (frequency[feature], feature))
        # the others are too few to be four fifths by themselves
        prefix = rare_first[: len(features) - math.ceil(THRESHOLD * len(features) - 1e-9) + 1]
        candidates = set()
        for feature in prefix:
            others = seen_with.setdefault(feature, [])
            candidates.update(others)
            others.append(number)
        for other in candidates:
            if jaccard(features, sets[other]) >= THRESHOLD:
                yield other, number


def main():
    with open(sys.argv[1]) as file:
        texts = dict((int(number), text) for number, text in (line.rstrip("\n").split("\t", 1) for line in file))

    sets = {number: shingles(text) for number, text in texts.items()}
    with open("true_pairs", "w") as file:
        file.writelines("%d\t%d\n" % pair for pair in true_pairs(sets))


if __name__ == "__main__":
    main()
