/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/pcapng_numbers.h
 *
 * Numbers of pcapng files (draft-ietf-opsawg-pcapng s3 and s4), for readers and writers.
 */
#ifndef NFSDIGEST_LINK_PCAPNG_NUMBERS_H
#define NFSDIGEST_LINK_PCAPNG_NUMBERS_H

/* Types of blocks */
enum pcapng_type {
    PCAPNG_SECTION = 0x0a0d0d0a,
    PCAPNG_INTERFACE = 1,
    PCAPNG_PACKET_OBSOLETE = 2,
    PCAPNG_PACKET_SIMPLE = 3,
    PCAPNG_NAMES = 4,
    PCAPNG_STATISTICS = 5,
    PCAPNG_PACKET = 6,  /* Enhanced Packet Block */
    PCAPNG_JOURNAL = 9, /* of systemd */
    PCAPNG_SYSDIG_EVENT = 0x204,
    PCAPNG_SYSDIG_EVENT_2 = 0x216,
    PCAPNG_SYSDIG_EVENT_2_LARGE = 0x221,
    PCAPNG_CUSTOM = 0x0bad,
    PCAPNG_CUSTOM_NOT_COPIED = 0x40000bad,
};

enum { PCAPNG_BYTE_ORDER = 0x1a2b3c4d }; /* of a section */

/* Lengths of the fixed parts of blocks in bytes, with type and first length.  PCAPNG_BLOCK_LEAST
 * also includes the last length. */
enum { PCAPNG_BLOCK_LEAST = 12, PCAPNG_PACKET_HEAD = 28, PCAPNG_PACKET_SIMPLE_HEAD = 12 };

enum pcapng_option {
    PCAPNG_OPTION_COMMENT = 1,
    PCAPNG_OPTION_APPLICATION = 4, /* of a section */
    PCAPNG_OPTION_RESOLUTION = 9,  /* of an interface */
    PCAPNG_OPTION_OFFSET = 14,     /* of an interface, seconds */
};

#endif
