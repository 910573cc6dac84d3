/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/track.h
 *
 * Knows where in a capture file the current packet begins, by following the lengths of pcap's
 * record headers or pcapng's blocks in the bytes that pass by.  libpcap does not say, and messages
 * about cut files must.  Costs a few ns a packet.
 */
#ifndef NFSDIGEST_CAPTURE_TRACK_H
#define NFSDIGEST_CAPTURE_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACK_SINCE = 48 };

/* Begin with all zeros, then call track_begin. */
struct track {
    bool lost;           /* not a pcap file, or there is no record at |start| */
    bool swapped;        /* the file's byte order is not ours */
    uint32_t header_len; /* of a pcap record */
    uint8_t header[24];  /* the bytes of the header at |next| so far */
    uint32_t have;
    uint64_t pos;   /* bytes passed */
    uint64_t start; /* of the record seen last */
    uint64_t next;  /* where the following one begins */
};

/* Begins with the first bytes of the file, before any of them were passed to track_bytes. */
void track_begin(struct track *track, const uint8_t *head, size_t len);

void track_bytes(struct track *track, const uint8_t *data, size_t len);

/* Returns true if the bytes so far end inside of a record, and sets |*start| to its beginning. */
bool track_inside(const struct track *track, uint64_t *start);

/* What a message says behind the number of a packet that is counted from the byte |since| of the
 * file: nothing, if that is 0. */
const char *track_since(char text[TRACK_SINCE], uint64_t since);

#endif
