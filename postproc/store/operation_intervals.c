/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/operation_intervals.c
 *
 * Two small queries find the first and the last interval, one reads the operations, and one the
 * retransmissions.  Latencies are put aside for the percentiles.  For cmd_info.c.  The contract is
 * in operation_intervals.h.
 */
#include "store/operation_intervals.h"
#include "store/failure.h"
#include "base/values.h"
#include "store/quantiles.h"
#include "store/sql.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

static const char select_range[] =
    "SELECT min(min(ifnull(o.call_time, o.reply_time), ifnull(o.reply_time, o.call_time))),"
    " max(max(ifnull(o.call_time, o.reply_time), ifnull(o.reply_time, o.call_time)))"
    " FROM operation o";
static const char select_repeats_range[] =
    "SELECT min(r.time), max(r.time) FROM retransmission r CROSS JOIN operation o"
    " ON o.id = r.operation AND r.kind = 1";
static const char select_operations[] =
    "SELECT o.call_time, o.reply_time, o.reply_frame IS NULL,"
    " " FAILURE_SQL ","
    " CASE WHEN o.program = 100003 AND o.procedure = 6 THEN o.data_length END,"
    " CASE WHEN o.program = 100003 AND o.procedure = 7 THEN o.data_length END FROM operation o";
static const char select_repeats[] = "SELECT r.time FROM retransmission r CROSS JOIN operation o"
                                     " ON o.id = r.operation AND r.kind = 1";

enum { CALL_TIME, REPLY_TIME, NO_REPLY, ERROR, READ, WRITTEN };

/* The number of the interval that has |ns|, since the epoch. */
static int64_t number_of(int64_t ns, int64_t every)
{
    return ns / every - (ns % every < 0);
}

/* Widens the range from *|first| to *|last| by that of a query. */
static int widen(sqlite3 *db, const struct filter *filter, const char *select, int64_t *first,
                 int64_t *last, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (filter_prepare(db, filter, select, &stmt, err) < 0)
        return -err->code;
    result = sql_row(stmt, err);
    if (result > 0 && sqlite3_column_type(stmt, 0) != SQLITE_NULL) {
        int64_t low = sqlite3_column_int64(stmt, 0), high = sqlite3_column_int64(stmt, 1);

        *first = low < *first ? low : *first;
        *last = high > *last ? high : *last;
    }
    return sql_end(stmt, result < 0 ? result : 0, err);
}

static int make_intervals(sqlite3 *db, const struct filter *filter, struct intervals *to,
                          struct err *err)
{
    int64_t first = INT64_MAX, last = INT64_MIN, steps;
    char text[VALUE_TEXT_MAX];

    if (widen(db, filter, select_range, &first, &last, err) < 0 ||
        widen(db, filter, select_repeats_range, &first, &last, err) < 0)
        return -err->code;
    if (first > last)
        return 0; /* nothing has a time */
    if (__builtin_sub_overflow(number_of(last, to->every), number_of(first, to->every), &steps) ||
        steps >= INTERVALS_MAX)
        return err_set(err, ERR_USAGE,
                       "--every %s: more than %d intervals; take a longer time, or --from and --to",
                       duration_text(to->every, text), INTERVALS_MAX);
    if (__builtin_mul_overflow(number_of(first, to->every), to->every, &to->start))
        return err_set(err, ERR_INPUT, "the times of the trace are too far in the past");
    to->count = (uint32_t)steps + 1;
    to->intervals = calloc(to->count, sizeof(*to->intervals));
    return to->intervals ? 0 : err_memory(err, "intervals");
}

/* The interval of a time, which the range has. */
static struct interval *at(struct intervals *in, int64_t ns)
{
    return &in->intervals[((uint64_t)ns - (uint64_t)in->start) / (uint64_t)in->every];
}

