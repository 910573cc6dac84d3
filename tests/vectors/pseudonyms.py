#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints pseudonyms as the documents of their constructions say, for the unit tests of engine/anon:
AES (FIPS 197), FF1 (NIST SP 800-38G, algorithms 6 and 7), Crypto-PAn (Xu, Fan, Ammar, Moon 2002; for
IPv6 with 128 in the place of 32 bits), HKDF (RFC 5869).  Written from these, sharing nothing with
the program.  pseudonyms.txt is what it printed.

Lines: pan KEY ORIGINAL PSEUDONYM (Crypto-PAn as published), numbered KEY ORIGINAL PSEUDONYM; ff1 KEY RADIX TWEAK DIGITS DIGITS; number CLASS BITS ORIGINAL
PSEUDONYM, bytes CLASS ORIGINAL PSEUDONYM, token CLASS TEXT TOKEN under the key whose secret is
00 01 ... 1f.  Numbers of digits are hexadecimal with "." between."""

import hashlib
import hmac
import ipaddress
import random


def gf_multiply(a, b):
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = a << 1 ^ (0x11b if a & 0x80 else 0)
        b >>= 1
    return product


def make_sbox():
    box = []
    for x in range(256):
        inverse = next((y for y in range(256) if gf_multiply(x, y) == 1), 0)
        value = 0x63
        for shift in range(5):
            value ^= (inverse << shift | inverse >> (8 - shift)) & 0xff
        box.append(value)
    return box


SBOX = make_sbox()
DOUBLE = [gf_multiply(x, 2) for x in range(256)]
TRIPLE = [gf_multiply(x, 3) for x in range(256)]


class AES:
    def __init__(self, key):
        words = [list(key[i:i + 4]) for i in range(0, len(key), 4)]
        nk = len(words)
        self.rounds = nk + 6
        constant = 1
        for i in range(nk, 4 * (self.rounds + 1)):
            word = list(words[-1])
            if i % nk == 0:
                word = [SBOX[b] for b in word[1:] + word[:1]]
                word[0] ^= constant
                constant = gf_multiply(constant, 2)
            elif nk > 6 and i % nk == 4:
                word = [SBOX[b] for b in word]
            words.append([a ^ b for a, b in zip(words[i - nk], word)])
        self.keys = [sum(words[4 * r:4 * r + 4], []) for r in range(self.rounds + 1)]

    def encrypt(self, block):
        state = [a ^ b for a, b in zip(block, self.keys[0])]
        for r in range(1, self.rounds + 1):
            state = [SBOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
            if r < self.rounds:
                mixed = []
                for c in range(0, 16, 4):
                    s = state[c:c + 4]
                    mixed += [DOUBLE[s[i]] ^ TRIPLE[s[(i + 1) % 4]] ^ s[(i + 2) % 4] ^ s[(i + 3) % 4]
                              for i in range(4)]
                state = mixed
            state = [a ^ b for a, b in zip(state, self.keys[r])]
        return bytes(state)


def pan(key, address, bits, numbered=False):
    aes = AES(key[:16])
    pad = int.from_bytes(aes.encrypt(key[16:]), "big")
    flips = 0
    for i in range(bits):
        prefix = address >> (bits - i) << (128 - i)
        block = prefix | pad & ((1 << (128 - i)) - 1)
        if numbered:
            block = (prefix | 1 << (127 - i)) ^ pad
        flips = flips << 1 | aes.encrypt(block.to_bytes(16, "big"))[0] >> 7
    return address ^ flips


def ff1(key, radix, tweak, digits):
    aes = AES(key)

    def num(x):
        value = 0
        for digit in x:
            value = value * radix + digit
        return value

    n = len(digits)
    u, v = n // 2, n - n // 2
    a, b = digits[:u], digits[u:]
    size = ((radix ** v - 1).bit_length() + 7) // 8
    d = 4 * ((size + 3) // 4) + 4
    p = bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, u % 256]) + n.to_bytes(4, "big") \
        + len(tweak).to_bytes(4, "big")
    for i in range(10):
        q = tweak + bytes((-len(tweak) - size - 1) % 16) + bytes([i]) + num(b).to_bytes(size, "big")
        r = bytes(16)
        for at in range(0, len(p + q), 16):
            r = aes.encrypt(bytes(x ^ y for x, y in zip(r, (p + q)[at:at + 16])))
        s = r
        for j in range(1, (d + 15) // 16):
            s += aes.encrypt((int.from_bytes(r, "big") ^ j).to_bytes(16, "big"))
        m = u if i % 2 == 0 else v
        c = (num(a) + int.from_bytes(s[:d], "big")) % radix ** m
        new = []
        for _ in range(m):
            new.append(c % radix)
            c //= radix
        a, b = b, new[::-1]
    return a + b


def derive(secret, label, length):
    prk = hmac.digest(b"nfsdigest anonymization 1", secret, hashlib.sha256)
    block, out = b"", b""
    while len(out) < length:
        block = hmac.digest(prk, block + label.encode() + bytes([len(out) // 32 + 1]), hashlib.sha256)
        out += block
    return out[:length]


def token(secret, cls, text):
    value = int.from_bytes(hmac.digest(derive(secret, "token " + cls, 32), text, hashlib.sha256)[:10],
                           "big")
    return "".join("0123456789abcdefghijklmnopqrstuv"[value >> 75 - 5 * i & 31] for i in range(16))


def permute_half(key, half):
    """30 digits of radix 2, the lowest first, of 32 bits without those of weight 128 and 2^31; these
    are changed or not as two bits of the pseudonym, permuted again, say."""
    where = [n for n in range(31) if n != 7]
    digits = [half >> n & 1 for n in where]
    if not any(digits):
        return half
    digits = ff1(key, 2, b"", digits)
    while not any(digits):
        digits = ff1(key, 2, b"", digits)
    out = sum(digit << n for digit, n in zip(digits, where))
    flips = ff1(key, 2, b"", digits)
    return out | (half >> 31 ^ flips[0]) << 31 | (half >> 7 & 1 ^ flips[1]) << 7


def show(digits):
    return ".".join("%x" % digit for digit in digits)


def main():
    rng = random.Random(38)
    assert AES(bytes(range(16))).encrypt(bytes(0x11 * i for i in range(16))).hex() == \
        "69c4e0d86a7b0430d8cdb78070b4c55a"  # FIPS 197, appendix C.1
    for _ in range(4):
        key = rng.randbytes(32)
        for bits, kind in ((32, ipaddress.IPv4Address), (128, ipaddress.IPv6Address)):
            for _ in range(8):
                address = rng.getrandbits(bits)
                print("pan", key.hex(), kind(address), kind(pan(key, address, bits)))
                print("numbered", key.hex(), kind(address), kind(pan(key, address, bits, True)))
    for radix in (2, 3, 10, 70, 94, 254, 255, 256, 257, 1000, 65535, 65536):
        for n in (2, 3, 4, 7, 8, 16, 31, 64, 127, 128, 255, 300):
            key = rng.randbytes(rng.choice((16, 24, 32)))
            tweak = rng.randbytes(rng.choice((0, 0, 1, 9, 15, 40)))
            if radix ** n < 100:
                continue
            digits = [rng.randrange(radix) for _ in range(n)]
            print("ff1", key.hex(), radix, tweak.hex() or "-", show(digits),
                  show(ff1(key, radix, tweak, digits)))
    secret = bytes(range(32))
    for cls, bits in (("uid", 32), ("gid", 32), ("fileid", 64), ("cookie", 64), ("verifier", 64)):
        key = derive(secret, "permuted " + cls, 32)
        for value in (1, 1000, 2 ** (bits - 1), rng.getrandbits(bits)):
            if cls == "verifier":
                half = derive(secret, "halves", 32)
                print("number", cls, bits, value, permute_half(half, value >> 32) << 32 |
                      permute_half(half, value & 0xffffffff))
                continue
            digits = ff1(key, 256, b"", list(value.to_bytes(bits // 8, "big")))
            print("number", cls, bits, value, int.from_bytes(bytes(digits), "big"))
    key = derive(secret, "permuted handle", 32)
    for n in (2, 28, 32, 64, 128):
        data = rng.randbytes(n)
        print("bytes handle", data.hex(), bytes(ff1(key, 256, b"", list(data))).hex())
    for cls, text in (("name", "Makefile"), ("name", "x"), ("host", "client1"), ("path", "/a/b")):
        print("token", cls, text, token(secret, cls, text.encode()))


if __name__ == "__main__":
    main()
