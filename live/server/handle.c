/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "server/handle.h"

#include <sodium.h>
#include <string.h>

enum { DIGESTED = 12 };

_Static_assert(crypto_shorthash_KEYBYTES == HANDLE_KEY_LENGTH, "a key of SipHash");
_Static_assert(DIGESTED + crypto_shorthash_BYTES == HANDLE_LENGTH, "a digest of SipHash");

void handle_write(const uint8_t key[HANDLE_KEY_LENGTH], const struct handle *from,
                  uint8_t to[HANDLE_LENGTH])
{
    store_be32(to, from->export);
    store_be32(to + 4, from->object);
    store_be32(to + 8, from->generation);
    crypto_shorthash(to + DIGESTED, to, DIGESTED, key);
}

bool handle_read(const uint8_t key[HANDLE_KEY_LENGTH], struct bytes from, struct handle *to)
{
    uint8_t digest[crypto_shorthash_BYTES];

    if (from.len != HANDLE_LENGTH &&
        (from.len != HANDLE_MOUNT1 ||
         !sodium_is_zero(from.data + HANDLE_LENGTH, HANDLE_MOUNT1 - HANDLE_LENGTH)))
        return false;
    crypto_shorthash(digest, from.data, DIGESTED, key);
    if (sodium_memcmp(digest, from.data + DIGESTED, sizeof(digest)) != 0)
        return false;
    to->export = load_be32(from.data);
    to->object = load_be32(from.data + 4);
    to->generation = load_be32(from.data + 8);
    return true;
}

void handle_derive(const uint8_t key[HANDLE_KEY_LENGTH], const char *purpose, uint8_t to[8])
{
    crypto_shorthash(to, (const uint8_t *)purpose, strlen(purpose), key);
}
