"""XXH3, 64 bits, seed 0: the hash of a feature.

Written from the specification of the algorithm; every multiplication, addition
and shift is modulo 2^64, and words are read little-endian on every machine.
"""

from struct import Struct

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF

PRIME32_1 = 0x9E3779B1
PRIME32_2 = 0x85EBCA77
PRIME32_3 = 0xC2B2AE3D
PRIME64_1 = 0x9E3779B185EBCA87
PRIME64_2 = 0xC2B2AE3D27D4EB4F
PRIME64_3 = 0x165667B19E3779F9
PRIME64_4 = 0x85EBCA77C2B2AE63
PRIME64_5 = 0x27D4EB2F165667C5
PRIME_MX1 = 0x165667919E3779F9
PRIME_MX2 = 0x9FB21C651E98DF25

# the algorithm's default secret, 192 bytes
SECRET = bytes.fromhex("""
    b8fe6c3923a44bbe7c01812cf721ad1c ded46de9839097db7240a4a4b7b3671f
    cb79e64eccc0e578825ad07dccff7221 b8084674f743248ee03590e6813a264c
    3c2852bb91c300cb88d0658b1b532ea3 71644897a20df94e3819ef46a9deacd8
    a8fa763fe39c343ff9dcbbc7c70b4f1d 8a51e04bcdb45931c89f7ec9d9787364
    eac5ac8334d3ebc3c581a0fffa1363eb 170ddd51b7f0da49d316552629d4689e
    2b16be587d47a1fc8ff8b8d17ad031ce 45cb3a8f95160428afd7fbcabb4b407e
""")

STRIPE = 64                             # bytes that one round consumes
BLOCK = 1024                            # bytes between two scrambles

word32 = Struct('<I').unpack_from
word64 = Struct('<Q').unpack_from
two_words = Struct('<QQ').unpack_from
eight_words = Struct('<8Q').unpack_from


def secret64(offset):
    return word64(SECRET, offset)[0]


FLIP_1TO3 = word32(SECRET, 0)[0] ^ word32(SECRET, 4)[0]
FLIP_4TO8 = secret64(8) ^ secret64(16)
FLIP_9TO16_LOW = secret64(24) ^ secret64(32)
FLIP_9TO16_HIGH = secret64(40) ^ secret64(48)
FLIP_0 = secret64(56) ^ secret64(64)


def avalanche(h):
    h ^= h >> 37
    h = h * PRIME_MX1 & MASK64
    return h ^ h >> 32


def avalanche_xxh64(h):
    h ^= h >> 33
    h = h * PRIME64_2 & MASK64
    h ^= h >> 29
    h = h * PRIME64_3 & MASK64
    return h ^ h >> 32


def rotate_left(h, bits):
    return (h << bits | h >> 64 - bits) & MASK64


def fold(a, b):
    """Exclusive or of the halves of the 128-bit product."""
    product = a * b
    return product & MASK64 ^ product >> 64


def mix16(data, at, secret_at):
    low, high = two_words(data, at)
    secret_low, secret_high = two_words(SECRET, secret_at)
    return fold(low ^ secret_low, high ^ secret_high)


def hash_up_to_16(data, length):
    if length > 8:
        low = word64(data, 0)[0] ^ FLIP_9TO16_LOW
        high = word64(data, length - 8)[0] ^ FLIP_9TO16_HIGH
        swapped = int.from_bytes(low.to_bytes(8, 'little'), 'big')
        return avalanche(length + swapped + high + fold(low, high) & MASK64)
    if length >= 4:
        h = word32(data, length - 4)[0] | word32(data, 0)[0] << 32
        h ^= FLIP_4TO8
        h ^= rotate_left(h, 49) ^ rotate_left(h, 24)
        h = h * PRIME_MX2 & MASK64
        h ^= (h >> 35) + length
        h = h * PRIME_MX2 & MASK64
        return h ^ h >> 28
    if length:
        combined = (data[0] << 16 | data[length >> 1] << 24 |
                    data[length - 1] | length << 8)
        return avalanche_xxh64(combined ^ FLIP_1TO3)
    return avalanche_xxh64(FLIP_0)


def hash_17_to_128(data, length):
    h = length * PRIME64_1
    for i in range((length - 1) // 32, -1, -1):
        h += mix16(data, 16 * i, 32 * i)
        h += mix16(data, length - 16 * (i + 1), 32 * i + 16)
    return avalanche(h & MASK64)


def hash_129_to_240(data, length):
    h = length * PRIME64_1
    for i in range(8):
        h += mix16(data, 16 * i, 16 * i)
    h = avalanche(h & MASK64)
    for i in range(8, length // 16):
        h += mix16(data, 16 * i, 16 * (i - 8) + 3)
    h += mix16(data, length - 16, 136 - 17)
    return avalanche(h & MASK64)


def accumulate(lanes, data, at, secret_at):
    """Take in one stripe."""
    words = eight_words(data, at)
    keys = eight_words(SECRET, secret_at)
    for i in range(8):
        keyed = words[i] ^ keys[i]
        lanes[i ^ 1] += words[i]
        lanes[i] += (keyed & MASK32) * (keyed >> 32)
    for i in range(8):
        lanes[i] &= MASK64


def scramble(lanes):
    keys = eight_words(SECRET, len(SECRET) - STRIPE)
    for i in range(8):
        lane = lanes[i]
        lanes[i] = (lane ^ lane >> 47 ^ keys[i]) * PRIME32_1 & MASK64


def hash_long(data, length):
    lanes = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3,
             PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]

    # The last stripe, whole or not, is taken in apart, hence length - 1.
    for at in range(0, (length - 1) // STRIPE * STRIPE, STRIPE):
        accumulate(lanes, data, at, at % BLOCK // STRIPE * 8)
        if at % BLOCK == BLOCK - STRIPE:
            scramble(lanes)
    accumulate(lanes, data, length - STRIPE, len(SECRET) - STRIPE - 7)

    h = length * PRIME64_1
    for i in range(0, 8, 2):
        low, high = two_words(SECRET, 11 + 8 * i)
        h += fold(lanes[i] ^ low, lanes[i + 1] ^ high)
    return avalanche(h & MASK64)


def xxh3_64(data):
    """The hash of a byte string as an unsigned integer."""
    length = len(data)
    if length <= 16:
        return hash_up_to_16(data, length)
    if length <= 128:
        return hash_17_to_128(data, length)
    if length <= 240:
        return hash_129_to_240(data, length)
    return hash_long(data, length)
