/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/teelog/teelog_parts.h
 *
 * Shared by the files of the log: the pair at hand, the rows of objects, the SUT's records, and the
 * streams.
 */
#ifndef NFSDIGEST_TEELOG_TEELOG_PARTS_H
#define NFSDIGEST_TEELOG_TEELOG_PARTS_H

#include "base/pool.h"
#include "base/table.h"
#include "engine.h"
#include "judge/judge.h"
#include "record/nfsr.h"
#include "teelog/teelog.h"

#include <sys/types.h>

enum { COMMANDS_WAITING = 8, NAMES_CHANGED_MAX = 256, TEELOG_UNOWNED = 65536, CLOCK_PAIRS = 16 };

/* --- rows.c: objects of the mirror that have a state in the judge, the least recently used one
 * last
 */
struct tee_row {
    uint32_t object : 31;   /* 0: free */
    uint32_t is_logged : 1; /* a pair in the log says that it was made the same */
    uint32_t newer, older;  /* rows; 0: none */
};
struct tee_rows {
    struct tee_row *rows; /* [0] is not used */
    uint32_t count, cap, most;
    uint32_t newest, oldest, free;
    struct table by_object;
};

/* --- streams.c */
struct tee_stream {
    int fd;
    const char *dir, *name; /* for messages */
    uint64_t *bytes;        /* of both streams */
    struct nfsr_writer *writer;
    struct record_end end; /* the totals so far */
    bool touched;          /* since the last flush */
};

/* --- sut.c: messages to records */
struct tee_sut_records {
    struct engine *engine;
    struct buf whole;
    uint64_t number;               /* of the last message */
    struct record_operation *last; /* what came of the messages; NULL: nothing */
    bool wants_call;               /* without a reply, the call alone */
    struct address server;         /* of the last call */
    struct table by_handle;        /* hashes of handles to ids of records */
    struct pool handles;           /* struct tee_handle */
    struct table same; /* of the listing at hand: hashes of names, see tee_sut_note_same */
};

/* --- listings.c */
struct tee_part {
    struct record_operation *operation; /* kept */
};
struct tee_listing {
    uint64_t number;
    uint32_t object;
    struct tee_part *parts[SIDES];
    uint32_t count[SIDES], cap[SIDES];
    uint64_t bytes, order;
    uint64_t next; /* the cookie of the reference's next part, if the cookies say what belongs
                      together */
    uint32_t flow, procedure; /* likewise */
    char **changed;           /* names, as escape_name writes them */
    uint32_t changed_count, changed_cap;
    uint32_t overlap;
    struct tee_pair pair; /* the first part's; its pointers are not used */
    bool known;
    bool names_left; /* tee_pair's, of any part */
    bool crowded;    /* too long, or too many names changed: it is not compared */
};

struct teelog {
    struct loop *loop;
    struct teelog_options options;
    struct teelog_host host;
    char *dir;
    struct rules *rules;
    struct places_set places;
    struct clock_map clock;
    struct clock_side *clocks; /* SIDES */
    struct steps steps[SIDES];
    int64_t first_time[SIDES];
    struct judge *judge;
    struct tee_rows rows;
    struct tee_sut_records sut;
    struct tee_stream stream[SIDES];
    struct err log_err; /* the first one of the disk: nothing is logged any more */
    struct teelog_counts counts;
    uint64_t judged; /* pairs, with those of |scrubs| */
    struct teelog_group groups[TEELOG_GROUPS];
    uint32_t group_count, known_groups; /* the latter: before the pair at hand */
    uint64_t further;                   /* differences of more kinds */
    struct tee_listing listings[TEELOG_LISTINGS];
    uint64_t listing_bytes, listing_order, listing_numbers;
    uint64_t next_cookie; /* behind the part at hand */
    uint32_t clock_pairs; /* logged, from which readers of the log know the servers' clocks */
    int64_t lost;         /* numbers given to the judge */
    struct timer timer;
    bool changed; /* since the last summary */
    int (*append)(void *ctx, struct buf *to);
    void *append_ctx;
    struct {
        pid_t pid; /* 0: none runs */
        struct watch watch;
        uint32_t waiting[COMMANDS_WAITING], count; /* groups */
    } command;

    /* the pair at hand */
    struct judge_pair pair;
    struct tee_verdict *verdict;
    struct tee_listing *listing;
    bool scrubs;           /* tee_pair's */
    bool names_left;       /* likewise, of any part of a listing */
    bool left_entry;       /* because of that, a name of one side only was withheld */
    struct bytes changing; /* likewise */
};