static int count_row(struct intervals *in, struct quantiles *q, sqlite3_stmt *row, struct err *err)
{
    bool called = sqlite3_column_type(row, CALL_TIME) != SQLITE_NULL;
    bool replied = sqlite3_column_type(row, REPLY_TIME) != SQLITE_NULL;
    int64_t call = sqlite3_column_int64(row, CALL_TIME);
    int64_t reply = sqlite3_column_int64(row, REPLY_TIME);
    int64_t latency = (int64_t)((uint64_t)reply - (uint64_t)call);
    uint32_t groups[QUANTILES_DIMENSIONS];
    struct interval *i;

    if (!called && !replied) {
        in->untimed++;
        return 0;
    }
    i = at(in, called ? call : reply);
    i->operations++;
    i->unanswered += sqlite3_column_int(row, NO_REPLY) != 0;
    i->errors += sqlite3_column_int(row, ERROR) != 0;
    i->read += (uint64_t)sqlite3_column_int64(row, READ);
    i->written += (uint64_t)sqlite3_column_int64(row, WRITTEN);
    if (!called || !replied)
        return 0;
    i->least = !i->answered || latency < i->least ? latency : i->least;
    i->max = !i->answered || latency > i->max ? latency : i->max;
    i->answered++;
    if (reply > call) {   /* not so if a clock was set back */
        i->outstanding++; /* a sum over the intervals comes later */
        at(in, reply)->outstanding--;
    }
    memset(groups, 0xff, sizeof(groups)); /* QUANTILES_NO_GROUP */
    groups[0] = (uint32_t)(i - in->intervals);
    return quantiles_put(q, latency, groups, err);
}

static int count_operations(sqlite3 *db, const struct filter *filter, struct intervals *in,
                            struct quantiles *q, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (filter_prepare(db, filter, select_operations, &stmt, err) < 0)
        return -err->code;
    while (result == 0 && (result = sql_row(stmt, err)) > 0)
        result = count_row(in, q, stmt, err);
    return sql_end(stmt, result, err);
}

static int count_repeats(sqlite3 *db, const struct filter *filter, struct intervals *in,
                         struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (filter_prepare(db, filter, select_repeats, &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0)
        if (sqlite3_column_type(stmt, 0) != SQLITE_NULL)
            at(in, sqlite3_column_int64(stmt, 0))->retransmissions++;
    return sql_end(stmt, result, err);
}

static int add_percentiles(struct intervals *in, struct quantiles *q, struct err *err)
{
    struct quantiles_wanted *wanted = calloc((size_t)in->count + 1, sizeof(*wanted));
    size_t count = 0;
    int result;

    if (!wanted)
        return err_memory(err, "intervals");
    for (uint32_t i = 0; i < in->count; i++)
        if (in->intervals[i].answered)
            wanted[count++] = (struct quantiles_wanted){ .group = i,
                                                         .count = in->intervals[i].answered,
                                                         .least = in->intervals[i].least,
                                                         .most = in->intervals[i].max };
    result = quantiles_find(q, wanted, count, err);
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct interval *to = &in->intervals[wanted[i].group];

        to->p50 = wanted[i].value[0];
        to->p90 = wanted[i].value[1];
        to->p99 = wanted[i].value[2];
    }
    free(wanted);
    return result;
}

static int read_all(sqlite3 *db, const struct filter *filter, struct intervals *in, struct err *err)
{
    struct quantiles *q = quantiles_new(err);
    int result = q ? make_intervals(db, filter, in, err) : -err->code;

    if (result == 0)
        result = count_operations(db, filter, in, q, err);
    if (result == 0 && in->count)
        result = count_repeats(db, filter, in, err);
    if (result == 0)
        result = add_percentiles(in, q, err);
    for (uint32_t i = 1; result == 0 && i < in->count; i++)
        in->intervals[i].outstanding += in->intervals[i - 1].outstanding;
    quantiles_free(q);
    return result;
}

int intervals_read(sqlite3 *db, const struct filter *filter, int64_t every,
                   struct intervals *intervals, struct err *err)
{
    sqlite3 *reader = store_reader(db);
    int result = 0;

    *intervals = (struct intervals){ .every = every };
    if (reader) /* all queries must see the same operations */
        result = sql_run(reader, "BEGIN", err);
    if (result == 0)
        result = read_all(reader ? reader : db, filter, intervals, err);
    sqlite3_close(reader);
    if (result < 0)
        intervals_free(intervals);
    return result;
}

void intervals_free(struct intervals *intervals)
{
    free(intervals->intervals);
    memset(intervals, 0, sizeof(*intervals));
}
