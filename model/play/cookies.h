/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/cookies.h
 *
 * Listings over several replies (READDIR, RFC 1813 s3.3.16): which operation returned the cookie
 * with which a later one continues, and which names were listed up to there.
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
    uint64_t operation;        /* that gave it, as operations are counted from 0 */
    uint32_t entries;          /* of its reply that stand before it */
    bool is_whole;             /* |names| are all since the directory's beginning */
    int64_t since;             /* when the first reply's call was made */
    struct expect_names names; /* listed up to there */
};

struct cookie {
    uint32_t directory, client; /* of the database; a host, or 0: any */
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
/* 0 or -ERR_SYSTEM. */
int cookies_ask(struct cookies *cookies, uint32_t directory, uint32_t client, uint64_t cookie);
/* Whether somebody asks for it. */
bool cookies_give(struct cookies *cookies, uint32_t directory, uint32_t client, uint64_t cookie,
                  const struct cookie_place *place);
/* NULL: nobody gave it. */
const struct cookie_place *cookies_find(const struct cookies *cookies, uint32_t directory,
                                        uint32_t client, uint64_t cookie);

#endif
