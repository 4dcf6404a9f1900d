#!/usr/bin/env python3
"""The fingerprint algorithms, version 1, a second time.

This is written from the description of the algorithm and shares nothing with
the extension, so that what both agree on is what the description says.  It is
made for reading; porting it to another language gives the same fingerprints.
Needs Python 3.10 or later and nothing besides its standard library.

usage: simhash_reference.py < documents > fingerprints

Each line read is a JSON value: a string is a text to be fingerprinted with the
defaults; an object has a "form" and what that form takes,

    text        document, shingle = 4, unit = "char" (or "word")
    bytea       document (hex digits), shingle = 8
    tsvector    lexemes (an object: the positions of each lexeme in an array)
    text[]      features, weights = null
    bigint[]    hashes (numbers or strings), weights = null
    shingles    as text: the features of the text, with "|" between two
    hash        document: the hash of a text, as a signed number
    jaccard     a, b, shingle = 3, unit = "word": the Jaccard coefficient of two
                texts, in units of 10^-9
    containment as jaccard: the share of the features of a that b has
    passage_keys document: the keys of a text in an index of passages
    passages    a, b, min_words = 13: the first words in both and the number of
                words of each passage, with "|" between two
    passage_words  as passages: the words themselves
    title_bands document: the bands of a title, in hex digits
    similar_titles a, b, similarity = 0.7: whether they are, true or false

and "repeat" in an object says how many times the document repeats itself.  With
"function": "minhash" the first five forms are those of simhash_minhash: the
features of a text are windows of 2 words by default, and there are no weights.
Their hashes may also be given as a "series": first, last and step.  With
"function": "minhash_bits" they are those of simhash_minhash_bits, and take "bits",
256 by default.  With "function": "bands" they are those of simhash_bands, and take
"minima" and "bands", 3 and 32 by default.
Each line written is a fingerprint in decimal, or, of "minhash_bits" and "bands", in
hex digits; or NULL if there is none.
"""

import json
import sys
from collections import Counter
from functools import partial
from math import isfinite, ldexp
from struct import Struct

from characters import DIGITS, fold, is_ideograph, is_ignorable, is_kept, is_unspaced
from xxh3 import xxh3_64

#
# From a text to its features
#


class Translation(dict):
    """A table for str.translate that is filled as characters come."""

    def __init__(self, function):
        self.function = function

    def __missing__(self, code):
        self[code] = result = self.function(chr(code))
        return result


def as_character(c):
    return c if is_kept(c) else ''


def as_part_of_word(c):
    if is_ignorable(c):
        return ''
    if not is_kept(c):
        return ' '
    return ' ' + c + ' ' if is_ideograph(c) else c


characters = Translation(as_character)
parts_of_words = Translation(as_part_of_word)


def divided(word):
    """The words in a run of kept characters: in a script without spaces, one begins
    where the hash of the character before and the letter says so."""
    start = 0
    for i in range(1, len(word)):
        if (is_unspaced(word[i]) and
                splitmix(ord(word[i - 1]) << 32 | ord(word[i])) % 3 == 0):
            yield word[start:i]
            start = i
    yield word[start:]


def words_of(text):
    runs_of_characters = fold(text).translate(parts_of_words).split()
    return [word for run in runs_of_characters for word in divided(run)]


def windows(units, shingle):
    """All runs of that many units; all units if there are fewer."""
    if not 1 <= shingle <= 64:
        raise ValueError('shingle is not between 1 and 64')
    if not units:
        return []
    return [units[i:i + shingle]
            for i in range(max(1, len(units) - shingle + 1))]


def shingles(text, shingle=4, unit='char'):
    """The features of a text, in order."""
    if unit == 'char':
        return windows(fold(text).translate(characters), shingle)
    if unit == 'word':
        return [' '.join(w) for w in windows(words_of(text), shingle)]
    raise ValueError('unknown unit')


#
# From features to a fingerprint
#

LANE = 32                               # bits of a counter in the sum below
lanes = Struct('<64I').unpack


