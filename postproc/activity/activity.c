/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/activity/activity.c
 *
 * Reads all operations in the order of their calls, and adds each to its span of time, procedure,
 * client, user, path and status.  Latencies are put aside for percentiles.  For the page of a trace
 * (postproc/report).  The contract is in activity.h.
 */
#include "activity/activity_parts.h"
#include "base/digest.h"
#include "record/record.h"
#include "store/sql.h"
#include "store/store.h"
#include "wire/failure.h"

#include <stdlib.h>
#include <string.h>

enum { NFS = 100003, READ = 6, WRITE = 7 };

static const char select_operations[] =
    "SELECT o.id, o.flow, o.client, o.credential, o.path, o.program, o.version, o.procedure,"
    " o.pairing, o.call_frame IS NOT NULL, o.reply_frame IS NOT NULL, o.call_flags, o.reply_flags,"
    " o.call_time, o.reply_time, o.rpc_status, o.status, o.data_length FROM operation o"
    " ORDER BY ifnull(o.call_time, o.reply_time), o.id";

enum {
    OP_ID,
    OP_FLOW,
    OP_CLIENT,
    OP_CREDENTIAL,
    OP_PATH,
    OP_PROGRAM,
    OP_VERSION,
    OP_PROCEDURE,
    OP_PAIRING,
    OP_CALLED,
    OP_REPLIED,
    OP_CALL_FLAGS,
    OP_REPLY_FLAGS,
    OP_CALL_TIME,
    OP_REPLY_TIME,
    OP_RPC_STATUS,
    OP_STATUS,
    OP_DATA_LENGTH,
};

static const char select_repeats[] =
    "SELECT r.time, r.kind, o.flow, o.client, o.program, o.version, o.procedure"
    " FROM retransmission r CROSS JOIN operation o ON o.id = r.operation";

enum { REPEAT_TIME, REPEAT_KIND, REPEAT_FLOW, REPEAT_CLIENT, REPEAT_PROGRAM };

/* Adds what |part| counts, and its latency if |part| is answered. */
static void add(struct activity_count *to, const struct activity_count *part)
{
    struct activity_latency *l = &to->latency;

    to->operations += part->operations;
    to->errors += part->errors;
    to->unanswered += part->unanswered;
    to->resent += part->resent;
    to->replied_again += part->replied_again;
    to->read += part->read;
    to->written += part->written;
    if (!part->latency.answered)
        return;
    l->least = !l->answered || part->latency.least < l->least ? part->latency.least : l->least;
    l->max = !l->answered || part->latency.max > l->max ? part->latency.max : l->max;
    l->answered++;
}

static void add_latency(struct activity_latency *to, int64_t latency)
{
    struct activity_count n = { .latency = *to };

    add(&n,
        &(struct activity_count){ .latency = { .answered = 1, .least = latency, .max = latency } });
    *to = n.latency;
}

/* What a row adds to each of its groups. */
static struct activity_count part_of(sqlite3_stmt *row)
{
    int64_t procedure = sqlite3_column_int64(row, OP_PROCEDURE);
    bool nfs = sqlite3_column_int64(row, OP_PROGRAM) == NFS;
    uint64_t bytes = (uint64_t)sqlite3_column_int64(row, OP_DATA_LENGTH);
    int64_t latency = (int64_t)((uint64_t)sqlite3_column_int64(row, OP_REPLY_TIME) -
                                (uint64_t)sqlite3_column_int64(row, OP_CALL_TIME));

    return (struct activity_count){
        .operations = 1,
        .errors = failure_is(sqlite3_column_int64(row, OP_PROGRAM),
                             sqlite3_column_int64(row, OP_RPC_STATUS),
                             sqlite3_column_int64(row, OP_STATUS)),
        .unanswered = !sqlite3_column_int(row, OP_REPLIED),
        .read = nfs && procedure == READ ? bytes : 0,
        .written = nfs && procedure == WRITE ? bytes : 0,
        .latency = { .answered = sqlite3_column_type(row, OP_CALL_TIME) != SQLITE_NULL &&
                                 sqlite3_column_type(row, OP_REPLY_TIME) != SQLITE_NULL,
                     .least = latency,
                     .max = latency },
    };
}

