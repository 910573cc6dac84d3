/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tap/tap.h
 *
 * The entries of a relay's ring (relay/relay_entry.h) in, records of the engine out: flows,
 * objects, and operations, each when its reply was read.  So programs can watch what passes a relay
 * without standing in its way.
 *
 * The entries' numbers take the place of frame numbers: |frame| of a sighting is the entry with the
 * last byte of the message.  Addresses are those of the client and of the server, as if there were
 * no relay; if one of them is IPv4 and the other IPv6, both are written as IPv6 (RFC 4291
 * s2.5.5.2).
 *
 * Where entries were overwritten, the tap says so (|gap|), and the engine says how many bytes of
 * which direction are missing (RECORD_PROBLEM).  Messages behind the gap are found again as in a
 * capture with holes (flow/resync.h).  A connection whose beginning was overwritten is not read
 * until the relay announces it.
 *
 * Memory: the engine's (flow/options.h), some MiB; about 150 bytes for each of TAP_CONNECTIONS at
 * most.  With more, the least recently used one is forgotten until it is announced.
 */
#ifndef NFSDIGEST_TAP_TAP_H
#define NFSDIGEST_TAP_TAP_H

#include "flow/tap.h"
#include "record/record.h"
#include "ring/ring.h"

enum { TAP_CONNECTIONS = 8192 };

struct tap;

/* Entries that were overwritten before the tap could read them.  Nothing is known of what passed
 * then. */
struct tap_gap {
    uint64_t first, last; /* numbers */
};

/* Negative results stop the tap.  Copied. */
struct tap_host {
    int (*put)(void *ctx, const struct record *record, struct err *err);
    int (*gap)(void *ctx, const struct tap_gap *gap, struct err *err); /* may be NULL */
    engine_tap *message; /* each message with all its bytes, before the record that it is in, which
                          * has no file contents (flow/tap.h, also for what it returns); or NULL */
    void *ctx;
    /* Calls with this mark, of RELAY_MARK_SIZE bytes, are not those of clients (relay_entry.h).  It
     * comes again with each announcement.  May be NULL. */
    int (*mark)(void *ctx, const uint8_t *mark, struct err *err);
};

struct tap_counts {
    uint64_t entries, bytes; /* read */
    uint64_t connections;    /* and clients' ports over UDP */
    uint64_t gaps;
    uint64_t lost_entries;  /* in these */
    uint64_t missing_bytes; /* of connections and datagrams that the tap knew */
    uint64_t unknown;       /* entries of connections that were not announced yet */
    uint64_t damaged;       /* entries that no relay writes */
    uint64_t forgotten;     /* connections, above TAP_CONNECTIONS */
};

struct tap *tap_new(const struct tap_host *host, struct err *err);
void tap_free(struct tap *tap); /* NULL is allowed */

/* Takes the next entry.  The numbers of entries must grow. */
int tap_entry(struct tap *tap, const struct ring_got *got, struct err *err);

/* Returns true if the tap met entries of connections that it does not know, or lost some, since the
 * last call: the caller asks for an announcement (ring/ring_door.h). */
bool tap_wants_announcement(struct tap *tap);

/* Returns the object that |name| in the directory is known to stand for after the last record, by
 * the ids of records; 0: it is not known. */
uint64_t tap_named(const struct tap *tap, uint64_t directory, struct bytes name);

/* The handle of an object, by the id of records; empty: there is none with this id.  Valid until
 * the next record. */
struct bytes tap_handle(const struct tap *tap, uint64_t object);

/* The engine's (engine.h). */
struct texts;
const struct texts *tap_texts(const struct tap *tap);

/* Gives up what still waits, and puts the counters and the end record. */
int tap_end(struct tap *tap, struct err *err);

const struct tap_counts *tap_counts(const struct tap *tap);

#endif
