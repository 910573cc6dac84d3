/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ring/ring_door.h
 *
 * How readers get a ring: they connect to a Unix socket, and get struct ring_greeting with the
 * ring's descriptor (SCM_RIGHTS).  The connection stays; it ends with the writer.  A byte from the
 * reader, of any value, asks the writer to tell what is under way ("announce"), which it does by
 * entries in the ring.  A reader asks at its beginning, and after it lost entries.
 *
 * But a byte RING_DOOR_MARKS begins a mark, RING_DOOR_MARK bytes, which the writer tells all
 * readers (relay/relay_entry.h).  When the writer has closed the connection, the mark is in the
 * ring.  The latest mark of each connection is told again before each announcement, so that it is
 * not forgotten while its reader stays.  Marks cannot fill the ring: above RING_DOOR_TOLD of them
 * in RING_DOOR_PAUSE, whoever says something is read later.
 *
 * Memory: RING_DOOR_READERS times some 150 bytes.  Further readers wait in the kernel's queue.
 */
#ifndef NFSDIGEST_RING_RING_DOOR_H
#define NFSDIGEST_RING_RING_DOOR_H

#include "net/loop.h"
#include "ring/ring.h"

enum {
    RING_DOOR_READERS = 16,
    RING_DOOR_MARKS = 'M',
    RING_DOOR_MARK = 32,
    RING_DOOR_TOLD = 2 * RING_DOOR_READERS,
    RING_DOOR_PAUSE = 100000000, /* ns between two announcements, however many are asked for */
    RING_DOOR_PATIENCE = 30,     /* s, of a reader */
};

struct ring_greeting {
    char magic[8]; /* RING_MAGIC */
    uint32_t version;
    uint32_t zero;
    uint64_t identity; /* that in the ring's head */
};

/* --- the writer's side */

struct ring_door;

struct ring_door_host {
    void (*announce)(void *ctx);
    void *ctx;
    /* |mark| has RING_DOOR_MARK bytes, of any values.  It may have come before.  NULL: marks are
     * not told. */
    void (*mark)(void *ctx, const uint8_t *mark);
};

/* Listens on |path| (net/local_socket.h).  |ring| lives as long as the door. */
struct ring_door *ring_door_new(struct loop *loop, const char *path, const struct ring *ring,
                                const struct ring_door_host *host, struct err *err);
void ring_door_free(struct ring_door *door); /* NULL is allowed */

/* Lets nobody in any more, and removes the socket.  The readers stay. */
void ring_door_shut(struct ring_door *door);
/* Lets them in again. */
int ring_door_open(struct ring_door *door, struct err *err);

uint32_t ring_door_readers(const struct ring_door *door);

/* --- a reader's side */

/* Waiting for the writer ends after RING_DOOR_PATIENCE, and when a signal is there for |loop|
 * (net/local_socket.h). */

/* Connects to the writer, and maps its ring.  Returns 0 and sets |*fd|, the connection, and
 * |*reader|, which the caller owns both; or a negative code, and |*fd| is below 0. */
int ring_attach(const char *path, const struct loop *loop, int *fd, struct ring_reader **reader,
                struct err *err);
/* Lets the writer tell all readers a mark of RING_DOOR_MARK bytes, over a connection of its own,
 * and waits until it has.  A writer of an earlier version does not tell it. */
int ring_mark(const char *path, const struct loop *loop, const uint8_t *mark, struct err *err);
/* Keeps a mark that was told, as long as the connection stays. */
void ring_keep_mark(int fd, const uint8_t *mark);
/* Asks for an announcement.  -ERR_SYSTEM: the writer is gone. */
int ring_ask(int fd, struct err *err);
/* Returns true if the writer is gone.  Its ring can still be read. */
bool ring_orphaned(int fd);

#endif