static void count_totals(struct activity *to, sqlite3_stmt *row)
{
    int64_t pairing = sqlite3_column_int64(row, OP_PAIRING);

    to->calls += (uint64_t)sqlite3_column_int64(row, OP_CALLED);
    to->replies += (uint64_t)sqlite3_column_int64(row, OP_REPLIED);
    to->partial_calls += (sqlite3_column_int64(row, OP_CALL_FLAGS) & SIGHTING_PARTIAL) != 0;
    to->partial_replies += (sqlite3_column_int64(row, OP_REPLY_FLAGS) & SIGHTING_PARTIAL) != 0;
    to->pathless += sqlite3_column_type(row, OP_PATH) == SQLITE_NULL;
    if (pairing >= 0 && pairing < ACTIVITY_PAIRINGS)
        to->pairing[pairing]++;
    for (int i = OP_CALL_TIME; i <= OP_REPLY_TIME; i++)
        if (sqlite3_column_type(row, i) != SQLITE_NULL) {
            int64_t time = sqlite3_column_int64(row, i);

            to->first_time = !to->timed || time < to->first_time ? time : to->first_time;
            to->last_time = !to->timed || time > to->last_time ? time : to->last_time;
            to->timed = true;
        }
}

/* --- the groups of a row: places, or a TALLY_ code */

static int64_t procedure_of(struct reading *r, sqlite3_stmt *row, int at)
{
    int64_t key[ACTIVITY_KEY] = { 0 };

    if (sqlite3_column_type(row, at) == SQLITE_NULL)
        return TALLY_BEYOND; /* its call was not captured */
    for (int i = 0; i < 3; i++)
        key[i] = sqlite3_column_int64(row, at + i);
    return tally_get(&r->by[ACTIVITY_PROCEDURE], key);
}

/* The client's address is read again only if another flow had its place in the cache. */
static int64_t client_of(struct reading *r, sqlite3_stmt *row, int flow_at, int client_at)
{
    int64_t flow = sqlite3_column_int64(row, flow_at), key[ACTIVITY_KEY] = { 0 };
    struct cached *c = &r->flows[(uint64_t)flow % CACHE];
    struct tally *t = &r->by[ACTIVITY_CLIENT];
    const char *address;
    XXH128_hash_t hash;

    if (c->id == flow && flow && c->place >= 0)
        return c->place;
    address = sql_column_text(row, client_at);
    if (!address)
        return TALLY_NO_MEMORY;
    hash = XXH3_128bits(address, strlen(address));
    key[0] = (int64_t)hash.low64;
    key[1] = (int64_t)hash.high64;
    *c = (struct cached){ flow, tally_get(t, key) };
    if (c->place >= 0 && !t->entries[c->place].label &&
        !(t->entries[c->place].label = strdup(address)))
        return TALLY_NO_MEMORY;
    return c->place;
}

static int user_of(struct reading *r, sqlite3_stmt *row, int64_t *place, struct err *err)
{
    int64_t id = sql_column(row, OP_CREDENTIAL, -1), key[ACTIVITY_KEY] = { -1, -1 };
    struct cached *c = &r->credentials[(uint64_t)id % CACHE];
    int result = 0;

    *place = c->place;
    if (c->id == id && id && c->place >= 0)
        return 0;
    if (id >= 0) {
        sqlite3_bind_int64(r->credential, 1, id);
        result = sql_row(r->credential, err);
        if (result > 0) {
            key[0] = sqlite3_column_int64(r->credential, 0);
            key[1] = sql_column(r->credential, 1, -1);
        }
        sqlite3_reset(r->credential);
    }
    *c = (struct cached){ id, tally_get(&r->by[ACTIVITY_USER], key) };
    *place = c->place;
    return result < 0 ? result : 0;
}

