/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/cookies.h
 *
 * Listings over several replies (READDIR, RFC 1813 s3.3.16).  For each cookie that a later listing
 * continues with, finds the operation that gave it and the names that were listed before it.
 *
 *     pass 1: cookies_ask for each cookie that is used; pass 2: cookies_give, cookies_find
 *
 * A client continues its own listing.  If that reply was not captured, any other reply that
 * returned the same cookie of that directory will do.
 *
 * Memory: 160 to 210 bytes for each cookie that is used.
 */
#ifndef NFSDIGEST_PLAY_COOKIES_H
#define NFSDIGEST_PLAY_COOKIES_H

#include "base/table.h"
#include "effect/expect.h"

/* A place in a listing. */
struct cookie_place {
    uint64_t operation;        /* number of the operation that gave the cookie, from 0 */
    uint32_t entries;          /* entries of its reply before the cookie */
    bool is_whole;             /* |names| has all names from the beginning of the directory */
    int64_t since;             /* call time of the first reply */
    struct expect_names names; /* names listed before the cookie */
};

struct cookie {
    uint32_t directory, client; /* database ids; |client| 0: any */
    uint64_t cookie;
    bool is_given;
    struct cookie_place place;
};

struct cookies {
    struct cookie *all;
    uint32_t count, cap;
    struct table table;
};

void cookies_free(struct cookies *cookies);
/* Notes that an operation uses this cookie.  Returns 0 or -ERR_SYSTEM. */
int cookies_ask(struct cookies *cookies, uint32_t directory, uint32_t client, uint64_t cookie);
/* Notes where a reply gave the cookie.  Returns true if an operation uses it. */
bool cookies_give(struct cookies *cookies, uint32_t directory, uint32_t client, uint64_t cookie,
                  const struct cookie_place *place);
/* Returns the place where the cookie was given, or NULL if it was not given. */
const struct cookie_place *cookies_find(const struct cookies *cookies, uint32_t directory,
                                        uint32_t client, uint64_t cookie);

#endif
