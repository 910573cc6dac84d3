/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/effects.c
 *
 * effects_read: rows of operation in the order of calls (index operation_by_time), held back in a
 * heap until the time of their reply has come.  Rows are read in the caller's thread; what comes
 * after that is done in another one.
 */
#include "plan/effects.h"
#include "base/grow.h"
#include "store/sql.h"

#include "base/digest.h"
#include "base/queue.h"
#include "base/table.h"
#include "store/store.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <stdlib.h>

/* A row with its bodies. */
struct held {
    struct effect effect;
    uint8_t *body; /* arguments, result, digests of blocks */
    uint32_t cap;
};

struct place { /* in the heap */
    int64_t time, id;
    uint32_t held;
};

struct effects {
    sqlite3 *db;
    const struct effect_visitor *visitor;
    struct held *held;
    uint32_t *spare; /* indexes of |held| that are free */
    struct place *heap;
    uint32_t cap, spare_count, heap_count;
    bool untimed;   /* packets without a time are in it: order is that of frames */
    int64_t latest; /* then: the time given to the call before */
    uint64_t bytes; /* of bodies in the heap */
    char **hosts;   /* texts of addresses */
    uint32_t host_count, host_cap;
    struct table by_text;
    struct queue *queue;
    struct err *err; /* of the thread that reads */
};

enum {
    COL_ID,
    COL_CALL_TIME,
    COL_REPLY_TIME,
    COL_PROGRAM,
    COL_VERSION,
    COL_PROCEDURE,
    COL_PAIRING,
    COL_CALL_FLAGS,
    COL_REPLY_FLAGS,
    COL_RPC_STATUS,
    COL_STATUS,
    COL_OBJECT,
    COL_OBJECT2,
    COL_NEW_OBJECT,
    COL_SERVER,
    COL_CLIENT,
    COL_CREDENTIAL,
    COL_DATA_DIGEST,
    COL_ARGUMENTS_LENGTH,
    COL_RESULT_LENGTH,
    COL_ARGUMENTS,
    COL_RESULT,
    COL_BLOCK_DIGESTS,
    COL_FLOW,
    COL_XID,
    COL_CALLS_AGAIN,
    COL_REPLIES_DIFFER,
};

#define OPERATIONS(more)                                                                           \
    "SELECT id, call_time, reply_time, program, version, procedure, pairing, call_flags,"          \
    " reply_flags, rpc_status, status, object, object2, new_object, server, client, credential,"   \
    " data_digest, arguments_length, result_length, arguments, result" more " FROM operation"
static const char select_operations[] = OPERATIONS("");
/* code 'repeat': 1 is a call, 2 a reply */
static const char select_with_repeats[] =
    OPERATIONS(", block_digests, flow, xid, (SELECT count(*) FROM retransmission r WHERE "
               "r.operation = operation.id"
               " AND r.kind = 1), EXISTS (SELECT 1 FROM retransmission r"
               " WHERE r.operation = operation.id AND r.kind = 2 AND r.differs)");
static const char in_order[] = " ORDER BY ifnull(call_time, reply_time), id";
static const char in_order_of_frames[] = " ORDER BY id"; /* for ids follow the frames of calls */
static const char sql_untimed[] =
    "SELECT EXISTS (SELECT 1 FROM operation WHERE ifnull(call_time, reply_time) IS NULL)";
static const char where_client[] = " AND client = ?1";
static const char where_uid[] = " AND credential IN (SELECT id FROM credential WHERE uid = ?2)";
static const char where_gid[] = " AND credential IN (SELECT id FROM credential WHERE gid = ?3)";
static const char where_under[] =
    " AND path IN (SELECT id FROM path WHERE text = ?4 OR substr(text, 1, length(?4) + 1) ="
    " ?4 || '/')";
static const char where_to[] = " AND ifnull(call_time, reply_time) < ?5";

static int no_memory(struct err *err)
{
    return err_memory(err, "operations");
}

static bool earlier(const struct place *a, const struct place *b)
{
    return a->time != b->time ? a->time < b->time : a->id < b->id;
}

static void heap_put(struct effects *s, struct place p)
{
    uint32_t at = s->heap_count++;

    while (at > 0 && earlier(&p, &s->heap[(at - 1) / 2])) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = p;
}

static struct place heap_take(struct effects *s)
{
    struct place top = s->heap[0], last = s->heap[--s->heap_count];
    uint32_t at = 0, child;