static int64_t status_of(struct reading *r, sqlite3_stmt *row)
{
    int64_t key[ACTIVITY_KEY] = { [0] = sql_column(row, OP_PROGRAM, -1),
                                  [1] = sql_column(row, OP_VERSION, -1),
                                  [2] = sql_column(row, OP_PROCEDURE, -1),
                                  [3] = sqlite3_column_int64(row, OP_RPC_STATUS),
                                  [4] = sqlite3_column_int64(row, OP_STATUS) };

    return tally_get(&r->by[ACTIVITY_STATUS], key);
}

static int find_groups(struct reading *r, sqlite3_stmt *row, bool error,
                       int64_t at[ACTIVITY_BY_MAX], struct err *err)
{
    int rank = PATHS_NO_RANK;

    if (sqlite3_column_type(row, OP_PATH) != SQLITE_NULL)
        rank = paths_rank(&r->paths, sqlite3_column_int64(row, OP_PATH), err);
    if (rank < 0 || user_of(r, row, &at[ACTIVITY_USER], err) < 0)
        return -err->code;
    at[ACTIVITY_PROCEDURE] = procedure_of(r, row, OP_PROGRAM);
    at[ACTIVITY_CLIENT] = client_of(r, row, OP_FLOW, OP_CLIENT);
    at[ACTIVITY_PATH] = rank == PATHS_NO_RANK ? TALLY_BEYOND : rank;
    at[ACTIVITY_STATUS] = error ? status_of(r, row) : TALLY_BEYOND;
    for (int by = 0; by < ACTIVITY_BY_MAX; by++)
        if (at[by] == TALLY_NO_MEMORY)
            return err_memory(err, "groups");
    return 0;
}

static int count_pairs(struct reading *r, const int64_t at[ACTIVITY_BY_MAX], struct err *err)
{
    const struct {
        struct couples *couples;
        int64_t a, b;
    } all[] = {
        { &r->client_procedures, at[ACTIVITY_CLIENT], at[ACTIVITY_PROCEDURE] },
        { &r->user_procedures, at[ACTIVITY_USER], at[ACTIVITY_PROCEDURE] },
        { &r->path_procedures, at[ACTIVITY_PATH], at[ACTIVITY_PROCEDURE] },
        { &r->path_clients, at[ACTIVITY_PATH], at[ACTIVITY_CLIENT] },
    };

    for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].a >= 0 && all[i].b >= 0 &&
            couples_count(all[i].couples, (uint32_t)all[i].a, (uint32_t)all[i].b) < 0)
            return err_memory(err, "groups");
    return 0;
}

static uint32_t group(int64_t place)
{
    return place >= 0 ? (uint32_t)place : QUANTILES_NO_GROUP;
}

/* An operation with a latency. */
static int count_latency(struct reading *r, sqlite3_stmt *row, const int64_t at[ACTIVITY_BY_MAX],
                         int64_t latency, struct err *err)
{
    int64_t call = sqlite3_column_int64(row, OP_CALL_TIME);
    int64_t reply = sqlite3_column_int64(row, OP_REPLY_TIME);
    int64_t under_way = under_way_add(&r->under_way, call, reply, err);
    struct activity *to = r->to;
    uint32_t span = spans_at(to, call);
    unsigned level;

    if (under_way < 0)
        return -err->code;
    level = activity_level((uint64_t)under_way);
    to->peak = (uint64_t)under_way > to->peak ? (uint64_t)under_way : to->peak;
    if ((uint64_t)under_way > to->spans[span].peak)
        to->spans[span].peak = (uint64_t)under_way;
    add_latency(&to->levels[level], latency);
    to->heat[span][activity_heat_row(latency)]++;
    spans_busy(to, r->whole, call, reply);
    top_offer(&r->slowest, latency, sqlite3_column_int64(row, OP_ID));
    {
        const uint32_t first[QUANTILES_DIMENSIONS] = { [Q_SPAN] = span,
                                                       [Q_PROCEDURE] =
                                                           group(at[ACTIVITY_PROCEDURE]),
                                                       [Q_CLIENT] = group(at[ACTIVITY_CLIENT]),
                                                       [Q_PATH] = group(at[ACTIVITY_PATH]) };
        const uint32_t second[QUANTILES_DIMENSIONS] = {
            [Q_USER] = group(at[ACTIVITY_USER]), [Q_LEVEL] = level, [3] = QUANTILES_NO_GROUP
        };

        if (quantiles_put(r->first, latency, first, err) < 0 ||
            quantiles_put(r->second, latency, second, err) < 0)
            return -err->code;
    }
    return 0;
}

