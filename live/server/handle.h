/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/handle.h
 *
 * File handles (RFC 1813 s2.3.3): opaque to clients, 20 bytes, the same for one object as long as
 * it lives, and for no other one after it.
 *
 *     export | object | generation (each 4 bytes, big endian) | SipHash-2-4 of these 12 with a key
 *
 * As MOUNT 1 gives them they are 32 bytes: zeros follow.
 *
 * Nobody without the key can make a handle that handle_read takes: what clients may see is decided
 * by LOOKUP and MOUNT, not by guessing.
 */
#ifndef NFSDIGEST_SERVER_HANDLE_H
#define NFSDIGEST_SERVER_HANDLE_H

#include "base/bytes.h"

#include <stdbool.h>

enum { HANDLE_LENGTH = 20, HANDLE_MOUNT1 = 32, HANDLE_KEY_LENGTH = 16 };

struct handle {
    uint32_t export, object, generation;
};

void handle_write(const uint8_t key[HANDLE_KEY_LENGTH], const struct handle *from,
                  uint8_t to[HANDLE_LENGTH]);
/* false: it is none of ours. */
bool handle_read(const uint8_t key[HANDLE_KEY_LENGTH], struct bytes from, struct handle *to);

/* 8 bytes that belong to |key| and |purpose|: the same wherever the key is. */
void handle_derive(const uint8_t key[HANDLE_KEY_LENGTH], const char *purpose, uint8_t to[8]);

#endif
