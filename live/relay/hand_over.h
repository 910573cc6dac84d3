/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/hand_over.h
 *
 * A relay gives its listening sockets to its successor, through a Unix socket.  Connections that
 * wait to be accepted wait for the successor then; none is refused.
 *
 * The successor connects, and sends HAND_OVER_MAGIC.  The relay releases what only one process can
 * have, accepts nothing for now, and sends struct hand_over_message with copies of the sockets
 * (SCM_RIGHTS).  So the successor can take the rest when it has the message.  When it has all, it
 * sends HAND_OVER_READY; the relay answers with HAND_OVER_GO, and closes its sockets.
 *
 * If the successor ends before it can have that, or is not ready after HAND_OVER_PATIENCE, the
 * relay takes everything back, says HAND_OVER_NO, and goes on.  A relay that ends meanwhile says
 * HAND_OVER_GO, and one that is killed nothing: the successor then serves.  Who connects and says
 * something else, or nothing, has no effect: that is how others find out if somebody listens on a
 * path.
 */
#ifndef NFSDIGEST_RELAY_HAND_OVER_H
#define NFSDIGEST_RELAY_HAND_OVER_H

#include "net/listen.h"
#include "net/loop.h"

enum {
    HAND_OVER_SOCKETS = 16,
    HAND_OVER_PATIENCE = 30, /* s */
    HAND_OVER_READY = 'r',   /* bytes */
    HAND_OVER_GO = 'g',
    HAND_OVER_NO = 'n',
};
#define HAND_OVER_MAGIC "NFSTEE2" /* with its NUL */

struct hand_over_message {
    char magic[8];
    uint32_t count; /* of sockets */
    uint32_t zero;
};

/* --- the relay's side */

struct hand_over;

/* A negative result of |given| or |kept| ends loop_run; one of |release| is followed by |kept|. */
struct hand_over_host {
    /* Releases what the successor needs, and gives the sockets, at most HAND_OVER_SOCKETS, which it
     * keeps.  Accepts nothing from then on. */
    int (*release)(void *ctx, int *sockets, uint32_t *count, struct err *err);
    int (*given)(void *ctx, struct err *err); /* the successor serves */
    /* It does not, for the reason |why|: the relay takes back what it has released, and calls
     * hand_over_listen. */
    int (*kept)(void *ctx, const char *why, struct err *err);
    void *ctx;
};

/* Listens on |path| (net/local_socket.h). */
struct hand_over *hand_over_new(struct loop *loop, const char *path,
                                const struct hand_over_host *host, struct err *err);
void hand_over_free(struct hand_over *hand_over); /* NULL is allowed */

/* Listens again, after |kept|. */
int hand_over_listen(struct hand_over *hand_over, struct err *err);

/* --- the successor's side */

/* Waiting for the relay ends after HAND_OVER_PATIENCE, and when a signal is there for |loop|
 * (net/local_socket.h). */

/* Asks the relay that listens on |path| for its sockets.  Returns how many it got, which the caller
 * owns, as it owns |*fd|, the connection; 0 and -1 if no relay listens there; or a negative code.
 */
int hand_over_take(const char *path, const struct loop *loop, int sockets[HAND_OVER_SOCKETS],
                   int *fd, struct err *err);
/* Says that the successor is ready.  0: it serves from now on.  -ERR_SYSTEM: the relay has taken
 * everything back. */
int hand_over_confirm(int fd, const struct loop *loop, struct err *err);

#endif
