/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/find_packet.h
 *
 * Finds packets in the middle of a pcap or pcapng file.  Nothing marks them, so this looks for a
 * chain of headers that fit: lengths, times near each other, and each header where the one before
 * it says.  It is a guess: file contents can hold a capture.  Whoever reads from there must see
 * that readers of the bytes before come to the same packet.
 *
 * Memory: FIND_WINDOW bytes.
 */
#ifndef NFSDIGEST_CAPTURE_FIND_PACKET_H
#define NFSDIGEST_CAPTURE_FIND_PACKET_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FIND_WINDOW = 4 << 20,
    FIND_CHAIN = 16,           /* headers that must fit, unless the file ends before */
    FIND_PACKET_MAX = 1 << 18, /* bytes of a packet, as tcpdump allows */
    FIND_PCAP_HEAD = 24,       /* bytes of a pcap file before its first packet */
};

/* What all pieces of a capture file have in common. */
struct capture_shape {
    uint64_t size;    /* bytes of the file */
    uint32_t head;    /* bytes before the first packet: reading from the middle begins with them */
    uint32_t record;  /* bytes of a packet's header (pcap) */
    uint32_t snaplen; /* of pcap */
    int64_t first;    /* seconds since the epoch of the first packet, or of none */
    bool pcapng, swapped, nanoseconds;
};

/* Returns the bytes before each packet of the pcap file that begins with |head|, of |len| bytes. */
uint32_t capture_record_head(const uint8_t *head, size_t len);

/* Reads the beginning of the file.  -ERR_USAGE: it is compressed, or no regular file; -ERR_INPUT:
 * not a capture, or what stands before its first packet is longer than INPUT_HEAD_MAX. */
int capture_shape_read(const char *path, struct capture_shape *shape, struct err *err);

/* Finds the first packet header, or block of pcapng, at |from| or behind it.  |*at| is the file's
 * size if there is none. */
int find_packet(const char *path, const struct capture_shape *shape, uint64_t from, uint64_t *at,
                struct err *err);

#endif
