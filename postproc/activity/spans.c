/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/activity/spans.c
 *
 * Time in spans of a round length, latencies in rows, operations under way in levels: for
 * activity.c.  The contract is in activity.h and activity_parts.h.
 */
#include "activity/activity_parts.h"
#include "base/grow.h"
#include "store/sql.h"

#include <stdlib.h>

#define SECOND INT64_C(1000000000)

/* --- time */

/* The next longer round length. */
static int64_t longer(int64_t every)
{
    static const int64_t seconds[] = { 10,   20,   30,   60,    120,   300,   600,  900,
                                       1800, 3600, 7200, 10800, 21600, 43200, 86400 };
    int64_t power = 1;

    for (unsigned i = 0; i < sizeof(seconds) / sizeof(*seconds) && every >= 5 * SECOND; i++)
        if (seconds[i] * SECOND > every)
            return seconds[i] * SECOND;
    if (every >= 5 * SECOND) /* whole days */
        return 2 * every;
    while (power * 10 <= every)
        power *= 10;
    return every == 2 * power ? 5 * power : 2 * every;
}

static int64_t number_of(int64_t ns, int64_t every)
{
    return ns / every - (ns % every < 0);
}

static int widen(sqlite3 *db, const char *sql, int64_t *first, int64_t *last, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    result = sql_row(stmt, err);
    if (result > 0) {
        int64_t low = sql_column(stmt, 0, INT64_MAX), high = sql_column(stmt, 1, INT64_MIN);

        *first = low < *first ? low : *first;
        *last = high > *last ? high : *last;
    }
    return sql_end(stmt, result < 0 ? result : 0, err);
}

int spans_make(sqlite3 *db, struct activity *to, struct err *err)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    to->every = 1000;
    /* two queries, because SQLite looks only one end up in the index at a time */
    if (widen(db,
              "SELECT (SELECT min(ifnull(call_time, reply_time)) FROM operation),"
              " (SELECT max(ifnull(call_time, reply_time)) FROM operation)",
              &first, &last, err) < 0 ||
        widen(db, "SELECT min(time), max(time) FROM retransmission", &first, &last, err) < 0 ||
        widen(db, "SELECT min(time), max(time) FROM problem", &first, &last, err) < 0)
        return -err->code;
    if (first > last)
        return 0; /* nothing has a time */
    while (number_of(last, to->every) - number_of(first, to->every) >= ACTIVITY_SPANS)
        to->every = longer(to->every);
    if (__builtin_mul_overflow(number_of(first, to->every), to->every, &to->start))
        return err_set(err, ERR_INPUT, "the times of the trace are too far in the past");
    to->span_count = (uint32_t)(number_of(last, to->every) - number_of(first, to->every)) + 1;
    to->spans = calloc(to->span_count, sizeof(*to->spans));
    to->heat = calloc(to->span_count, sizeof(*to->heat));
    return to->spans && to->heat ? 0 : err_memory(err, "spans of time");
}

uint32_t spans_at(const struct activity *to, int64_t ns)
{
    uint64_t at = ((uint64_t)ns - (uint64_t)to->start) / (uint64_t)to->every;

    return at < to->span_count ? (uint32_t)at : to->span_count - 1;
}

void spans_busy(struct activity *to, int64_t *whole, int64_t call, int64_t reply)
{
    uint64_t every = (uint64_t)to->every, from = (uint64_t)call - (uint64_t)to->start;
    uint64_t until = (uint64_t)reply - (uint64_t)to->start;
    uint64_t first = from / every, last;

    if (reply <= call)
        return;
    last = until / every;
    if (last >= to->span_count) { /* what comes after the last span is not shown */
        last = to->span_count - 1;
        until = (last + 1) * every;
    }
    if (first == last) {
        to->spans[first].busy += until - from;
        return;
    }
    to->spans[first].busy += (first + 1) * every - from;
    to->spans[last].busy += until - last * every;
    whole[first + 1]++; /* those in between are busy as a whole */
    whole[last]--;
}

void spans_end(struct activity *to, const int64_t *whole)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < to->span_count; i++) {
        sum += whole[i];
        to->spans[i].busy += (uint64_t)sum * (uint64_t)to->every;
    }
}

/* --- latencies */

unsigned activity_heat_row(int64_t latency)
{
    /* 2^63 times the root of 2, rounded down: a number above it is in the upper half of its power
     * of two.  Not by squares: machines of 32 bits have none of 128. */
    static const uint64_t half = UINT64_C(0xB504F333F9DE6484);
    unsigned k;

    if (latency < 1)
        return 0;
    k = 63 - (unsigned)__builtin_clzll((unsigned long long)latency);
    return 2 * k + ((uint64_t)latency << (63 - k) > half);
}

int64_t activity_heat_from(unsigned row)
{
    unsigned k = row / 2;
    int64_t low, high;

    if (k > 62)
        return INT64_MAX;
    low = INT64_C(1) << k;
    if (row % 2 == 0)
        return row ? low : 0;
    high = k < 62 ? low * 2 : INT64_MAX;
    while (low < high) { /* to the smallest number whose row it is */
        int64_t middle = low + (high - low) / 2;

        if (activity_heat_row(middle) < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- operations under way */

unsigned activity_level(uint64_t under_way)
{
    uint64_t m = under_way - 1;
    unsigned k;

    if (m < 2)
        return (unsigned)m;
    k = 63 - (unsigned)__builtin_clzll(m);
    return 2 * k + (m >> (k - 1) & 1);
}

uint64_t activity_level_from(unsigned level)
{
    if (level < 2)
        return level + 1;
    return (UINT64_C(2) + (level & 1)) * (UINT64_C(1) << (level / 2 - 1)) + 1;
}

static void take_first(struct under_way *u)
{
    int64_t *e = u->replies, last = e[--u->count];
    uint32_t i = 0, child;

    for (; (child = 2 * i + 1) < u->count; i = child) {
        if (child + 1 < u->count && e[child + 1] < e[child])
            child++;
        if (last <= e[child])
            break;
        e[i] = e[child];
    }
    if (u->count)
        e[i] = last;
}

int64_t under_way_add(struct under_way *u, int64_t call, int64_t reply, struct err *err)
{
    uint32_t i;

    while (u->count && u->replies[0] <= call)
        take_first(u);
    if (u->count == ACTIVITY_UNDER_WAY_MAX) {
        u->full = true;
        return (int64_t)u->count + 1;
    }
    if (GROW(u->replies, u->count, u->cap) < 0)
        return err_memory(err, "operations under way");
    for (i = u->count++; i && u->replies[(i - 1) / 2] > reply; i = (i - 1) / 2)
        u->replies[i] = u->replies[(i - 1) / 2];
    u->replies[i] = reply;
    return u->count;
}
