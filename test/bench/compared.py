"""Near-duplicate texts in the memory of a Python program, for test/bench/compared.

usage: compared.py TEXTS

TEXTS has a number and a text on each line, with a tab between.  Writes the files
  true_pairs     all pairs whose sets of three-word shingles have a Jaccard coefficient of .8
                 or more.  Such sets share one of their rarer members, so comparing the texts
                 that do finds every pair.
  minhash_pairs  what locality-sensitive hashing of 128 minimum hashes finds, as datasketch
                 does it for this threshold: 9 bands of 13 hashes, random linear permutations
                 modulo 2^61 - 1; the shingles of each candidate are then compared
and prints names and numbers with a tab between: CPU seconds, and the pairs compared.

This is the standard library alone.  datasketch computes the minimum hashes with numpy,
several times as fast; the pairs are as good.
"""
import hashlib
import random
import re
import sys
import time

THRESHOLD = 0.8
PERMUTATIONS, BANDS, BAND_ROWS = 128, 9, 13
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
        # those beyond can not make up four fifths by themselves
        prefix = rare_first[: len(features) - -int(-THRESHOLD * len(features) // 1) + 1]
        candidates = set()
        for feature in prefix:
            others = seen_with.setdefault(feature, [])
            candidates.update(others)
            others.append(number)
        for other in candidates:
            if jaccard(features, sets[other]) >= THRESHOLD:
                yield other, number


class Lsh:
    def __init__(self):
        source = random.Random(1)
        self.permutations = [(source.randrange(1, PRIME), source.randrange(PRIME)) for _ in range(PERMUTATIONS)]
        self.bands = [{} for _ in range(BANDS)]

    def keys(self, features):
        minima = [min([(a * x + b) % PRIME & 0xFFFFFFFF for x in features]) for a, b in self.permutations]
        return [tuple(minima[i * BAND_ROWS : (i + 1) * BAND_ROWS]) for i in range(BANDS)]

    def insert(self, number, keys):
        for band, key in zip(self.bands, keys):
            band.setdefault(key, []).append(number)

    def candidates(self, keys):
        return {number for band, key in zip(self.bands, keys) for number in band.get(key, ())}


def write(name, pairs):
    with open(name, "w") as file:
        file.writelines("%d\t%d\n" % pair for pair in pairs)


def main():
    with open(sys.argv[1]) as file:
        texts = dict((int(number), text) for number, text in (line.rstrip("\n").split("\t", 1) for line in file))

    start = time.process_time()
    sets = {number: shingles(text) for number, text in texts.items()}
    made_sets = time.process_time()
    lsh = Lsh()
    keys = {number: lsh.keys(features) for number, features in sets.items()}
    for number in keys:
        lsh.insert(number, keys[number])
    indexed = time.process_time()
    compared = 0
    found = []
    for number, features in sets.items():
        for other in lsh.candidates(keys[number]):
            if other < number:
                compared += 1
                if jaccard(features, sets[other]) >= THRESHOLD:
                    found.append((other, number))
    paired = time.process_time()
    asked = list(texts)[:100]
    for number in asked:
        features = shingles(texts[number])
        for other in lsh.candidates(lsh.keys(features)):
            jaccard(features, sets[other])
    looked_up = time.process_time()

    write("minhash_pairs", found)
    write("true_pairs", true_pairs(sets))
    print("shingles\t%f" % (made_sets - start))
    print("minimum hashes and bands\t%f" % (indexed - made_sets))
    print("pairs\t%f" % (paired - indexed))
    print("look-up\t%f" % ((looked_up - paired) / len(asked)))
    print("compared\t%d" % compared)


if __name__ == "__main__":
    main()
