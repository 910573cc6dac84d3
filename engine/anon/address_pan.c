/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/address_pan.h"

#include <string.h>

enum { BITS_MAX = 128 };

int pan_open(struct pan *pan, const uint8_t key[PAN_KEY_LEN], enum pan_way way, struct err *err)
{
    pan->way = way;
    if (aes_open(&pan->aes, key, 16, err) < 0)
        return -ERR_SYSTEM;
    memcpy(pan->pad, key + 16, CIPHER_BLOCK);
    aes_blocks(pan->aes, pan->pad, CIPHER_BLOCK);
    return 0;
}

void pan_close(struct pan *pan)
{
    cipher_close(pan->aes);
    explicit_bzero(pan, sizeof(*pan));
}

/* The first |bit| bits of the address, a one, zeros; all of it with the pad added. */
static void fill_numbered(const struct pan *pan, const uint8_t *address, unsigned bit,
                          uint8_t block[CIPHER_BLOCK])
{
    unsigned whole = bit / 8, left = bit % 8;

    memset(block, 0, CIPHER_BLOCK);
    memcpy(block, address, whole);
    block[whole] = (uint8_t)((left ? address[whole] & (0xff00 >> left) : 0) | 0x80 >> left);
    for (unsigned i = 0; i < CIPHER_BLOCK; i++)
        block[i] ^= pan->pad[i];
}

/* The first |bit| bits of the address, the rest of the pad. */
static void fill_published(const struct pan *pan, const uint8_t *address, unsigned bit,
                           uint8_t block[CIPHER_BLOCK])
{
    unsigned whole = bit / 8, left = bit % 8;

    memcpy(block, pan->pad, CIPHER_BLOCK);
    memcpy(block, address, whole);
    if (left) {
        uint8_t mask = (uint8_t)(0xff00 >> left);

        block[whole] = (uint8_t)((address[whole] & mask) | (pan->pad[whole] & ~mask));
    }
}

static void fill_block(const struct pan *pan, const uint8_t *address, unsigned bit,
                       uint8_t block[CIPHER_BLOCK])
{
    (pan->way == PAN_NUMBERED ? fill_numbered : fill_published)(pan, address, bit, block);
}

void pan_encrypt(const struct pan *pan, const uint8_t *in, uint8_t *out, unsigned len,
                 unsigned keep)
{
    uint8_t blocks[BITS_MAX][CIPHER_BLOCK], flips[BITS_MAX / 8] = { 0 };
    unsigned bits = 8 * len;

    if (keep < bits) {
        for (unsigned i = keep; i < bits; i++)
            fill_block(pan, in, i, blocks[i - keep]);
        aes_blocks(pan->aes, blocks, (bits - keep) * CIPHER_BLOCK);
    }
    for (unsigned i = keep; i < bits; i++)
        flips[i / 8] |= (uint8_t)((blocks[i - keep][0] >> 7) << (7 - i % 8));
    for (unsigned i = 0; i < len; i++)
        out[i] = in[i] ^ flips[i];
}

void pan_decrypt(const struct pan *pan, const uint8_t *in, uint8_t *out, unsigned len,
                 unsigned keep)
{
    uint8_t address[BITS_MAX / 8], block[CIPHER_BLOCK];

    memcpy(address, in, len);
    for (unsigned i = keep; i < 8 * len; i++) {
        fill_block(pan, address, i, block); /* whose bits before |i| are the original's by now */
        aes_blocks(pan->aes, block, CIPHER_BLOCK);
        address[i / 8] ^= (uint8_t)((block[0] >> 7) << (7 - i % 8));
    }
    memcpy(out, address, len);
}
