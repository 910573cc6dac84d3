/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/unmask.h
 *
 * Converts pseudonyms to their originals, and back, with the key: one value at a time, as text.
 * Numbers are decimal or, with 0x, hexadecimal.  Handles are hexadecimal.  Addresses are written as
 * in RFC 5952.  Bytes of names, paths and hosts that are not printable UTF-8 are written \xNN, a
 * backslash as two.
 *
 * Memory: that of a mapping, and one value.
 */
#ifndef NFSDIGEST_ANON_UNMASK_H
#define NFSDIGEST_ANON_UNMASK_H

#include "anon/policy.h"

#include <stdio.h>

struct unmask;

/* |key| is a file, |policy| a file or a built-in name, |cls| a class of values: address, uid, gid,
 * fileid, fsid, device, cookie, verifier, lock_owner, time, stamp, xid, port, handle, name, path or
 * host.  -ERR_USAGE: no such class. */
struct unmask *unmask_new(const char *key, const char *policy, const char *cls, struct err *err);
void unmask_free(struct unmask *u);

/* Returns true if values of the class are names, paths or hosts, whose originals can be guessed. */
bool unmask_is_text(const struct unmask *u);
/* Returns true if the policy's rule for the class can be inverted. */
bool unmask_has_way_back(const struct unmask *u);
const char *unmask_rule(const struct unmask *u);
const char *unmask_policy(const struct unmask *u);

/* Sets *|result| to the original of |text| or, if not |back|, to its pseudonym.  It is valid until
 * the next call.  Returns -ERR_USAGE if |text| is not a value of the class. */
int unmask_value(struct unmask *u, const char *text, bool back, const char **result,
                 struct err *err);

struct unmask_guess {
    FILE *file; /* candidates for originals, one on each line */
    const char *name;
    char **values; /* pseudonyms; the search sorts them; |count| 0: all pairs are shown */
    int count;
    void (*show)(void *ctx, const char *pseudonym, const char *original);
    void *ctx;
};

/* Shows each candidate whose pseudonym is one of the values.  Returns 1 if there are values and
 * none was found. */
int unmask_candidates(struct unmask *u, const struct unmask_guess *guess, struct err *err);

#endif
