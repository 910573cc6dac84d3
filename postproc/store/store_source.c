/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store_source.c
 *
 * The transaction of one source: where ids begin, what is counted, and what is left for the next.
 */
#include "store/sql.h"
#include "base/grow.h"
#include "store/store_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    CACHE_BULK_KIB = 8000,     /* rows are only appended, and the sorter likes short runs */
    CACHE_INDEXED_KIB = 49152, /* indexes are kept while rows come in */
};

uint64_t store_frame_base(const struct store *store)
{
    return store->base_count ? store->bases[store->base_count - 1].frames : 0;
}

void store_provisional(struct store *store)
{
    store->provisional = true;
}

/* Where the ids of the stream and those of the database meet. */
static int begin_ids(struct store *store, struct err *err)
{
    static const char *const queries[] = {
        "SELECT max(id) FROM flow",
        "SELECT max(id) FROM credential",
        "SELECT max(id) FROM object",
        "SELECT max(id) FROM path",
    };
    static const char *const names[] = { "flow", "credential", "object", "path" };
    struct ids *ids[] = { &store->flows, &store->credentials, &store->objects, &store->paths };
    bool known = store->kind != STORE_NFSR; /* the database to the engine */
    int64_t greatest;

    for (int i = 0; i < 4; i++) {
        if (sql_number(store->db, queries[i], 0, &greatest, err) < 0)
            return -err->code;
        if (greatest > UINT32_MAX - 1)
            return err_set(err, ERR_SYSTEM, "%s: too many %ss", store->path, names[i]);
        ids_free(ids[i]);
        ids[i]->what = names[i];
        ids[i]->greatest = (uint32_t)greatest;
        ids[i]->direct = known || greatest == 0;
        ids[i]->count = known ? (uint32_t)greatest : 0;
    }
    /* flows are of one stream, or of an engine from its beginning */
    store->flows.direct = true;
    store->flows.base = store->flow_base;
    store->flows.count = store->flows.greatest - store->flow_base;
    store->parent_path = 0;
    return sql_number(store->db, "SELECT max(id) FROM name_event", 0, &store->known_names, err);
}

/* The ends of the flows that the engine knows. */
static int load_flows(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    hosts_forget_flows(&store->hosts);
    if (store_prepare(store,
                      "SELECT transport, client, client_port, server, server_port FROM flow"
                      " WHERE id > ? ORDER BY id",
                      &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, store->flow_base);
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
        struct record_flow flow = { .transport = (uint8_t)sqlite3_column_int(stmt, 0),
                                    .client_port = (uint16_t)sqlite3_column_int(stmt, 2),
                                    .server_port = (uint16_t)sqlite3_column_int(stmt, 4) };

        result = read_address((const char *)sqlite3_column_text(stmt, 1), &flow.client, err);
        if (result == 0)
            result = read_address((const char *)sqlite3_column_text(stmt, 3), &flow.server, err);
        if (result == 0)
            result = hosts_add_flow(&store->hosts, &flow, err);
    }
    return store_finish(store, stmt, result, err);
}

/* The captures whose frames the engine counts on from. */
static int load_bases(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt;
    int64_t frames = 0;
    int result;

    store->base_count = 0;
    if (store_prepare(store,
                      "SELECT id, frame_base, frames FROM source"
                      " WHERE kind = 'capture' ORDER BY frame_base",
                      &stmt, err) < 0)
        return -err->code;
    for (;;) {
        result = sqlite3_step(stmt);
        if (GROW(store->bases, store->base_count, store->base_cap) < 0) { /* also for the new one */
            sqlite3_finalize(stmt);
            return err_memory(err, "sources");
        }
        if (result != SQLITE_ROW)
            break;
        store->bases[store->base_count].source = sqlite3_column_int64(stmt, 0);
        store->bases[store->base_count++].frames = (uint64_t)sqlite3_column_int64(stmt, 1);
        frames = sqlite3_column_int64(stmt, 1) + sqlite3_column_int64(stmt, 2);
    }
    if (store_finish(store, stmt, 0, err) < 0)
        return -err->code;
    if (store->kind == STORE_CAPTURE) {
        store->bases[store->base_count].source = store->source;
        store->bases[store->base_count++].frames = (uint64_t)frames;
    }
    return 0;
}

