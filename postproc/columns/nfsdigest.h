/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nfsdigest.h
 *
 * libnfsdigest: the operations of an NFS trace as columns, through the Arrow C stream interface
 * (arrow.apache.org/docs/format/CStreamInterface.html).
 *
 *     struct nfsdigest_trace *trace;
 *     struct ArrowArrayStream stream;
 *
 *     if (nfsdigest_open("trace.nfsr", NULL, &trace) < 0 ||
 *         nfsdigest_stream(trace, "operations", "call_time,procedure,latency", 0, &stream) < 0)
 *         complain(nfsdigest_error(trace));
 *     nfsdigest_close(trace);
 *
 * Tables and columns have the meanings of schemas/trace.sql, which nfsdigest_schema returns.
 * Differences: names of codes and other texts from other tables are further columns, and numbers
 * above 2^63-1 are unsigned (not in the profile "plain").
 *
 * Threads: a trace belongs to one thread at a time; so does each stream.  Different streams of one
 * trace may be read by different threads.  Streams stay valid after nfsdigest_close.
 *
 * Memory: of each stream one batch, and the state of the engine for captures (with its options), or
 * one block for .nfsr streams.  For these two also 10 bytes for each flow, all texts of paths if a
 * column asks for them, 8 bytes for each credential if "uid" is asked for; and for the table
 * "objects" each object.
 */
#ifndef NFSDIGEST_H
#define NFSDIGEST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

#ifndef NFSDIGEST_API
#define NFSDIGEST_API __attribute__((visibility("default")))
#endif

struct nfsdigest_trace;

/* Negative results, as exit codes of nfsdigest. */
enum { NFSDIGEST_USAGE = -2, NFSDIGEST_INPUT = -3, NFSDIGEST_SYSTEM = -4 };

/* Opens a capture (pcap or pcapng, compressed or not), an .nfsr stream or a trace database; "-" is
 * standard input, which only one stream can read.  |options| is NULL or an array of "NAME=VALUE"
 * that NULL ends:
 *
 *     profile=arrow     times are timestamps, repeated texts are dictionaries (the default)
 *     profile=plain     signed integers and strings only: for Apache Spark and others that refuse
 *                       timestamps in nanoseconds, dictionaries and unsigned integers
 *     partial=yes       a cut or damaged file ends the stream without an error; nfsdigest_note says
 *                       where it was
 *     block-digests=yes fill that column; only for captures
 *     next=FILE         a further capture, which goes on where the one before ended, as those of
 *                       tcpdump -C; may be given again
 *     frame-shift=N     N is added to all frame numbers of an .nfsr stream: for pieces of a
 * capture, of which "nfsdigest join --json" tells N rpc-port=..., ... the options of "nfsdigest
 * record" by their long names; only for captures
 *
 * Sets *|trace| also if it fails, unless there is no memory; then it is NULL.  Close it anyway. */
NFSDIGEST_API int nfsdigest_open(const char *path, const char *const *options,
                                 struct nfsdigest_trace **trace);
NFSDIGEST_API void nfsdigest_close(struct nfsdigest_trace *trace);

/* Returns the text of the last error of a function on |trace|, "" if there was none. */
NFSDIGEST_API const char *nfsdigest_error(const struct nfsdigest_trace *trace);

/* Makes a stream of the rows of |table|.  |columns|: names separated by commas, in any order, or
 * NULL for all.  |rows|: of a batch, 0 for 65536; batches are smaller if they would have more than
 * 64 MiB of text and bytes, and may be larger where the trace gives many rows at once.  The
 * caller releases the stream.  A failure of get_next comes after the last whole row; get_last_error
 * says what and where it is. */
NFSDIGEST_API int nfsdigest_stream(struct nfsdigest_trace *trace, const char *table,
                                   const char *columns, int64_t rows,
                                   struct ArrowArrayStream *stream);

/* Returns where the file of |stream| was cut, with partial=yes and once the stream has ended; else
 * "".  It lives as long as the stream. */
NFSDIGEST_API const char *nfsdigest_note(const struct ArrowArrayStream *stream);

/* The batches of several tables, read in one pass over the files: each comes when it is full. */
struct nfsdigest_reader;
struct nfsdigest_selection {
    const char *table;
    const char *columns; /* as in nfsdigest_stream */
};

NFSDIGEST_API int nfsdigest_reader_open(struct nfsdigest_trace *trace,
                                        const struct nfsdigest_selection *selections,
                                        unsigned count, int64_t rows,
                                        struct nfsdigest_reader **reader);
NFSDIGEST_API void nfsdigest_reader_close(struct nfsdigest_reader *reader);

/* Gives the schema of the arrays of selection |number|, from 0. */
NFSDIGEST_API int nfsdigest_reader_schema(struct nfsdigest_reader *reader, unsigned number,
                                          struct ArrowSchema *schema);

/* Gives a batch, and sets *|number| to its selection.  Returns 1, 0 if there are no more, or a
 * negative code after all rows that could be read. */
NFSDIGEST_API int nfsdigest_reader_next(struct nfsdigest_reader *reader, unsigned *number,
                                        struct ArrowArray *array);

/* Return the text of the last error; and, as nfsdigest_note, where a file was cut. */
NFSDIGEST_API const char *nfsdigest_reader_error(struct nfsdigest_reader *reader);
NFSDIGEST_API const char *nfsdigest_reader_note(const struct nfsdigest_reader *reader);

/* Returns the name of table |number| (from 0), or NULL behind the last; and that of its table in
 * schemas/trace.sql. */
NFSDIGEST_API const char *nfsdigest_table(unsigned number);
NFSDIGEST_API const char *nfsdigest_table_sql(unsigned number);

/* Returns the name of a column of a table, or NULL behind the last one or if there is no such
 * table.  |sql| (or NULL) gets the expression that has its value in a query on the table as |o|;
 * |text| (or NULL) gets a description of columns that schemas/trace.sql does not have, else
 * NULL. */
NFSDIGEST_API const char *nfsdigest_column(const char *table, unsigned number, const char **sql,
                                           const char **text);

/* Writes the name of a file, |length| bytes, as tables have it: as harmless UTF-8 on one line, from
 * which its bytes follow (schemas/nfsr.md, "Text").  |text| has room for |size| bytes; 4 * |length|
 * + 1 are always enough, and a longer text is cut behind a whole character.  Returns |text|. */
NFSDIGEST_API const char *nfsdigest_name_text(const char *name, size_t length, char *text,
                                              size_t size);

/* Returns schemas/trace.sql, which describes tables and columns in its comments. */
NFSDIGEST_API const char *nfsdigest_schema(void);

NFSDIGEST_API const char *nfsdigest_version(void);

#ifdef __cplusplus
}
#endif

#endif
