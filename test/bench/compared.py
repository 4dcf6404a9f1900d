"""Near-duplicate texts in the memory of a Python program, for test/bench/compared.

usage: compared.py TEXTS

TEXTS has a number and a text on each line, with a tab between.  Writes the files
  true_pairs     all pairs whose sets of three-word shingles have a Jaccard coefficient of .8
                 or more.  Such sets share one of their rarer members, so comparing the texts
                 that do finds every pair.
  minhash_pairs  what locality-sensitive hashing of 128 minimum hashes finds, with the number
                 of bands before each pair: 9 bands of 13 hashes, which datasketch chooses for
                 this threshold, and 16 bands of 8, which find more and compare more.  The
                 permutations are random linear ones modulo 2^61 - 1; the shingles of each
                 candidate are then compared
and prints names and numbers with a tab between: CPU seconds, and the pairs compared.

This is the standard library alone.  datasketch computes the minimum hashes with numpy,
several times as fast; the pairs are as good.
"""
import hashlib
import math
import random
import re
import sys
import time

THRESHOLD = 0.8
PERMUTATIONS = 128
BANDS = {9: 13, 16: 8}
PRIME = (1 << 61) - 1

WORD = re.compile(r"[^\W_]+")


def shingles(text):
    words = WORD.findall(text.lower())
    runs = [" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))]
    return {int.from_bytes(hashlib.blake2b(run.encode(), digest_size=4).digest(), "big") for run in runs}


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


class Signatures:
    def __init__(self):
        source = random.Random(1)
        self.permutations = [(source.randrange(1, PRIME), source.randrange(PRIME)) for _ in range(PERMUTATIONS)]

    def of(self, features):
        return [min([(a * x + b) % PRIME & 0xFFFFFFFF for x in features]) for a, b in self.permutations]


def near_pairs(sets, signatures, bands, rows):
    """Yield candidates, and whether they are near."""
    tables = [{} for _ in range(bands)]
    for number, signature in signatures.items():
        candidates = set()
        for i, table in enumerate(tables):
            bucket = table.setdefault(tuple(signature[i * rows : (i + 1) * rows]), [])
            candidates.update(bucket)
            bucket.append(number)
        for other in candidates:
            yield other, number, jaccard(sets[number], sets[other]) >= THRESHOLD


def main():
    with open(sys.argv[1]) as file:
        texts = dict((int(number), text) for number, text in (line.rstrip("\n").split("\t", 1) for line in file))

    start = time.process_time()
    sets = {number: shingles(text) for number, text in texts.items()}
    print("shingles\t%f" % (time.process_time() - start))

    start = time.process_time()
    made = Signatures()
    signatures = {number: made.of(features) for number, features in sets.items()}
    print("minimum hashes\t%f" % (time.process_time() - start))

    with open("minhash_pairs", "w") as file:
        for bands, rows in BANDS.items():
            start = time.process_time()
            compared = 0
            for a, b, near in near_pairs(sets, signatures, bands, rows):
                compared += 1
                if near:
                    file.write("%d\t%d\t%d\n" % (bands, a, b))
            print("%d bands: all pairs\t%f" % (bands, time.process_time() - start))
            print("%d bands: pairs compared\t%d" % (bands, compared))

    with open("true_pairs", "w") as file:
        file.writelines("%d\t%d\n" % pair for pair in true_pairs(sets))


if __name__ == "__main__":
    main()