    while ((child = at * 2 + 1) < s->heap_count) {
        if (child + 1 < s->heap_count && earlier(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!earlier(&s->heap[child], &last))
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return top;
}

static uint64_t held_bytes(const struct effect *e)
{
    return (uint64_t)e->arguments_body.len + e->result_body.len + e->blocks.len;
}

static int finish_first(struct effects *s, struct err *err)
{
    struct place p = heap_take(s);
    struct effect *e = &s->held[p.held].effect;
    int result = s->visitor->done(s->visitor->ctx, e, err);

    s->bytes -= held_bytes(e);
    s->spare[s->spare_count++] = p.held;
    return result;
}

/* All elements are made at once: effects stay where they are while they are held. */
static int allocate(struct effects *s)
{
    s->cap = EFFECTS_WAITING;
    s->held = calloc(s->cap, sizeof(*s->held));
    s->spare = malloc(s->cap * sizeof(*s->spare));
    s->heap = malloc(s->cap * sizeof(*s->heap));
    if (!s->held || !s->spare || !s->heap)
        return no_memory(s->err);
    for (uint32_t i = 0; i < s->cap; i++)
        s->spare[i] = s->cap - 1 - i;
    s->spare_count = s->cap;
    return 0;
}

/* Each text is kept once; hosts count from 1.  0: no memory, or the visitor's error. */
static uint32_t host_number(struct effects *s, const char *text)
{
    uint64_t hash = XXH3_64bits(text ? text : "", text ? strlen(text) : 0);
    uint32_t at;

    if (!text)
        text = "";
    for (uint32_t i = table_first(&s->by_text, hash, &at); i != TABLE_NONE;
         i = table_next(&s->by_text, hash, &at))
        if (strcmp(s->hosts[i], text) == 0)
            return i + 1;
    if (GROW(s->hosts, s->host_count, s->host_cap) < 0)
        return 0;
    s->hosts[s->host_count] = strdup(text);
    if (!s->hosts[s->host_count] || table_add(&s->by_text, hash, s->host_count++) < 0)
        return 0;
    if (s->visitor->host && s->visitor->host(s->visitor->ctx, s->host_count, text, s->err) < 0)
        return 0;
    return s->host_count;
}

static int64_t number(sqlite3_stmt *stmt, int column, int64_t none)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL ? none
                                                            : sqlite3_column_int64(stmt, column);
}

static uint32_t id_of(sqlite3_stmt *stmt, int column)
{
    int64_t id = sqlite3_column_int64(stmt, column);

    return id > 0 && id < UINT32_MAX ? (uint32_t)id : 0;
}

/* Into the held element's own memory. */
static int take_bodies(struct held *h, const uint8_t *bodies, struct err *err)
{
    struct effect *e = &h->effect;
    uint64_t len = (uint64_t)e->arguments_body.len + e->result_body.len + e->blocks.len;

    if (len + 1 > h->cap) {
        uint8_t *body = len + 512 <= UINT32_MAX ? malloc(len + 512) : NULL;

        if (!body)
            return no_memory(err);
        free(h->body);
        h->body = body;
        h->cap = (uint32_t)len + 512;
    }
    memcpy(h->body, bodies, len); /* one lies behind the other */
    e->arguments_body.data = h->body;
    e->result_body.data = h->body + e->arguments_body.len;
    e->blocks.data = e->result_body.data + e->result_body.len;
    return 0;
}

/* An operation comes out of the queue: its effect, then its bodies. */
static int take(void *ctx, void *data, size_t len, struct err *err)
{
    struct effects *s = ctx;
    const struct effect *e = data;
    struct place p;
    struct held *h;
    int result;

    (void)len;
    while (s->heap_count && (s->heap[0].time <= e->call_time || s->heap_count == EFFECTS_WAITING ||
                             s->bytes > EFFECTS_WAITING_BYTES))
        if ((result = finish_first(s, err)) < 0)
            return result;
    p.held = s->spare[--s->spare_count];
    h = &s->held[p.held];
    h->effect = *e;
    if (take_bodies(h, (const uint8_t *)data + sizeof(*e), err) < 0)
        return -err->code;
    effect_decode(&h->effect);
    p.time = h->effect.done_time;
    p.id = h->effect.id;
    s->bytes += held_bytes(e);
    heap_put(s, p);
    return s->visitor->called(s->visitor->ctx, &h->effect, err);
}

/* Where packets have no time: the call is behind the one before it. */
static int64_t place_in_order(struct effects *s, int64_t call)
{
    if (s->untimed)
        s->latest = call == INT64_MIN ? s->latest + 1 : call > s->latest ? call : s->latest;
    return s->untimed ? s->latest : call;
}

/* Of contents that are all there. */
static void take_digest(sqlite3_stmt *stmt, struct effect *e)
{
    const void *digest = sqlite3_column_blob(stmt, COL_DATA_DIGEST);
    bool sent = e->call_flags & SIGHTING_DATA;
    uint32_t flags = sent ? e->call_flags : e->reply_flags;

    if (!digest || sqlite3_column_bytes(stmt, COL_DATA_DIGEST) != sizeof(e->digest) ||
        flags & (SIGHTING_PARTIAL | SIGHTING_MALFORMED))
        return;
    e->has_digest = true;
    memcpy(e->digest, digest, sizeof(e->digest));
}

static int read_row(struct effects *s, sqlite3_stmt *stmt)
{
    const void *arguments = sqlite3_column_blob(stmt, COL_ARGUMENTS);
    uint32_t arguments_len = (uint32_t)sqlite3_column_bytes(stmt, COL_ARGUMENTS);
    const void *result = sqlite3_column_blob(stmt, COL_RESULT);
    uint32_t result_len = (uint32_t)sqlite3_column_bytes(stmt, COL_RESULT);
    const void *blocks = s->visitor->lint ? sqlite3_column_blob(stmt, COL_BLOCK_DIGESTS) : NULL;
    uint32_t blocks_len = blocks ? (uint32_t)sqlite3_column_bytes(stmt, COL_BLOCK_DIGESTS) : 0;
    int64_t reply = number(stmt, COL_REPLY_TIME, INT64_MIN);
    int64_t call = place_in_order(s, number(stmt, COL_CALL_TIME, reply));
    bool timed = reply != INT64_MIN && sqlite3_column_type(stmt, COL_CALL_TIME) != SQLITE_NULL;
    struct effect e = { .id = sqlite3_column_int64(stmt, COL_ID),
                        .call_time = call,
                        .done_time = reply > call ? reply : call,
                        .timed = timed,
                        .pairing = (uint8_t)sqlite3_column_int(stmt, COL_PAIRING),
                        .call_flags = (uint32_t)sqlite3_column_int64(stmt, COL_CALL_FLAGS),
                        .reply_flags = (uint32_t)sqlite3_column_int64(stmt, COL_REPLY_FLAGS),
                        .rpc_status = number(stmt, COL_RPC_STATUS, STATUS_NONE),
                        .status = number(stmt, COL_STATUS, STATUS_NONE),
                        .object = id_of(stmt, COL_OBJECT),
                        .parent2 = id_of(stmt, COL_OBJECT2),
                        .new_object = id_of(stmt, COL_NEW_OBJECT),
                        .credential = id_of(stmt, COL_CREDENTIAL),
                        .arguments_body = { NULL, arguments_len },
                        .result_body = { NULL, result_len },
                        .blocks = { NULL, blocks_len },
                        .arguments_length =
                            (uint32_t)sqlite3_column_int64(stmt, COL_ARGUMENTS_LENGTH),
                        .result_length = (uint32_t)sqlite3_column_int64(stmt, COL_RESULT_LENGTH) };
    const struct iovec pieces[] = { { &e, sizeof(e) },
                                    { (void *)arguments, arguments_len },
                                    { (void *)result, result_len },
                                    { (void *)blocks, e.blocks.len } };

    take_digest(stmt, &e);
    if (s->visitor->lint) {
        e.flow = id_of(stmt, COL_FLOW);
        e.xid = (uint32_t)sqlite3_column_int64(stmt, COL_XID);
        e.calls_again = (uint32_t)sqlite3_column_int64(stmt, COL_CALLS_AGAIN);
        e.replies_differ = sqlite3_column_int(stmt, COL_REPLIES_DIFFER) != 0;
    }
    if (sqlite3_column_type(stmt, COL_PROGRAM) != SQLITE_NULL) {
        e.program = (uint32_t)sqlite3_column_int64(stmt, COL_PROGRAM);
        e.version = (uint32_t)sqlite3_column_int64(stmt, COL_VERSION);
        e.procedure = procedure_find(e.program, e.version,
                                     (uint32_t)sqlite3_column_int64(stmt, COL_PROCEDURE));
    }
    e.server_number = host_number(s, (const char *)sqlite3_column_text(stmt, COL_SERVER));
    e.client_number = host_number(s, (const char *)sqlite3_column_text(stmt, COL_CLIENT));
    if (!e.server_number || !e.client_number)
        return s->err->code ? -s->err->code : no_memory(s->err);
    e.server = s->hosts[e.server_number - 1];
    return queue_put(s->queue, pieces, 4, s->err);
}

/* "|select| WHERE (|always| OR the filter's conditions), but for its time, |order|" */
struct query {
    const char *select, *always, *order;
};

static int prepare(sqlite3 *db, const struct query *q, const struct effect_filter *f,
                   sqlite3_stmt **stmt, struct err *err)
{
    char sql[2048];

    if (!f)
        snprintf(sql, sizeof(sql), "%s%s", q->select, q->order);
    else
        snprintf(sql, sizeof(sql), "%s WHERE (%s OR (1%s%s%s%s))%s%s", q->select, q->always,
                 f->client ? where_client : "", f->uid >= 0 ? where_uid : "",
                 f->gid >= 0 ? where_gid : "", f->under ? where_under : "",
                 f->to != INT64_MAX ? where_to : "", q->order);
    if (sql_prepare(db, sql, stmt, err) < 0)
        return -err->code;
    if (!f)
        return 0;
    sqlite3_bind_text(*stmt, 1, f->client, -1, SQLITE_STATIC);
    sqlite3_bind_int64(*stmt, 2, f->uid);
    sqlite3_bind_int64(*stmt, 3, f->gid);
    sqlite3_bind_text(*stmt, 4, f->under, -1, SQLITE_STATIC);
    sqlite3_bind_int64(*stmt, 5, f->to);
    return 0;
}

int effects_count(sqlite3 *db, const struct effect_filter *filter, int64_t from, uint64_t *count,
                  struct err *err)
{
    /* those whose call was not captured are taken for NFSv3, as plan.c does */
    static const char nfs3[] =
        " AND (program IN (100003, 100227) AND version = 3 AND EXISTS (SELECT 1 FROM procedure r"
        " WHERE r.program = operation.program AND r.version = 3 AND r.number = procedure)"
        " OR program IS NULL AND pairing = 2)"
        " AND ifnull(call_time, reply_time) >= ?6";
    const struct query query = { "SELECT count(*) FROM operation", "0", nfs3 };
    sqlite3_stmt *stmt;
    int result;