static int count_row(struct reading *r, sqlite3_stmt *row, struct err *err)
{
    const struct activity_count part = part_of(row);
    struct activity *to = r->to;
    int64_t time = sql_column(row, OP_CALL_TIME, sqlite3_column_int64(row, OP_REPLY_TIME));
    bool timed = sqlite3_column_type(row, OP_CALL_TIME) != SQLITE_NULL ||
                 sqlite3_column_type(row, OP_REPLY_TIME) != SQLITE_NULL;
    int64_t at[ACTIVITY_BY_MAX];

    count_totals(to, row);
    add(&to->n, &part);
    if (find_groups(r, row, part.errors, at, err) < 0 || count_pairs(r, at, err) < 0)
        return -err->code;
    for (int by = 0; by < ACTIVITY_BY_MAX; by++)
        if (at[by] >= 0)
            add(&r->by[by].entries[at[by]].n, &part);
    if (!timed) {
        to->untimed++;
        return 0;
    }
    add(&to->spans[spans_at(to, time)].n, &part);
    if (at[ACTIVITY_PATH] >= 0)
        r->path_times[at[ACTIVITY_PATH]][spans_at(to, time)]++;
    return part.latency.answered ? count_latency(r, row, at, part.latency.least, err) : 0;
}

static int read_operations(struct reading *r, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(r->db, select_operations, &stmt, err) < 0)
        return -err->code;
    while (result == 0 && (result = sql_row(stmt, err)) > 0)
        result = count_row(r, stmt, err);
    return sql_end(stmt, result, err);
}

/* --- what is not an operation */

/* |beyond| is of operations alone. */
static int count_repeat(void *ctx, sqlite3_stmt *row, struct err *err)
{
    struct reading *r = ctx;
    const struct activity_count part = { .resent = sqlite3_column_int(row, REPEAT_KIND) == 1,
                                         .replied_again =
                                             sqlite3_column_int(row, REPEAT_KIND) == 2 };
    const uint64_t beyond[] = { r->by[ACTIVITY_PROCEDURE].beyond, r->by[ACTIVITY_CLIENT].beyond };
    int64_t procedure = procedure_of(r, row, REPEAT_PROGRAM);
    int64_t client = client_of(r, row, REPEAT_FLOW, REPEAT_CLIENT);

    r->by[ACTIVITY_PROCEDURE].beyond = beyond[0];
    r->by[ACTIVITY_CLIENT].beyond = beyond[1];
    if (procedure == TALLY_NO_MEMORY || client == TALLY_NO_MEMORY)
        return err_memory(err, "groups");
    add(&r->to->n, &part);
    if (procedure >= 0)
        add(&r->by[ACTIVITY_PROCEDURE].entries[procedure].n, &part);
    if (client >= 0)
        add(&r->by[ACTIVITY_CLIENT].entries[client].n, &part);
    if (sqlite3_column_type(row, REPEAT_TIME) != SQLITE_NULL)
        add(&r->to->spans[spans_at(r->to, sqlite3_column_int64(row, REPEAT_TIME))].n, &part);
    return 0;
}

