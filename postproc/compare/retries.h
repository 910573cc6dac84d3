/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/retries.h
 *
 * Requests that a client asks again because the server failed them (failure_of_server), for
 * align/align_again.h.  NFS3ERR_JUKEBOX is none of these failures: it asks for retries, as many as
 * it takes.
 *
 * Memory: 96 KiB, of RETRIES_FAILED places.  Of failed requests whose keys have the same place, the
 * latest is known; retries of the others are like any request.
 */
#ifndef NFSDIGEST_COMPARE_RETRIES_H
#define NFSDIGEST_COMPARE_RETRIES_H

#include "effect/effect.h"

enum { RETRIES_FAILED = 4096 };

/* All bits 0: no request failed. */
struct retries {
    struct retries_failed {
        uint64_t key;
        int64_t done;   /* when it had failed */
        uint32_t again; /* retries so far, and one; 0: there is nothing */
    } failed[RETRIES_FAILED];
};

/* Takes the next request, in the order of calls; |key| is of the request with its object and its
 * client.  Returns which retry it is, from 1; 0: it is none. */
uint32_t retries_take(struct retries *retries, uint64_t key, const struct effect *effect);

#endif