/* rows.c.  The row of an object, which becomes the most recently used one; 0: no memory (|err|). */
uint32_t tee_row_of(struct teelog *log, uint32_t object, struct err *err);
uint32_t tee_row_find(const struct teelog *log, uint32_t object); /* 0: it has none */
void tee_row_forget(struct teelog *log, uint32_t object);
/* The log has a pair on what stands in the row, which is not 0. */
static inline bool tee_row_is_logged(const struct teelog *log, uint32_t row)
{
    return row && log->rows.rows[row].is_logged;
}
/* The pair that is logged said COUNTERPART_MADE_ of these: the next one need not. */
void tee_rows_logged(struct teelog *log, const uint32_t objects[TEE_OBJECTS]);
void tee_rows_free(struct tee_rows *rows);

/* streams.c */
/* Makes the directory, too. */
int tee_streams_open(struct teelog *log, struct err *err);
/* Records are dropped after an error of the disk, which |log->log_err| keeps. */
void tee_stream_put(struct teelog *log, int side, const struct record *record);
/* The id that the next operation will have. */
uint64_t tee_stream_next(const struct teelog *log, int side);
void tee_streams_flush(struct teelog *log);
void tee_streams_end(struct teelog *log);
void tee_streams_free(struct teelog *log);
/* Writes the halves that are not NULL. */
struct tee_logged {
    uint64_t number; /* 0: they have no counterpart */
    const struct record_operation *half[SIDES];
    struct bytes contents[SIDES];
    uint32_t conditions;
};
void tee_log_pair(struct teelog *log, const struct tee_logged *what);

/* sut.c */
int tee_sut_open(struct teelog *log, struct err *err);
void tee_sut_free(struct teelog *log);
/* Makes the operation of the messages: |log->sut.last|.  Forgets what tee_sut_note_same noted. */
int tee_sut_read(struct teelog *log, const struct tee_sut *sut, struct err *err);
/* Notes which entries of a reference's listing are the same on both sides, by its handles, beside
 * those of its other parts.  It comes before the two functions behind it. */
int tee_sut_note_same(struct teelog *log, const struct record_operation *ref, struct err *err);
/* Numbers its objects as the SUT's stream does, and records new ones. */
int tee_sut_objects(struct teelog *log, struct record_operation *operation, struct err *err);
/* Whether it lists "." or ".." as an object that is not the same on both sides. */
bool tee_sut_dots_are_open(struct teelog *log, const struct record_operation *operation);

/* listings.c: gives the listing, with this part. */
int tee_listing_take(struct teelog *log, const struct tee_pair *pair,
                     const struct record_operation *sut, struct tee_listing **listing,
                     struct err *err);
/* Finds out, by the reference's cookies, which listing the pair at hand is a part of: sets
 * |pair|->listing and |listing_ends|, or leaves them 0. */
void tee_listing_of(struct teelog *log, struct tee_pair *pair);
/* Its parts are not compared any more. */
void tee_listings_drop(struct teelog *log, uint32_t object);
void tee_listing_free(struct teelog *log, struct tee_listing *listing);
/* Takes the next one off the names of tee_pair.changing. */
static inline struct bytes tee_next_name(struct bytes *names)
{
    struct bytes name = { names->data, (uint32_t)strnlen((const char *)names->data, names->len) };
    uint32_t used = name.len < names->len ? name.len + 1 : names->len;

    names->data += used;
    names->len -= used;
    return name;
}

/* The listing at hand may have the name or not, and what stood for it before or after. */
bool tee_is_changing(const struct teelog *log, struct bytes name);
/* judging.c */
int tee_judge_open(struct teelog *log, struct err *err);
void tee_judge_free(struct teelog *log);
/* Bits of the pair that was judged last: what readers of the log have to leave open, too. */
uint32_t tee_left_open(const struct teelog *log);
void tee_half_fill(struct judge_half *half, const struct record_operation *operation, int64_t id);

/* groups.c */
void tee_group_add(struct teelog *log, const struct difference *difference);
/* The pair at hand has this number in the log: it is the first one of groups that it began. */
void tee_groups_logged(struct teelog *log, uint64_t number);
int tee_summary_write(struct teelog *log, struct err *err);

/* commands.c: the command of on_mismatch, for a group's first difference */
void tee_command(struct teelog *log, uint32_t group);
void tee_command_free(struct teelog *log);

#endif
