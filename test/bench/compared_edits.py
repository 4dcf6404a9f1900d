"""Pairs of real texts and edited copies of them for test/bench/compared, and what MinHash finds of these.

usage: compared_edits.py ROWS PAIRS

ROWS has a name and a text on each line, as COPY reads them.  Their prose is cut into passages of 60 to 400 words, of
which each is edited in seven ways, as far as a Jaccard coefficient between .5 and 1 needs.  Writes the file "edited":
kind of edit, both texts, the coefficient of their three-word shingles, and for each choice of BANDS whether the texts
agree in a band of minimum hashes.  Of unlike texts this is not asked, for the comparison that follows removes them.
"""
import functools
import random
import re
import sys

from compared import THRESHOLD, feature, jaccard, shingles

BANDS = ((9, 13), (14, 8), (16, 8), (20, 13))
HASHES = max(bands * rows for bands, rows in BANDS)
MASK = (1 << 64) - 1
# shares of wrong characters in both texts, and how much of each is kept at least
NOISE = (("2 % in one", 0.02, 0, 1), ("5 % in one", 0.05, 0, 1), ("3 % in both", 0.03, 0.03, 1),
         ("2.5 % in both, cut", 0.025, 0.025, 0.75))
chance = random.Random(1)


def prose(rows):
    """Yield the paragraphs that consist of words, each once; lines of macros are not prose."""
    seen = set()
    for row in rows:
        text = row.partition("\t")[2].replace("\\n", "\n").replace("\\\\", "\\").replace("\\t", " ")
        for paragraph in re.split(r"\n\s*\n|\n[.'=].*", re.sub(r"\\f.|\\-", "", text)):
            words = paragraph.split()
            plain = sum(1 for word in words if re.fullmatch(r"[A-Za-z'-]+[.,;:]?", word))
            if len(words) >= 12 and plain >= 0.8 * len(words) and paragraph.isascii() and "\\" not in paragraph:
                known = " ".join(words)
                if known not in seen:
                    seen.add(known)
                    yield words


def passages(rows):
    passage, length = [], chance.randint(60, 400)
    for words in prose(rows):
        passage += words
        while len(passage) >= length:
            yield passage[:length]
            passage, length = passage[length:], chance.randint(60, 400)


# Edits: the words, those of another text, and the coefficient to come near to


def each_word(words, target, edit):
    share = 1 - (2 * target / (1 + target)) ** (1 / 3)
    return [edit(word) if chance.random() < share else word for word in words]


def scattered_words(words, other, target):
    return each_word(words, target, lambda word: chance.choice(other))


def wrong_characters(words, other, target):
    def edit(word):
        place = chance.randrange(len(word))
        return word[:place] + chance.choice("abcdefghijklmnopqrstuvwxyz") + word[place + chance.randrange(2):]

    return each_word(words, target, edit)


def sentences_moved(words, other, target):
    ends = [i + 1 for i, word in enumerate(words) if word[-1] in ".:;," and i + 1 < len(words)]
    sentences = [words[a:b] for a, b in zip([0] + ends, ends + [len(words)])]
    before = moved = shingles(" ".join(words))
    for _ in range(50):
        if jaccard(before, moved) <= target:
            break
        sentence = sentences.pop(chance.randrange(len(sentences)))
        sentences.insert(chance.randrange(len(sentences) + 1), sentence)
        moved = shingles(" ".join(sum(sentences, [])))
    return sum(sentences, [])


def block_replaced(words, other, target):
    size = round((1 - target) / (1 + target) * len(words))
    place = chance.randrange(len(words) - size + 1)
    return words[:place] + (other * 7)[:size] + words[place + size:]


def truncated(words, other, target):
    return words[: round(target * len(words))]


def inserted(words, other, target):
    place = chance.randrange(len(words) + 1)
    return words[:place] + (other * 7)[: round((1 / target - 1) * len(words))] + words[place:]


def framed(words, frame, target):
    size = round((1 - target) / (2 * target) * len(words))
    frame = (frame * 7)[:size]
    return frame[: size // 3] + words + frame[size // 3 :]


def with_noise(text, share):
    """A scan of it: characters are wrong, doubled or missing."""
    return "".join(c if c == " " or chance.random() >= share else chance.choice(("", chance.choice(text), c + chance.choice(text)))
                   for c in text)


def bands_agree(x, y, multipliers, choices):
    """For each choice, whether a band agrees: a minimum hash does where the least one is of a common feature."""
    common, others = x & y, x ^ y

    @functools.cache
    def agree(i):
        a = multipliers[i]
        return not others or bool(common) and min([f * a & MASK for f in common]) < min([f * a & MASK for f in others])

    return [any(all(agree(band * rows + row) for row in range(rows)) for band in range(bands)) for bands, rows in choices]


def main():
    with open(sys.argv[1]) as file:
        texts = list(passages(file))
    chance.shuffle(texts)
    pairs = int(sys.argv[2])
    multipliers = [chance.getrandbits(64) | 1 for _ in range(HASHES)]
    kinds = (scattered_words, sentences_moved, block_replaced, truncated, inserted, framed, wrong_characters)

    with open("edited", "w") as file:
        for number in range(pairs):
            kind = kinds[number % len(kinds)]
            a = texts[number // len(kinds) % len(texts)]
            others = chance.sample(texts, 2)
            target = chance.uniform(0.5, 1)
            b = kind(a, others[0], target)
            if kind is framed:
                a = framed(a, others[1], target)
            x, y = shingles(" ".join(a)), shingles(" ".join(b))
            coefficient = jaccard(x, y)
            found = bands_agree(x, y, multipliers, BANDS) if coefficient >= THRESHOLD else []
            file.write("\t".join([kind.__name__.replace("_", " "), " ".join(a), " ".join(b), repr(coefficient),
                                  "{%s}" % ",".join(map(str, found))]) + "\n")

    with open("noisy", "w") as file:
        for text in texts[: pairs // 50]:
            for what, of_a, of_b, kept in NOISE:
                a, b = (with_noise(" ".join(text[: round(chance.uniform(kept, 1) * len(text))]), share) for share in (of_a, of_b))
                x, y = ({feature(t[i : i + 5]) for i in range(len(t) - 4)} for t in (a.lower(), b.lower()))
                file.write("\t".join([what, a, b, str(bands_agree(x, y, multipliers, [(25, 4)])[0])]) + "\n")


if __name__ == "__main__":
    main()
