/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/compare_pairs.h
 *
 * Shared by the files of the second phase.  It is a host of the judge (judge/judge.h).  Pairs of
 * operations come in the order of table alignment.  The findings of the judge go to found.c and
 * pairs_lost.c.  The databases answer its questions about earlier and later operations
 * (pairs_objects.c, pairs_listings.c, pairs_writes.c, unanswered.c).
 */
#ifndef NFSDIGEST_COMPARE_COMPARE_PAIRS_H
#define NFSDIGEST_COMPARE_COMPARE_PAIRS_H

#include "compare/compare_parts.h"
#include "align/matched.h"
#include "judge/judge.h"

enum { PARTS_AT_ONCE = 256 };

struct found; /* found.c */

struct pairs {
    struct compare *c;
    struct objects objects;
    struct clock_map clock;
    struct judge *judge;
    struct found *found;
    struct judge_pair pair;
    sqlite3_stmt *row[SIDES]; /* compare_pairs.c: an operation */
    struct {
        sqlite3_stmt *handle[SIDES], *removal[SIDES],
            *path; /* |removal| and |path| are prepared when they are needed */
    } of_objects;
    struct {
        sqlite3_stmt *parts, *changed[SIDES];
        int64_t longest[SIDES]; /* the longest time in ns that a change of a name took */
        int64_t ids[PARTS_AT_ONCE], after;
        uint32_t first, count; /* |ids| begins with part |first| */
    } listings;
    struct {
        sqlite3_stmt *put, *end, *count;
    } lost;
    sqlite3_stmt *earlier[SIDES][2]; /* [1]: for objects with several handles */
    sqlite3_stmt *unanswered[SIDES];
    struct {
        bool is;     /* the sides are a shadow's log */
        bool scrubs; /* the pair at hand: COUNTERPART_SCRUBS */
        sqlite3_stmt *contents[SIDES], *entry;
    } live;
};

/* --- compare_pairs.c */

/* Reads an operation of a side.  Its bodies belong to the statement row[side] and live until the
 * next call. */
int pairs_load(struct pairs *p, int side, int64_t id, struct judge_half *half, struct err *err);

/* --- pairs_objects.c */

int pairs_objects_open(struct pairs *p, struct err *err);
void pairs_objects_close(struct pairs *p);
/* Callbacks of struct judge_host; |ctx|: a struct pairs. */
int pairs_object_of(void *ctx, int side, const struct judge_half *half, struct bytes handle,
                    struct bytes entry, uint32_t *row, struct err *err);
int pairs_removed(void *ctx, int side, uint32_t row, const int64_t times[2], struct err *err);
int pairs_path_of(void *ctx, uint32_t row, char text[COMPARE_TEXT_MAX], struct err *err);

/* --- pairs_listings.c */

/* Finds out when names were changed, and which operations are parts of listings. */
int pairs_listings_open(struct pairs *p, struct err *err);
void pairs_listings_close(struct pairs *p);
int pairs_part(void *ctx, const struct judge_pair *pair, int side, uint32_t number,
               struct judge_half *half, struct err *err);
int pairs_changed_names(void *ctx, const struct judge_pair *pair, int side, const int64_t times[2],
                        const struct judge_names *to, struct err *err);

/* --- pairs_writes.c */

int pairs_earlier(void *ctx, const struct judge_pair *pair, int side,
                  const struct judge_earlier *to, struct err *err);
void pairs_writes_close(struct pairs *p);

/* --- pairs_live.c: logs of a shadow */

/* Finds out if the sides are such a log. */
int pairs_live_find(struct pairs *p, struct err *err);
int pairs_live_open(struct pairs *p, struct err *err);
void pairs_live_close(struct pairs *p);
/* Sets what the current pair's conditions say (COUNTERPART_ bits of record.h). */
int pairs_live_begin(struct pairs *p, uint32_t conditions, struct err *err);
/* Sets *|row| to 0 if the object of an entry of the current pair's listing was not the same.
 * |name|: the entry's. */
int pairs_live_entry(struct pairs *p, struct bytes name, uint32_t *row, struct err *err);
/* Returns true if an entry differs that may have been made or removed during the call. */
bool pairs_live_changing(const struct pairs *p, const struct judge_pair *pair,
                         const struct difference *d);
/* Writes the file contents of both sides from the first byte that differs.  Returns 1, 0 if they
 * are not known, or a negative code. */
int pairs_live_contents(struct pairs *p, const struct difference *d,
                        char text[SIDES][COMPARE_TEXT_MAX], struct err *err);

/* --- pairs_lost.c: table unsynchronized */

int pairs_lost_open(struct pairs *p, struct err *err);
void pairs_lost_close(struct pairs *p);
int pairs_lost(void *ctx, const struct judge_pair *pair, const struct judge_loss *loss, int64_t *id,
               struct err *err);
int pairs_known(void *ctx, const struct judge_pair *pair, int64_t id, struct err *err);
int pairs_count(void *ctx, int64_t id, uint64_t withheld, struct err *err);

/* --- found.c: tables discrepancy, frame, withheld; groups in memory until the end. */

int found_open(struct pairs *p, struct err *err);
void found_close(struct pairs *p);
/* Adds a discrepancy of the current pair. */
int found_put(struct pairs *p, const struct difference *d, struct err *err);
/* Adds a withheld comparison.  |place| NULL: the whole operation was withheld. */
int found_withhold(struct pairs *p, enum withheld_reason reason, const struct place *place,
                   struct err *err);
/* Adds a status, content or missing reply that differs and that only |reason| may explain.  Also
 * adds it to table uncertain, at most UNCERTAIN_KEPT of each kind.  |d| is as for found_put. */
int found_uncertain(struct pairs *p, enum withheld_reason reason, const struct difference *d,
                    struct err *err);
/* Adds the latencies of the current pair, for tables performance, latency and slowest. */
int found_latency(struct pairs *p, struct err *err);
/* counts.c: compares retransmissions and connections. */
int counts_compare(struct pairs *p, struct err *err);
/* Writes groups, the tables compared and withheld, latencies, then examples. */
int found_finish(struct pairs *p, struct err *err);

/* --- unanswered.c */

/* Finds out why |side| of the pair has no reply.  Returns 0 if the server did not reply, a
 * withheld_reason, or a negative code.  The first call for a side reads all its operations once. */
int unanswered_reason(void *ctx, const struct judge_pair *pair, int side, struct err *err);
void unanswered_close(struct pairs *p);

#endif
