/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/handle.h
 *
 * File handles (RFC 1813 s2.3.3): opaque to clients, 20 bytes, always the same for one object, and
 * never used for another one.
 *
 *     export | object | generation (each 4 bytes, big endian) | SipHash-2-4 of these 12 with a key
 *
 * MOUNT 1 gives them with zeros after them, as 32 bytes.
 *
 * Without the key it is not possible to make a handle that handle_read accepts.  So clients get
 * only the handles that LOOKUP and MOUNT give them, and cannot guess others.
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
/* Reads a handle.  Returns false if it is not one of ours. */
bool handle_read(const uint8_t key[HANDLE_KEY_LENGTH], struct bytes from, struct handle *to);

/* Derives 8 bytes from |key| and |purpose|.  The same key and purpose always give the same bytes.
 */
void handle_derive(const uint8_t key[HANDLE_KEY_LENGTH], const char *purpose, uint8_t to[8]);

#endif