class Spread(dict):
    """A feature's hash with its bits LANE apart, remembered."""

    def __missing__(self, feature):
        if len(self) > 500000:
            self.clear()
        if isinstance(feature, str):
            data = feature.encode()
        else:
            data = feature
        bits = '{:064b}'.format(xxh3_64(data))
        self[feature] = result = int(('0' * (LANE // 4 - 1)).join(bits), 16)
        return result


spread = Spread()


def fingerprint_of_features(counts):
    """The fingerprint of features, each with its number of occurrences.

    It is majority() with each weight a small count: adding up integers whose
    64 lanes are the counters of the bits is only faster.
    """
    total = sum(counts.values())
    if total == 0:
        return None
    if total >> LANE:
        raise OverflowError('too many features')
    ones = sum(count * spread[feature] for feature, count in counts.items())
    ones = lanes(ones.to_bytes(64 * LANE // 8, 'little'))
    return sum(1 << i for i in range(64) if 2 * ones[i] > total)


def majority(hashes, weights):
    """The fingerprint of hashes with integral weights.

    A bit is set if the hashes that have it weigh more than those that have
    not; where they weigh the same, it is not.  Without any weight there is no
    fingerprint.
    """
    if not any(weights):
        return None
    total = sum(weights)
    result = 0
    for i in range(64):
        ones = sum(w for h, w in zip(hashes, weights) if h >> i & 1)
        if ones > total - ones:
            result |= 1 << i
    return result


def fixed_point(weight):
    """A weight in units of 2^-32, rounded half to even."""
    weight = float(weight)
    if not isfinite(weight):
        raise ValueError('weight is not finite')
    if abs(weight) >= 2.0 ** 63:
        raise ValueError('weight is out of range')
    return round(ldexp(weight, 32))


#
# From a set of features to a fingerprint of minimum hashes
#

BINS = 64
WORD = (1 << 64) - 1


def splitmix(seed):
    """The first number of the generator SplitMix64."""
    x = seed + 0x9E3779B97F4A7C15 & WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


def tour(number):
    """When a feature comes to the first bin, how much later to the next, and its bits."""
    return number >> 16 & 0xFFFE, (2 * (number >> 6 & 31) + 1) * 1024, splitmix(number)


def minima_of_bins(hashes):
    """The minima of the bins, of the hashes of at least one feature."""
    numbers = {splitmix(h % (1 << 64)) for h in hashes}
    minima = [None] * BINS
    for number in sorted(numbers, key=lambda number: number >> 32, reverse=True):
        minima[number % BINS] = number >> 32
    tours = [tour(number) for number in numbers] if None in minima else []
    for b, minimum in enumerate(minima):
        if minimum is None:
            # the first one that comes to the bin, with the bit that it brings
            minima[b] = min((start + b * step) % 65536 + (bits >> b & 1) for start, step, bits in tours)
    return minima


def first_minima(hashes, number):
    """So many minima and perhaps more: 64 from the hashes, and more from others that are
    made of them."""
    numbers = [splitmix(h % (1 << 64)) for h in hashes]
    minima = minima_of_bins(hashes)
    while len(minima) < number:
        mask = splitmix(len(minima) // BINS)
        minima += minima_of_bins(number ^ mask for number in numbers)
    return minima


def last_bits(minima):
    return sum((m & 1) << b for b, m in enumerate(minima))


def minhash(hashes):
    """Bit b is the last one of the minimum of bin b."""
    hashes = list(hashes)
    return last_bits(minima_of_bins(hashes)) if hashes else None


def minhash_bits(hashes, bits=256):
    """The last bits of more minima."""
    if not 8 <= bits <= 4096 or bits % 8 != 0:
        raise ValueError('bits is not a multiple of 8 from 8 to 4096')
    hashes = list(hashes)
    if not hashes:
        return None
    minima = first_minima(hashes, bits)
    parts = [last_bits(minima[i:i + BINS]) for i in range(0, len(minima), BINS)]
    return ''.join('%016x' % part for part in parts)[:bits // 4]


def bands(hashes, minima=3, bands=32):
    """A word for each band: 24 bits of a hash of its minima, then the last bits of the
    32 minima that follow."""
    if not 1 <= minima <= 8 or not 1 <= bands <= 64:
        raise ValueError('minima is not from 1 to 8, or bands not from 1 to 64')
    hashes = list(hashes)
    if not hashes:
        return None
    numbers = first_minima(hashes, minima * bands + 32)
    words = []
    for i in range(0, minima * bands, minima):
        band = b''.join(m.to_bytes(4, 'little') for m in numbers[i:i + minima])
        words.append((xxh3_64(band) >> 40) << 32 | last_bits(numbers[i + minima:i + minima + 32]))
    return ''.join('%016x' % word for word in words)


#
# Titles: their words, and their numbers
#


def numbers_of(text):
    """The runs of decimal digits in the words of a text, by their values, in the order of
    their digits in ASCII."""
    runs = ''.join(str(DIGITS.get(c, ' ')) for c in ' '.join(words_of(text))).split()
    return sorted(run.lstrip('0') or '0' for run in runs)


def title_bands(title):
    """The bands of the words.  The first bits of a hash of the numbers, if there are any,
    change the prefix of each."""
    numbers = ''.join(number + ' ' for number in numbers_of(title))
    mask = xxh3_64(numbers.encode()) >> 40 << 32 if numbers else 0
    words = bands(hashes_of(words_of(title)), 4, 16)
    return words and ['%016x' % (int(words[i:i + 16], 16) ^ mask) for i in range(0, len(words), 16)]


def similar_titles(a, b, similarity=0.7):
    """Do they share so many words, and a band, and have the same numbers?"""
    if not 0.7 <= similarity <= 1:
        raise ValueError('similarity is not from 0.7 to 1')
    share = jaccard(a, b, 1)
    if share is None:
        return None
    differences = [int(x, 16) ^ int(y, 16) for x, y in zip(title_bands(a), title_bands(b))]
    return (share >= similarity and numbers_of(a) == numbers_of(b) and
            any(d >> 32 == 0 and d.bit_count() <= 9 for d in differences))


#
# The functions of the extension
#


def simhash_hash(text):
    h = xxh3_64(text.encode())
    return h - (1 << 64) if h >> 63 else h


def compute_text(text, shingle=4, unit='char'):
    return fingerprint_of_features(Counter(shingles(text, shingle, unit)))


def compute_bytes(data, shingle=8):
    return fingerprint_of_features(Counter(windows(data, shingle)))


def compute_tsvector(lexemes):
    return fingerprint_of_features(
        {lexeme: max(1, len(positions))
         for lexeme, positions in lexemes.items()})


def compute_hashes(hashes, weights=None):
    if weights is None:
        weights = [1.0] * len(hashes)
    if len(weights) != len(hashes):
        raise ValueError('as many weights as features are needed')
    return majority([h % (1 << 64) for h in hashes],
                    [fixed_point(w) for w in weights])


def compute_features(features, weights=None):
    return compute_hashes([simhash_hash(f) for f in features], weights)


def hashes_of(features):
    return [xxh3_64(f.encode() if isinstance(f, str) else f)
            for f in set(features)]


def jaccard(a, b, shingle=3, unit='word'):
    """The share of the features of two texts that both have."""
    a = set(shingles(a, shingle, unit))
    b = set(shingles(b, shingle, unit))
    return len(a & b) / len(a | b) if a and b else None


def containment(a, b, shingle=3, unit='word'):
    """The share of the features of a that b has."""
    a = set(shingles(a, shingle, unit))
    b = set(shingles(b, shingle, unit))
    return len(a & b) / len(a) if a else None


def runs(text, length):
    """All runs of that many words; none of a shorter text."""
    words = words_of(text)
    return [' '.join(words[i:i + length]) for i in range(len(words) - length + 1)]


def passage_keys(text):
    """The smallest of each 8 consecutive hashes of runs of 6 words."""
    hashes = [xxh3_64(run.encode()) for run in runs(text, 6)]
    keys = {min(hashes[i:i + 8]) for i in range(len(hashes) - 7)}
    return sorted(k - (1 << 64) if k >> 63 else k for k in keys)


def passages(a, b, min_words=13):
    """The passages that both texts have: (first word in a, in b, words)."""
    a, b = runs(a, min_words), runs(b, min_words)
    found = []
    i = 0
    while i < len(a):
        if a[i] not in b:
            i += 1
            continue
        j = b.index(a[i])
        before = 0
        while before < min(i, j) and a[i - before - 1] == b[j - before - 1]:
            before += 1
        after = 1
        while a[i + after:i + after + 1] == b[j + after:j + after + 1] != []:
            after += 1
        start = i - before
        found = [p for p in found if p[0] < start]
        found.append((start, j - before, before + after))
        i += after
    return [(x + 1, y + 1, n + min_words - 1) for x, y, n in found]


#
# The filter
#


def evaluate(request):
    if isinstance(request, str):
        return compute_text(request)
    form = request['form']
    if form in ('jaccard', 'containment'):
        measure = jaccard if form == 'jaccard' else containment
        result = measure(request['a'], request['b'],
                         request.get('shingle', 3), request.get('unit', 'word'))
        return None if result is None else round(result * 1e9)
    if form == 'passages':
        found = passages(request['a'], request['b'], request.get('min_words', 13))
        return '|'.join('%d %d %d' % p for p in found) or None
    if form == 'passage_words':
        a = runs(request['a'], 1)
        found = passages(request['a'], request['b'], request.get('min_words', 13))
        return '|'.join(' '.join(a[p - 1:p - 1 + n]) for p, _, n in found) or None
    if form == 'similar_titles':
        result = similar_titles(request['a'], request['b'], request.get('similarity', 0.7))
        return None if result is None else str(result).lower()
    by_minhash = None
    if request.get('function') == 'minhash':
        by_minhash = minhash
    if request.get('function') == 'minhash_bits':
        by_minhash = partial(minhash_bits, bits=request.get('bits', 256))
    if request.get('function') == 'bands':
        by_minhash = partial(bands, minima=request.get('minima', 3), bands=request.get('bands', 32))
    if form == 'tsvector':
        if by_minhash:
            return by_minhash(hashes_of(request['lexemes']))
        return compute_tsvector(request['lexemes'])
    if form == 'text[]':
        if by_minhash:
            return by_minhash(hashes_of(request['features']))
        return compute_features(request['features'], request.get('weights'))
    if form == 'bigint[]':
        if by_minhash and 'series' in request:
            first, last, step = map(int, request['series'])
            return by_minhash(range(first, last + 1, step))
        hashes = [int(h) for h in request['hashes']]
        if by_minhash:
            return by_minhash(hashes)
        return compute_hashes(hashes, request.get('weights'))
    document = request['document'] * request.get('repeat', 1)
    if form == 'hash':
        return simhash_hash(document)
    if form == 'title_bands':
        return ''.join(title_bands(document) or []) or None
    if form == 'passage_keys':
        return ' '.join(map(str, passage_keys(document))) or None
    if form == 'bytea':
        data = bytes.fromhex(document)
        shingle = request.get('shingle', 8)
        if by_minhash:
            return by_minhash(hashes_of(windows(data, shingle)))
        return compute_bytes(data, shingle)
    if form == 'text' and by_minhash:
        return by_minhash(hashes_of(shingles(document, request.get('shingle', 2),
                                             request.get('unit', 'word'))))
    options = request.get('shingle', 4), request.get('unit', 'char')
    if form == 'text':
        return compute_text(document, *options)
    if form == 'shingles':
        return '|'.join(shingles(document, *options)) or None
    raise ValueError('unknown form')


def main():
    sys.stdin.reconfigure(encoding='utf-8')
    sys.stdout.reconfigure(encoding='utf-8')
    for line in sys.stdin:
        result = evaluate(json.loads(line))
        print('NULL' if result is None else result)


if __name__ == '__main__':
    main()
