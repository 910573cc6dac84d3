/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tap/tap_ring.h
 *
 * Feeds a tap from the ring of a running relay: attaches, asks for announcements when the tap wants
 * them, and reads until the relay is gone and its ring is read.  Nobody wakes a reader, so it looks
 * every millisecond, and less often, down to every TAP_PAUSE, while nothing comes.
 *
 * A host that has too much to do lets entries wait in the ring: |is_full|.  When they take a
 * quarter of it, they are read nevertheless, so that none is lost for that reason.
 *
 * Memory: that of a ring's reader.
 */
#ifndef NFSDIGEST_TAP_TAP_RING_H
#define NFSDIGEST_TAP_TAP_RING_H

#include "net/loop.h"
#include "tap/tap.h"

#define TAP_PAUSE INT64_C(8000000) /* ns */

struct tap_ring;

struct tap_ring_host {
    /* The relay is gone, and all that it wrote was read.  Returns 0 or a negative code. */
    int (*ended)(void *ctx, struct err *err);
    void *ctx;
    /* May be NULL: never. */
    bool (*is_full)(void *ctx);
    const uint8_t *mark; /* for the relay to keep (ring/ring_door.h); or NULL */
};

/* Attaches to the relay that runs with "--attach |path|".  |loop| and |tap| must outlive it. */
struct tap_ring *tap_ring_new(struct loop *loop, const char *path, struct tap *tap,
                              const struct tap_ring_host *host, struct err *err);
void tap_ring_free(struct tap_ring *ring); /* NULL is allowed */

uint64_t tap_ring_size(const struct tap_ring *ring); /* bytes */

/* When entries waited for the host the last time, by the loop's clock; 0: never. */
int64_t tap_ring_held(const struct tap_ring *ring);

/* When all that the ring had was read the last time, likewise. */
int64_t tap_ring_caught_up(const struct tap_ring *ring);

/* Reads what the ring has now, for a program that is about to end. */
int tap_ring_drain(struct tap_ring *ring, struct err *err);

#endif