static int insert_source(struct store *store, const char *name, struct err *err)
{
    sqlite3_stmt *stmt;

    if (store_prepare(store,
                      "INSERT INTO source VALUES (?,?,?,'open',NULL,0,x'',x'',?,0,0,0,0,0,0,0,"
                      "NULL,NULL)",
                      &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, store->source);
    if (put_bind_name(store, stmt, 2,
                      (struct bytes){ (const uint8_t *)name, (uint32_t)strlen(name) }, true,
                      err) < 0) {
        sqlite3_finalize(stmt);
        return -err->code;
    }
    sqlite3_bind_text(stmt, 3, store->kind == STORE_CAPTURE ? "capture" : "nfsr", -1,
                      SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 4,
                       store->kind == STORE_CAPTURE ? (int64_t)store_frame_base(store) : 0);
    sqlite3_step(stmt);
    return store_finish(store, stmt, 0, err);
}

static int begin_transaction(struct store *store, struct err *err)
{
    char sql[64];
    int64_t indexed;

    if (sql_run(store->db, "BEGIN IMMEDIATE", err) < 0)
        return -err->code;
    store->open = true;
    if ((!store->ready && store->path[0] && !store->temporary && /* others may have been faster */
         store_check_version(store, err) < 0) ||
        store_version(store, &store->version, err) < 0)
        return -err->code;
    if ((!store->ready && schema_create(store->db, err) < 0) ||
        store_mark_unfinished(store, err) < 0)
        return -err->code;
    if (sql_number(store->db, "SELECT count(*) FROM sqlite_schema WHERE name = 'operation_by_time'",
                   0, &indexed, err) < 0)
        return -err->code;
    store->indexed = indexed;
    snprintf(sql, sizeof(sql), "PRAGMA cache_size = -%d",
             store->indexed ? CACHE_INDEXED_KIB : CACHE_BULK_KIB);
    if (sql_run(store->db, sql, err) < 0 || statements_prepare(store, err) < 0)
        return -err->code;
    return sql_number(store->db,
                      store->kind == STORE_TAIL
                          ? "SELECT max(id) FROM source WHERE kind = 'capture'"
                          : "SELECT ifnull(max(id), 0) + 1 FROM source",
                      0, &store->source, err);
}

int store_begin(struct store *store, const char *name, enum store_kind kind, bool settle,
                struct err *err)
{
    store->kind = kind;
    store->provisional = kind == STORE_TAIL;
    store->has_end = false;
    store->totals = (struct store_totals){ .first_time = TIME_NONE, .last_time = TIME_NONE };
    free(store->deltas);
    store->deltas = NULL;
    store->delta_count = 0;
    stream_ends_free(&store->stream_ends);
    if (begin_transaction(store, err) < 0 || load_bases(store, err) < 0 ||
        (name && insert_source(store, name, err) < 0) ||
        carry_begin(store, settle || kind == STORE_NFSR, err) < 0 || begin_ids(store, err) < 0 ||
        load_flows(store, err) < 0) {
        store_abandon(store);
        return -err->code;
    }
    return 0;
}

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct store *store = ctx;

    switch (record->kind) {
    case RECORD_FLOW:
        return put_flow(store, &record->flow, err);
    case RECORD_CREDENTIAL:
        return put_credential(store, &record->credential, err);
    case RECORD_OBJECT:
        return put_object(store, &record->object, err);
    case RECORD_PATH:
        return put_path(store, &record->path, err);
    case RECORD_NAME:
        return put_name(store, &record->name, err);
    case RECORD_OPERATION:
        return put_operation(store, &record->operation, err);
    case RECORD_REPEAT:
        return put_repeat(store, &record->repeat, err);
    case RECORD_PROBLEM:
        return put_problem(store, &record->problem, err);
    case RECORD_COUNTER:
        return put_counter(store, &record->counter, err);
    case RECORD_CONTENTS:
        return put_contents(store, &record->contents, err);
    case RECORD_CONNECTION_EVENT:
        return put_connection_event(store, &record->connection_event, err);
    case RECORD_END:
        if (store->kind == STORE_TAIL)
            return 0; /* of no frames */
        store->has_end = true;
        store->totals.frames = record->end.frames;
        store->totals.first_time = record->end.first_time;
        store->totals.last_time = record->end.last_time;
        return 0;
    default:
        return 0; /* of a later minor version */
    }
}

