/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/key.h
 *
 * The secret behind all pseudonyms: 256 random bits in a file of mode 0600.  Nothing is encrypted
 * with it directly.  Each use has its own subkey (HKDF-SHA256, RFC 5869, with a label for the use),
 * so knowledge about one class of values gives no knowledge about another.
 *
 * The file says which version of the mapping it is for.  A version never changes: a change that
 * gives other pseudonyms is a new version.  So captures that are released in parts agree, whichever
 * program made them.  Version 1: addresses by Crypto-PAn as published (address_pan.h); names with
 * bytes outside ASCII can get control characters (mapping_same.h); verifiers in times are mapped
 * like times (verifier_times.h); constants of time are shifted.  Version 2 has none of these.
 */
#ifndef NFSDIGEST_ANON_KEY_H
#define NFSDIGEST_ANON_KEY_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { KEY_LEN = 32, KEY_VERSION_1 = 1, KEY_VERSION = 2 /* of new keys */ };

struct key {
    uint8_t secret[KEY_LEN];
    uint32_t version; /* KEY_VERSION_1 to KEY_VERSION */
};

/* Makes a new key file: -ERR_USAGE if |path| exists, or if there is no such |version|.
 */
int key_create(const char *path, uint64_t version, struct err *err);

/* Reads a key file.  -ERR_INPUT if it is no key file or of a later version, or if others than its
 * owner may read or change it. */
int key_load(struct key *key, const char *path, struct err *err);

/* Derives |len| bytes from the key and |label| ("handle", "address", ...). */
int key_derive(const struct key *key, const char *label, void *out, size_t len, struct err *err);

/* Prevents core dumps of this process, and other processes of the user from reading its memory,
 * because both would show keys.  Our own programs call it before they read a key.  A plugin does
 * not call it, because it must not change its host. */
void key_refuse_dumps(void);

/* Overwrites the key. */
void key_forget(struct key *key);

#endif
