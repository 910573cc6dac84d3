/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/count.c
 *
 * The totals of sources, by what rows came and went.  A reply may complete an operation of an
 * earlier source, so several sources can be concerned.
 */
#include "store/store_parts.h"
#include "base/grow.h"

static struct source_delta *delta_of(struct store *store, int64_t source, struct err *err)
{
    if (GROW_ZERO(store->deltas, (uint64_t)source + 1, store->delta_count) < 0) {
        err_memory(err, "the counts of sources");
        return NULL;
    }
    store->deltas[source].any = true;
    return &store->deltas[source];
}

int count_operation(struct store *store, int64_t call_source, int64_t reply_source, int by,
                    struct err *err)
{
    struct source_delta *delta;

    if (call_source) {
        delta = delta_of(store, call_source, err);
        if (!delta)
            return -ERR_SYSTEM;
        delta->calls += by;
        delta->operations += by;
    }
    if (reply_source) {
        delta = delta_of(store, reply_source, err);
        if (!delta)
            return -ERR_SYSTEM;
        delta->replies += by;
        delta->operations += call_source ? 0 : by;
    }
    return 0;
}

int count_retransmission(struct store *store, int64_t source, int by, struct err *err)
{
    struct source_delta *delta = delta_of(store, source, err);

    if (!delta)
        return -ERR_SYSTEM;
    delta->retransmissions += by;
    return 0;
}

int count_copy(struct store *store, int64_t source, int by, struct err *err)
{
    struct source_delta *delta = delta_of(store, source, err);

    if (!delta)
        return -ERR_SYSTEM;
    delta->copies += by;
    return 0;
}

int count_problem(struct store *store, int64_t source, int by, struct err *err)
{
    struct source_delta *delta = delta_of(store, source, err);

    if (!delta)
        return -ERR_SYSTEM;
    delta->problems += by;
    return 0;
}

void count_frame(struct store *store, uint64_t frame, int64_t time)
{
    struct store_totals *totals = &store->totals;

    if (!frame || store->has_end)
        return;
    if (frame > totals->frames)
        totals->frames = frame;
    if (time == TIME_NONE)
        return;
    if (totals->first_time == TIME_NONE || time < totals->first_time)
        totals->first_time = time;
    if (time > totals->last_time)
        totals->last_time = time;
}

int count_end(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = SQLITE_DONE;

    if (store_prepare(store,
                      "UPDATE source SET operations = operations + ?2, calls = calls + ?3,"
                      " replies = replies + ?4, retransmissions = retransmissions + ?5,"
                      " problems = problems + ?6, copies = copies + ?7"
                      " WHERE id = ?1",
                      &stmt, err) < 0)
        return -err->code;
    for (size_t i = 0; i < store->delta_count && result == SQLITE_DONE; i++) {
        struct source_delta *delta = &store->deltas[i];

        if (!delta->any)
            continue;
        sqlite3_bind_int64(stmt, 1, (int64_t)i);
        sqlite3_bind_int64(stmt, 2, delta->operations);
        sqlite3_bind_int64(stmt, 3, delta->calls);
        sqlite3_bind_int64(stmt, 4, delta->replies);
        sqlite3_bind_int64(stmt, 5, delta->retransmissions);
        sqlite3_bind_int64(stmt, 6, delta->problems);
        sqlite3_bind_int64(stmt, 7, delta->copies);
        result = sqlite3_step(stmt);
        sqlite3_reset(stmt);
        if (i == (size_t)store->source) {
            store->totals.operations += (uint64_t)delta->operations;
            store->totals.calls += (uint64_t)delta->calls;
            store->totals.replies += (uint64_t)delta->replies;
            store->totals.retransmissions += (uint64_t)delta->retransmissions;
            store->totals.copies += (uint64_t)delta->copies;
            store->totals.problems += (uint64_t)delta->problems;
        }
        *delta = (struct source_delta){ .any = false };
    }
    return store_finish(store, stmt, 0, err);
}
