/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/key.h
 *
 * The secret behind all pseudonyms: 256 random bits in a file of mode 0600.  Nothing is encrypted
 * with it directly.  Each use has its own subkey (HKDF-SHA256, RFC 5869, with a label for the use),
 * so what somebody learns about one class of values says nothing about another.
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

/* |len| bytes that only the key and |label| ("handle", "address", ...) determine. */
int key_derive(const struct key *key, const char *label, void *out, size_t len, struct err *err);

/* From now on no core dump of this process is written, and no other process of the user can read
 * its memory: both would hold keys.  For programs of one's own, before a key is read; a plugin
 * leaves its host as it is. */
void key_refuse_dumps(void);

/* Overwrites it. */
void key_forget(struct key *key);

#endif
