/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/recorder/recorder.h
 *
 * A record of a live program's own traffic, as the .nfsr stream that "nfsdigest record" makes of a
 * capture of this traffic.  All commands of nfsdigest can read it.
 *
 * Messages are recorded as they come, in the program's own thread.  Memory: the engine's (docs of
 * its options), some MiB; the longest message that came in two parts; about 60 bytes for each call
 * with a counterpart that the engine still waits with.
 */
#ifndef NFSDIGEST_RECORDER_RECORDER_H
#define NFSDIGEST_RECORDER_RECORDER_H

#include "base/bytes.h"
#include "net/address.h"

struct recorder;

/* The file gets its name when recorder_end succeeds. */
struct recorder *recorder_new(const char *path, struct err *err);

struct recorded {
    const struct net_address *from, *to; /* the sender and the receiver */
    bool datagram;
    struct bytes message; /* without record marks */
    struct bytes tail;    /* the rest of the message, without padding */
    /* Of a call: the operation of another trace that it repeats, and the copy of that trace, as in
     * struct counterpart (record/record.h).  0: none. */
    uint64_t counterpart;
    uint32_t copy;
};

/* Records a message with the current time.  An error is kept for recorder_end, and stops the
 * recording. */
void recorder_put(struct recorder *recorder, const struct recorded *recorded);

/* Ends the stream, gives the file its name, and frees the recorder.  NULL is allowed. */
int recorder_end(struct recorder *recorder, struct err *err);
/* Frees the recorder, and leaves no file.  NULL is allowed. */
void recorder_free(struct recorder *recorder);

#endif
