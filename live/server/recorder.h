/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/recorder.h
 *
 * A record of a live program's own traffic, as the .nfsr stream that "nfsdigest record" would make
 * of a capture of it: everything of nfsdigest reads it.
 *
 * Messages are recorded as they come, in the program's own thread.  Memory: the engine's (docs of
 * its options), some MiB.
 */
#ifndef NFSDIGEST_SERVER_RECORDER_H
#define NFSDIGEST_SERVER_RECORDER_H

#include "base/bytes.h"
#include "net/address.h"

struct recorder;

/* The file gets its name when recorder_end succeeds. */
struct recorder *recorder_new(const char *path, struct err *err);

struct recorded {
    const struct net_address *from, *to; /* the sender and the receiver */
    bool datagram;
    struct bytes message; /* without record marks */
};

/* |recorded| now.  An error is kept for recorder_end, and nothing more is recorded after it. */
void recorder_put(struct recorder *recorder, const struct recorded *recorded);

/* Ends the stream and gives the file its name; frees.  NULL is allowed. */
int recorder_end(struct recorder *recorder, struct err *err);

#endif