static int count_problem(void *ctx, sqlite3_stmt *row, struct err *err)
{
    struct activity *to = ctx;
    struct activity_span *span = &to->spans[spans_at(to, sqlite3_column_int64(row, 0))];
    int64_t kind = sqlite3_column_int64(row, 1);

    (void)err;
    if (kind > 0 && kind < ACTIVITY_PROBLEMS)
        span->problems[kind]++;
    if (kind == PROBLEM_HOLE)
        span->hole_bytes += (uint64_t)sqlite3_column_int64(row, 2);
    return 0;
}

/* --- */

static void reading_free(struct reading *r)
{
    for (int by = 0; by < ACTIVITY_BY_MAX; by++)
        tally_free(&r->by[by]);
    couples_free(&r->client_procedures);
    couples_free(&r->user_procedures);
    couples_free(&r->path_procedures);
    couples_free(&r->path_clients);
    paths_free(&r->paths);
    sqlite3_finalize(r->credential);
    free(r->under_way.replies);
    free(r->whole);
    free(r->path_times);
    quantiles_free(r->first);
    quantiles_free(r->second);
    free(r);
}

static int prepare(struct reading *r, struct err *err)
{
    r->slowest.most = ACTIVITY_SLOWEST;
    r->whole = calloc(ACTIVITY_SPANS + 1, sizeof(*r->whole));
    r->path_times = calloc(ACTIVITY_SHOWN, sizeof(*r->path_times));
    r->first = quantiles_new(err);
    r->second = quantiles_new(err);
    if (!r->first || !r->second)
        return -err->code;
    if (!r->whole || !r->path_times)
        return err_memory(err, "groups");
    if (sql_prepare(
            r->db, "SELECT flavor, CASE WHEN flavor = 1 THEN uid END FROM credential WHERE id = ?1",
            &r->credential, err) < 0 ||
        spans_make(r->db, r->to, err) < 0)
        return -err->code;
    return paths_read(&r->paths, r->db, err);
}

static int read_all(struct reading *r, struct err *err)
{
    struct activity *to = r->to;

    if (prepare(r, err) < 0)
        return -err->code;
    /* paths have their ranks as places */
    for (int64_t i = 0; i < r->paths.busiest.count; i++) {
        const int64_t key[ACTIVITY_KEY] = { i };

        if (tally_get(&r->by[ACTIVITY_PATH], key) < 0)
            return err_memory(err, "groups");
    }
    if (read_operations(r, err) < 0 || sql_each(r->db, select_repeats, count_repeat, r, err) < 0)
        return -err->code;
    if (to->span_count) {
        if (sql_each(r->db, "SELECT time, kind, length FROM problem WHERE time IS NOT NULL",
                     count_problem, to, err) < 0)
            return -err->code;
        spans_end(to, r->whole);
    }
    to->peak_is_least = r->under_way.full;
    top_sort(&r->slowest);
    for (; to->slowest_count < r->slowest.count; to->slowest_count++)
        to->slowest[to->slowest_count] =
            (struct activity_slow){ r->slowest.entries[to->slowest_count].id,
                                    r->slowest.entries[to->slowest_count].value };
    if (paths_tree(&r->paths, r->db, to, err) < 0)
        return -err->code;
    return lists_make(r, err);
}

int activity_read(sqlite3 *db, struct activity *to, struct err *err)
{
    sqlite3 *reader = store_reader(db);
    struct reading *r = calloc(1, sizeof(*r));
    int result = r ? 0 : err_memory(err, "groups");

    *to = (struct activity){ .spans = NULL };
    if (result == 0 && reader) /* all queries must see the same operations */
        result = sql_run(reader, "BEGIN", err);
    if (result == 0) {
        r->db = reader ? reader : db;
        r->to = to;
        result = read_all(r, err);
    }
    if (r)
        reading_free(r);
    sqlite3_close(reader);
    if (result < 0)
        activity_free(to);
    return result;
}