    _Static_assert(CALL_LOST == 2, "as it stands in the text");
    if (prepare(db, &query, filter, &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 6, from);
    result = sql_row(stmt, err);
    *count = result > 0 ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
    return sql_end(stmt, result < 0 ? result : 0, err);
}

/* Whether there are operations without any time: 1, 0 or negative. */
static int find_untimed(struct effects *s)
{
    sqlite3_stmt *stmt;
    int found;

    if (sql_prepare(s->db, sql_untimed, &stmt, s->err) < 0)
        return -s->err->code;
    found = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0);
    return sql_end(stmt, found, s->err);
}

static int read_rows(struct effects *s, sqlite3_stmt *stmt)
{
    int step = SQLITE_DONE, result = 0;

    while (result == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW)
        result = read_row(s, stmt);
    if (result == 0 && step != SQLITE_DONE)
        result = sql_fail(s->db, s->err);
    return result;
}

static int read_all(struct effects *s)
{
    struct query query = { s->visitor->lint ? select_with_repeats : select_operations,
                           "program = 100005", NULL };
    sqlite3_stmt *stmt;
    int result = find_untimed(s);

    s->untimed = result == 1;
    query.order = s->untimed ? in_order_of_frames : in_order;
    if (result >= 0)
        result = prepare(s->db, &query, s->visitor->filter, &stmt, s->err);
    if (result < 0)
        return result;
    result = read_rows(s, stmt);
    sqlite3_finalize(stmt);
    if (result == 0)
        result = queue_drain(s->queue, s->err);
    while (result == 0 && s->heap_count)
        result = finish_first(s, s->err);
    return result;
}

int effects_read(sqlite3 *db, const struct effect_visitor *visitor, struct err *err)
{
    sqlite3 *apart = store_reader(db); /* |db| is the other thread's */
    struct effects s = { .db = apart ? apart : db, .visitor = visitor, .err = err };
    int result = allocate(&s);

    if (result == 0) {
        s.queue = queue_new(take, &s, err);
        result = s.queue ? read_all(&s) : -err->code;
        queue_free(s.queue);
    }
    sqlite3_close(apart);
    for (uint32_t i = 0; s.held && i < s.cap; i++)
        free(s.held[i].body);
    for (uint32_t i = 0; i < s.host_count; i++)
        free(s.hosts[i]);
    free(s.hosts);
    table_free(&s.by_text);
    free(s.held);
    free(s.spare);
    free(s.heap);
    return result;
}
