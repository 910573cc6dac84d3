/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/format.h
 *
 * The frame of .nfsr streams, and of other formats with records of their own, for their writers and
 * readers only.  All numbers little-endian.
 *
 *   header: magic[8], major u16, minor u16, length of text u32, text, checksum u64
 *   block:  marker[4], kind u32, sequence u64, records u32, length u32, payload, checksum u64
 *
 * A checksum is XXH3-64 of all bytes of the header or block that stand before it.
 */
#ifndef NFSDIGEST_RECORD_FORMAT_H
#define NFSDIGEST_RECORD_FORMAT_H

#include "record/layout.h"
#include "record/nfsr.h"

enum {
    NFSR_MAGIC_LEN = 8,
    NFSR_HEADER_LEN = 16,       /* before the text */
    NFSR_TEXT_MAX = 64 << 10,   /* of the header's text; a reader refuses more */
    NFSR_MARKER = 0x4252464e,   /* "NFRB" */
    NFSR_BLOCK_RECORDS = 1,     /* the one kind of block; readers pass over others */
    NFSR_BLOCK_HEADER_LEN = 24, /* before the payload */
    NFSR_CHECKSUM_LEN = 8,
    NFSR_RECORD_MAX = NFSR_BLOCK_MAX - NFSR_BLOCK_TARGET, /* fits behind any open block */
};

/* Not text, not 7 bits, and broken by every conversion of line ends. */
#define NFSR_MAGIC "\x89NFSR\r\n\x1a"

/* The properties of one format.  A record is a struct that has the fields of its table. */
struct format {
    const char *name; /* for messages: ".nfsr" */
    const char *magic;
    uint32_t marker;
    uint16_t major, minor;
    int64_t span;                    /* ns; times that span this close a block; 0: never */
    int64_t no_time;                 /* the value of a LAYOUT_TIME that is absent */
    const struct layout_kind *kinds; /* by kind; the first is empty */
    unsigned kind_max;
    unsigned end; /* kind of the last record */
    /* the part of the record that is set to zeros before it is decoded: */
    size_t clear_from, clear_len;
};

extern const struct format nfsr_format;

#endif
