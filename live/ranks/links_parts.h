/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ranks/links_parts.h
 *
 * What the files of links.h share: links.c has the messages, links_connect.c makes the connections.
 */
#ifndef NFSDIGEST_RANKS_LINKS_PARTS_H
#define NFSDIGEST_RANKS_LINKS_PARTS_H

#include "net/record_stream.h"
#include "ranks/links.h"

enum link_kind { LINK_HELLO = 1, LINK_OUTCOMES, LINK_STOP, LINK_TALLY, LINK_END };

struct link {
    struct links *links;
    uint32_t rank; /* the other one; UINT32_MAX: it has not said so yet */
    struct record_stream *stream;
    struct link *next;       /* of those that have not said who they are */
    struct net_address peer; /* of these */
    bool lost, over;
    bool held;       /* outcomes wait for room in the player */
    struct buf kept; /* the message that they are in, from |reader| on */
    struct outcomes_reader reader;
    struct buf tally;
};

struct links {
    struct links_setup setup;
    struct link **of; /* by rank; NULL: not connected */
    struct link *unknown;
    struct listeners *listeners;
    struct outcomes batch;
    uint32_t connected;
    bool deaf, ended, full;
};

/* --- links.c */

/* A link has a stream from now on.  |record_max|: bytes of the longest message to be taken. */
struct link *links_add(struct links *links, int fd, uint32_t record_max, struct err *err);
/* Ends a link whose other end has not said which rank it is. */
void links_put_out(struct link *link);
void links_remove(struct link *link);
int links_send(struct link *link, enum link_kind kind, struct bytes body, struct err *err);

/* --- links_connect.c */

/* HELLO: the message of a rank that connects. */
int links_hello(struct link *link, struct bytes body, struct err *err);

#endif
