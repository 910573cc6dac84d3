/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/hand_over.h
 *
 * A relay gives its listening sockets to its successor, through a Unix socket.  Connections that
 * wait to be accepted wait for the successor then; none is refused.
 *
 * The successor connects, and sends HAND_OVER_MAGIC.  The relay releases what only one process can
 * have, and then sends struct hand_over_message with the sockets (SCM_RIGHTS).  So the successor
 * can take the rest when it has the message.  Who connects and says something else, or nothing, has
 * no effect: that is how others find out if somebody listens on a path.
 */
#ifndef NFSDIGEST_RELAY_HAND_OVER_H
#define NFSDIGEST_RELAY_HAND_OVER_H

#include "net/listen.h"
#include "net/loop.h"

enum { HAND_OVER_SOCKETS = 16 };
#define HAND_OVER_MAGIC "NFSTEE1" /* with its NUL */

struct hand_over_message {
    char magic[8];
    uint32_t count; /* of sockets */
    uint32_t zero;
};

/* --- the relay's side */

struct hand_over;

struct hand_over_host {
    /* Releases what the successor needs, and gives the sockets, at most HAND_OVER_SOCKETS.  Returns
     * how many. */
    uint32_t (*release)(void *ctx, int *sockets);
    /* The successor has them, or |err| says why not; a negative result ends loop_run. */
    int (*given)(void *ctx, struct err *err);
    void *ctx;
};

/* Listens on |path| (net/local_socket.h). */
struct hand_over *hand_over_new(struct loop *loop, const char *path,
                                const struct hand_over_host *host, struct err *err);
void hand_over_free(struct hand_over *hand_over); /* NULL is allowed */

/* --- the successor's side */

/* Asks the relay that listens on |path| for its sockets, and waits for at most 30 s.  Returns how
 * many it got, which the caller owns; 0 if no relay listens there; or a negative code. */
int hand_over_take(const char *path, int sockets[HAND_OVER_SOCKETS], struct err *err);

#endif
