/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/layout.h
 *
 * The fields of every kind of record of a format, as one table.  The table encodes, decodes and
 * prints records, and describes itself in the header of every stream (schemas/nfsr.md).
 *
 * A later minor version may add fields at the end of a kind, and kinds at the end of the table.  It
 * must not add fields of types that are stored as differences, because an earlier reader would miss
 * a step.  Everything else is a new major version.
 */
#ifndef NFSDIGEST_RECORD_LAYOUT_H
#define NFSDIGEST_RECORD_LAYOUT_H

#include "record/record.h"

#include <stddef.h>

struct format;

/* The form of a field in the stream: its name in the header, and its C type in the record.  Those
 * that begin with a number come first, and end with those that are differences from the last field
 * of the same type in the block. */
#define LAYOUT_TYPES(TYPE)                                                                         \
    TYPE(U8, "u8", uint8_t)                                                                        \
    TYPE(U16, "u16", uint16_t)                                                                     \
    TYPE(U32, "u32", uint32_t)                                                                     \
    TYPE(U64, "u64", uint64_t)                                                                     \
    TYPE(I32, "i32", int32_t)                                                                      \
    TYPE(I64, "i64", int64_t)                                                                      \
    TYPE(BYTES, "bytes", struct bytes)                                                             \
    TYPE(TEXT, "text", struct bytes) /* that people read: names, mostly UTF-8 */                   \
    TYPE(FRAME, "frame", uint64_t)                                                                 \
    TYPE(TIME, "time", int64_t)                                                                    \
    TYPE(OPERATION, "operation", uint64_t)                                                         \
    /* only in formats with lists: numbers that do not fall, then their uint32_t count */          \
    TYPE(NUMBERS, "numbers", uint8_t[sizeof(const uint32_t *) + sizeof(uint32_t)])                 \
    /* no number: */                                                                               \
    TYPE(BOOL, "bool", bool)                                                                       \
    TYPE(ADDRESS, "address", struct address)                                                       \
    TYPE(DIGEST, "digest", uint8_t[LAYOUT_DIGEST_LEN])                                             \
    /* only in formats with lists: random bits, stored in 8 bytes */                               \
    TYPE(HASH, "hash", uint64_t)

enum layout_type {
#define TYPE(type, name, in_record) LAYOUT_##type,
    LAYOUT_TYPES(TYPE)
#undef TYPE
        LAYOUT_TYPE_MAX,
    LAYOUT_NO_NUMBER = LAYOUT_BOOL, /* from here on */
};

enum {
    LAYOUT_SLACK = 8, /* bytes */
    LAYOUT_DIGEST_LEN = 16,
    LAYOUT_FIELDS_MAX = 64, /* of one kind: bits of its presence word */
};

struct layout_field {
    const char *name;
    uint16_t offset; /* in the record */
    uint8_t type;    /* enum layout_type */
};

struct layout_kind;
struct layout_reader;

/* Reads the fields that |presence| names, from |p| on to |r->at|, and clears the others.  |record|
 * then points into the bytes read and, for its lists, into |r->lists|.  The stream is of a later
 * version if |presence| has more bits than the table.  Bytes between fields may stay as they were.
 * Returns 0, -ERR_INPUT or -ERR_SYSTEM. */
typedef int layout_get(struct layout_reader *r, const struct layout_kind *kind, uint64_t presence,
                       const uint8_t *p, void *record, struct err *err);

struct layout_kind {
    const char *name;
    const struct layout_field *fields;
    uint8_t count;
    uint64_t times;  /* bits of its LAYOUT_TIME fields, where format->no_time is not 0 */
    layout_get *get; /* layout_fields.h; NULL: the one for all kinds */
};

/* The value of a LAYOUT_NUMBERS field. */
struct layout_numbers {
    const uint32_t *at;
    uint32_t count;
};

static inline struct layout_numbers layout_numbers(const void *field)
{
    struct layout_numbers numbers;

    memcpy(&numbers, field, sizeof(numbers.at) + sizeof(numbers.count));
    return numbers;
}

/* Appends the table as text, as it is in stream headers.  Returns 0 or -ERR_SYSTEM. */
int layout_text(const struct format *format, struct buf *out);

/* The values that differences are relative to; all zeros at a block's start. */
struct layout_bases {
    uint64_t last[LAYOUT_OPERATION - LAYOUT_FRAME + 1];
};

/* Appends one record with its kind and length.  Returns -ERR_USAGE if the record has no known kind,
 * has an impossible address or numbers that fall, or is longer than NFSR_RECORD_MAX.  |out| and
 * |bases| are then undefined. */
int layout_encode(const struct format *format, unsigned number, const void *record,
                  struct layout_bases *bases, struct buf *out, struct err *err);

/* Records of a block that are being read. */
struct layout_reader {
    const struct format *format;
    /* The next record, or the end of that which is read; the end of all.  LAYOUT_SLACK bytes behind
     * it can be read, whatever they are. */
    const uint8_t *at, *end;
    bool later; /* the stream is of a later minor version: pass over unknown kinds and fields */
    struct layout_bases bases;
    struct buf lists; /* numbers of the last record */
    bool no_memory;   /* for them */
};

/* Appends the record as one JSON object, without a newline: "kind", and all fields by their names
 * in the table.  Absent fields are zero, empty or null.  Bytes are in hex.  Text is escaped as
 * names are (base/escape.h), so that nothing is lost.  Returns 0 or -ERR_SYSTEM. */
int layout_json(const struct format *format, unsigned number, const void *record, struct buf *out);
/* layout_json for records of .nfsr streams. */
int record_json(const struct record *record, struct buf *out);

#endif