struct sink store_sink(struct store *store)
{
    return (struct sink){ put, store };
}

/* Behind the cut operations were to follow that others refer to. */
static int drop_dangling(struct store *store, struct err *err)
{
    if (sql_run(store->db,
                "UPDATE operation SET depends_on = NULL WHERE depends_on IS NOT NULL AND"
                " depends_on NOT IN (SELECT id FROM operation);"
                "UPDATE name_event SET operation = NULL WHERE operation IS NOT NULL AND"
                " operation NOT IN (SELECT id FROM operation);"
                "DELETE FROM contents WHERE operation NOT IN (SELECT id FROM operation);"
                "DELETE FROM retransmission WHERE operation NOT IN (SELECT id FROM operation);",
                err) < 0)
        return -err->code;
    if (count_retransmission(store, store->source, -sqlite3_changes(store->db), err) < 0 ||
        sql_run(store->db, "DELETE FROM copy WHERE operation NOT IN (SELECT id FROM operation);",
                err) < 0)
        return -err->code;
    return count_copy(store, store->source, -sqlite3_changes(store->db), err);
}

static int end_source(struct store *store, const struct store_end *end, struct err *err)
{
    const struct store_totals *totals = &store->totals;
    sqlite3_stmt *stmt;

    if (store_prepare(store,
                      "UPDATE source SET state = ?2, note = ?3, size = ?4, digest = ?5,"
                      " head_digest = ?6, frames = ?7, first_time = ?8, last_time = ?9"
                      " WHERE id = ?1",
                      &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, store->source);
    sqlite3_bind_text(stmt, 2, end->cut ? "cut" : "complete", -1, SQLITE_STATIC);
    if (end->cut &&
        put_bind_name(store, stmt, 3,
                      (struct bytes){ (const uint8_t *)end->cut, (uint32_t)strlen(end->cut) }, true,
                      err) < 0) {
        sqlite3_finalize(stmt);
        return -err->code;
    }
    sqlite3_bind_int64(stmt, 4, (int64_t)end->size);
    sqlite3_bind_blob(stmt, 5, end->digest, STORE_DIGEST_LEN, SQLITE_STATIC);
    sqlite3_bind_blob(stmt, 6, end->head_digest, STORE_DIGEST_LEN, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 7, (int64_t)totals->frames);
    sql_bind_unless(stmt, 8, totals->first_time, TIME_NONE);
    sql_bind_unless(stmt, 9, totals->last_time, TIME_NONE);
    sqlite3_step(stmt);
    if (store_finish(store, stmt, 0, err) < 0)
        return -err->code;
    return end->cut && store->kind == STORE_NFSR ? drop_dangling(store, err) : 0;
}

int store_version(struct store *store, int64_t *version, struct err *err)
{
    *version = 0;
    return store->ready ? sql_number(store->db,
                                     "SELECT 3 * (SELECT ifnull(max(id), 0) FROM source)"
                                     " + ifnull((SELECT 1 + tail FROM carry), 0)",
                                     0, version, err)
                        : 0;
}

int64_t store_known_version(const struct store *store)
{
    return store->version;
}

int store_end(struct store *store, const struct store_end *end, struct err *err)
{
    bool was_ready = store->ready;

    if ((end && end_source(store, end, err) < 0) || count_end(store, err) < 0 ||
        carry_end(store, end, err) < 0 || (!store->indexed && schema_index(store->db, err) < 0)) {
        store_abandon(store);
        return -err->code;
    }
    store->ready = true; /* for those who look into it */
    store->marked = store->follows;
    if (store_version(store, &store->version, err) < 0 || sql_run(store->db, "COMMIT", err) < 0) {
        store->ready = was_ready;
        store_abandon(store);
        return -err->code;
    }
    store->open = false;
    return store_publish(store, err);
}

int store_tail(struct store *store, const struct store_end *end, struct err *err)
{
    if (carry_end(store, end, err) < 0)
        return -err->code;
    store->kind = STORE_TAIL;
    return carry_tail(store, err);
}

void store_abandon(struct store *store)
{
    if (!store->open)
        return;
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_reset(store->sql[i]);
    if (!sqlite3_get_autocommit(store->db)) /* some errors roll back by themselves */
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    store->open = false;
}
