/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/column.h
 *
 * The tables and columns that streams have: one description of each column, for values from records
 * and for those from a trace database.  Names and meanings are those of schemas/trace.sql.
 */
#ifndef NFSDIGEST_COLUMNS_COLUMN_H
#define NFSDIGEST_COLUMNS_COLUMN_H

#include "record/record.h"

#include <stddef.h>

enum column_type {
    COLUMN_I64,
    COLUMN_I32,
    COLUMN_U64,
    COLUMN_U32,
    COLUMN_U16,
    COLUMN_U8,
    COLUMN_BOOL,
    COLUMN_TIME, /* ns since the epoch */
    COLUMN_TEXT, /* UTF-8 */
    COLUMN_WORD, /* UTF-8, few different ones: a dictionary */
    COLUMN_BYTES,
};

/* A value of any type. */
struct cell {
    bool there;         /* else NULL */
    int64_t number;     /* also of unsigned types: the same 64 bits */
    struct bytes bytes; /* TEXT, WORD, BYTES */
};

struct known;

/* A row to be made of a record. */
struct row {
    const struct record *record;
    const void *at; /* what columns have offsets in: |record|, or a struct source */
    struct known *known;
    int64_t id;   /* of tables that number their rows */
    unsigned has; /* enum needs */
};

/* What a row must have, or the column is NULL. */
enum needs {
    NEEDS_CALL = 1 << 0,
    NEEDS_REPLY = 1 << 1,
    NEEDS_CALL_BODY = 1 << 2, /* the length of the body is known */
    NEEDS_REPLY_BODY = 1 << 3,
    NEEDS_OFFSET = 1 << 4,
    NEEDS_COUNT = 1 << 5,
    NEEDS_DATA = 1 << 6,
    NEEDS_DIGEST = 1 << 7,
    NEEDS_COUNTERPART = 1 << 8,
    NEEDS_LATENCY = 1 << 9,
    NEEDS_AUTH_SYS = 1 << 10,
    NEEDS_GSS = 1 << 11,
    NEEDS_IDENTITY = 1 << 12, /* fsid and fileid */
    NEEDS_FLOW = 1 << 13,
    NEEDS_VALUE = 1 << 14,
};

/* The C type of the value in the record. */
enum from {
    FROM_U8 = 1,
    FROM_U16,
    FROM_U32,
    FROM_U64,
    FROM_I32,
    FROM_I64,
    FROM_BYTES,
    FROM_TEXT, /* struct bytes, in which slashes stay (base/escape.h) */
    FROM_ADDRESS,
    FROM_DIGEST, /* 16 bytes */
    FROM_FRAME,  /* uint64_t: its number in its source, and */
    FROM_SOURCE, /* that source */
};

/* Which value stands for NULL. */
enum null_value { NULL_NEVER, NULL_ZERO, NULL_TIME, NULL_STATUS, NULL_EMPTY };

struct column {
    const char *name;
    uint8_t type;    /* enum column_type */
    uint8_t from;    /* enum from; 0: |get| */
    uint8_t null;    /* enum null_value */
    uint16_t needs;  /* bits of enum needs */
    uint16_t offset; /* in row.at */
    uint8_t wants;   /* bits of enum wants */
    /* Sets what is not zero in |cell|.  Its bytes live until the next call for any column. */
    int (*get)(const struct row *row, struct cell *cell);
    const char *sql;  /* in a query on the table as |o|; NULL: the column itself */
    const char *text; /* what it is, if schemas/trace.sql has no such column */
};

/* The knowledge that columns need beyond their records. */
enum wants { WANTS_HOSTS = 1 << 0, WANTS_PATHS = 1 << 1, WANTS_UIDS = 1 << 2 };

struct table_columns {
    const char *name;             /* of the stream */
    const char *sql;              /* of the table */
    const struct column *columns; /* one without a name ends them */
    uint8_t kind; /* of the records that are its rows, or ROWS_ARE_SOURCES; 0: it is the same for
                   * every trace */
    bool (*belongs)(const struct record *record); /* NULL: all records of this kind do */
};

enum { ROWS_ARE_SOURCES = UINT8_MAX }; /* no kind of record */

/* One without a name ends them. */
extern const struct table_columns table_list[];

/* The tables of operations (operation_columns.c) and of the rest (other_columns.c). */
extern const struct column operation_columns[], retransmission_columns[], copy_columns[],
    problem_columns[], connection_event_columns[], object_columns[], path_columns[],
    name_event_columns[], credential_columns[], flow_columns[], contents_columns[],
    source_columns[], counter_columns[], program_columns[], procedure_columns[],
    status_name_columns[], field_columns[], code_columns[];

/* Returns NULL if there is no such table. */
const struct table_columns *table_named(const char *name);
const struct column *column_named(const struct table_columns *table, const char *name, size_t len);

/* Returns true if the value is a number of the record itself, for column_number. */
static inline bool column_is_number(const struct column *column)
{
    return column->from >= FROM_U8 && column->from <= FROM_I64;
}

/* Returns the number of a column in row.at.  Unsigned ones keep their bits. */
static inline int64_t column_number(const struct column *column, const void *value)
{
    const uint8_t *at = (const uint8_t *)value + column->offset;
    uint16_t u16;
    uint32_t u32;
    int32_t i32;
    int64_t i64;

    switch ((enum from)column->from) {
    case FROM_U8:
        return *at;
    case FROM_U16:
        memcpy(&u16, at, sizeof(u16));
        return u16;
    case FROM_U32:
        memcpy(&u32, at, sizeof(u32));
        return u32;
    case FROM_I32:
        memcpy(&i32, at, sizeof(i32));
        return i32;
    default:
        memcpy(&i64, at, sizeof(i64));
        return i64;
    }
}

/* Returns true if a column's value stands for NULL. */
static inline bool column_is_null(const struct column *column, int64_t number)
{
    switch ((enum null_value)column->null) {
    case NULL_ZERO:
        return number == 0;
    case NULL_TIME:
        return number == TIME_NONE;
    case NULL_STATUS:
        return number == STATUS_NONE;
    default:
        return false;
    }
}

/* Sets *|cell| from a record.  Its bytes live until the next call.  Returns 0 or -ERR_SYSTEM. */
int column_cell(const struct column *column, const struct row *row, struct cell *cell);

/* Returns the bits of enum needs of a row of |record|. */
unsigned column_has(const struct record *record);

#endif
