/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/put.c
 *
 * Records that are not on the hot path, to rows.
 */
#include "base/escape.h"
#include "store/row_text.h"
#include "store/store_parts.h"
#include "wire/rpc.h"

#include <stdio.h>

int put_bind_name(struct store *store, sqlite3_stmt *stmt, int at, struct bytes name, bool is_path,
                  struct err *err)
{
    store->text.len = 0;
    if (escape_name(name, is_path, &store->text) < 0)
        return err_memory(err, "a name");
    sqlite3_bind_text(stmt, at, store->text.len ? (const char *)store->text.data : "",
                      (int)store->text.len, SQLITE_STATIC);
    return 0;
}

int64_t put_source_of(const struct store *store, uint64_t *frame)
{
    size_t i = store->base_count - 1;

    if (store->kind == STORE_NFSR)
        return store->source;
    while (i > 0 && *frame <= store->bases[i].frames)
        i--;
    *frame -= store->bases[i].frames;
    return store->bases[i].source;
}

static void bind_frame(struct store *store, sqlite3_stmt *stmt, int source_at, int frame_at,
                       uint64_t frame)
{
    int64_t source = put_source_of(store, &frame);

    sqlite3_bind_int64(stmt, source_at, source);
    sql_bind_unless(stmt, frame_at, (int64_t)frame, 0);
}

int put_flow(struct store *store, const struct record_flow *flow, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_PUT_FLOW];
    char client[ADDRESS_TEXT_MAX], server[ADDRESS_TEXT_MAX];
    int fresh = ids_check(&store->flows, flow->id, err);
    uint32_t id = ids_next(&store->flows);

    if (fresh < 0)
        return fresh;
    if (!fresh)
        return err_set(err, ERR_INPUT, "flow %u comes twice", flow->id);
    if (ids_add(&store->flows, id, err) < 0 || hosts_add_flow(&store->hosts, flow, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, id);
    sqlite3_bind_int(stmt, 2, flow->transport);
    sqlite3_bind_text(stmt, 3, address_text(&flow->client, client), -1, SQLITE_STATIC);
    sqlite3_bind_int(stmt, 4, flow->client_port);
    sqlite3_bind_text(stmt, 5, address_text(&flow->server, server), -1, SQLITE_STATIC);
    sqlite3_bind_int(stmt, 6, flow->server_port);
    bind_frame(store, stmt, 7, 8, flow->frame);
    sql_bind_unless(stmt, 9, flow->time, TIME_NONE);
    return statement_run(store, SQL_PUT_FLOW, err);
}

static void bind_gss_service(sqlite3_stmt *stmt, int at, const struct record_credential *credential)
{
    if (credential->valid && credential->flavor == RPC_GSS)
        sqlite3_bind_int64(stmt, at, credential->gss_service);
    else
        sqlite3_bind_null(stmt, at);
}

/* The credential that the database has under another id: 1, 0 or negative. */
static int find_credential(struct store *store, const struct record_credential *credential,
                           uint32_t *id, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_FIND_CREDENTIAL];
    int found;

    if (store->credentials.direct)
        return 0;
    sqlite3_bind_blob(stmt, 1, credential->body.len ? (const void *)credential->body.data : "",
                      (int)credential->body.len, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 2, credential->flavor);
    bind_gss_service(stmt, 3, credential);
    found = statement_row(store, SQL_FIND_CREDENTIAL, err);
    if (found == 1)
        *id = (uint32_t)sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return found;
}

static int bind_auth_sys(struct store *store, sqlite3_stmt *stmt,
                         const struct record_credential *credential, struct err *err)
{
    char gids[ROW_GIDS_MAX];
    size_t len = row_gids_text(credential->gids, gids);

    sqlite3_bind_int64(stmt, 4, credential->uid);
    sqlite3_bind_int64(stmt, 5, credential->gid);
    sqlite3_bind_text(stmt, 6, gids, (int)len, SQLITE_TRANSIENT);
    sqlite3_bind_int64(stmt, 8, credential->stamp);
    return put_bind_name(store, stmt, 7, credential->machine, true, err);
}

int put_credential(struct store *store, const struct record_credential *credential, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_PUT_CREDENTIAL];
    int fresh = ids_check(&store->credentials, credential->id, err), found;
    uint32_t id = 0;

    if (fresh < 0)
        return fresh;
    if (!fresh)
        return err_set(err, ERR_INPUT, "credential %u comes twice", credential->id);
    found = find_credential(store, credential, &id, err);
    if (found != 0)
        return found < 0 ? found : ids_add(&store->credentials, id, err);
    id = ids_next(&store->credentials);
    if (ids_add(&store->credentials, id, err) < 0)
        return -err->code;
    sqlite3_clear_bindings(stmt);
    sqlite3_bind_int64(stmt, 1, id);
    sqlite3_bind_int64(stmt, 2, credential->flavor);
    sqlite3_bind_int(stmt, 3, credential->valid);
    if (credential->valid && credential->flavor == RPC_AUTH_SYS &&
        bind_auth_sys(store, stmt, credential, err) < 0)
        return -err->code;
    bind_gss_service(stmt, 9, credential);
    sqlite3_bind_blob(stmt, 10, credential->body.len ? (const void *)credential->body.data : "",
                      (int)credential->body.len, SQLITE_STATIC);
    return statement_run(store, SQL_PUT_CREDENTIAL, err);
}

/* fsid and fileid, which come together; no file has the number 0, but file systems do. */
static void bind_identity(sqlite3_stmt *stmt, int at, const struct record_object *object)
{
    sql_bind_unless(stmt, at + 1, (int64_t)object->fileid, 0);
    if (object->fileid)
        sqlite3_bind_int64(stmt, at, (int64_t)object->fsid);
    else
        sqlite3_bind_null(stmt, at);
}

/* More is known of an object that is there. */
static int learn_object(struct store *store, uint32_t id, const struct record_object *object,
                        struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_LEARN_OBJECT];

    sqlite3_bind_int64(stmt, 1, id);
    sql_bind_unless(stmt, 2, object->type, 0);
    bind_identity(stmt, 3, object);
    return statement_run(store, SQL_LEARN_OBJECT, err);
}

static int find_object(struct store *store, const struct record_object *object, const char *server,
                       uint32_t *id, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_FIND_OBJECT];
    int found;

    if (store->objects.direct)
        return 0;
    sqlite3_bind_blob(stmt, 1, object->handle.len ? (const void *)object->handle.data : "",
                      (int)object->handle.len, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 2, server, -1, SQLITE_STATIC);
    found = statement_row(store, SQL_FIND_OBJECT, err);
    if (found == 1)
        *id = (uint32_t)sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return found;
}

int put_object(struct store *store, const struct record_object *object, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_PUT_OBJECT];
    char server[ADDRESS_TEXT_MAX];
    int fresh = ids_check(&store->objects, object->id, err), found;
    uint32_t id = 0;

    if (fresh < 0)
        return fresh;
    if (!fresh)
        return ids_get(&store->objects, object->id, &id, err) < 0
                   ? -err->code
                   : learn_object(store, id, object, err);
    address_text(&object->server, server);
    found = find_object(store, object, server, &id, err);
    if (found < 0)
        return found;
    if (!found)
        id = ids_next(&store->objects);
    if (ids_add(&store->objects, id, err) < 0)
        return -err->code;
    if (found)
        return object->type ? learn_object(store, id, object, err) : 0;
    sqlite3_bind_int64(stmt, 1, id);
    sqlite3_bind_text(stmt, 2, server, -1, SQLITE_STATIC);
    sqlite3_bind_blob(stmt, 3, object->handle.len ? (const void *)object->handle.data : "",
                      (int)object->handle.len, SQLITE_STATIC);
    sql_bind_unless(stmt, 4, object->type, 0);
    bind_identity(stmt, 5, object);
    bind_frame(store, stmt, 7, 8, object->frame);
    sql_bind_unless(stmt, 9, object->time, TIME_NONE);
    return statement_run(store, SQL_PUT_OBJECT, err);
}

int put_name(struct store *store, const struct record_name *name, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_PUT_NAME];
    uint32_t parent, object;

    if (ids_get(&store->objects, name->parent, &parent, err) < 0 ||
        ids_get(&store->objects, name->object, &object, err) < 0)
        return err_prefix(err, "a name of operation %llu", (unsigned long long)name->operation);
    sqlite3_bind_int(stmt, 1, name->event);
    sql_bind_unless(stmt, 2, parent, 0);
    if (put_bind_name(store, stmt, 3, name->name, !parent, err) < 0)
        return -err->code;
    sql_bind_unless(stmt, 4, object, 0);
    sql_bind_unless(stmt, 5, operation_id(store, name->operation), 0);
    sql_bind_unless(stmt, 6, name->time, TIME_NONE);
    return statement_run(store, SQL_PUT_NAME, err);
}

int put_contents(struct store *store, const struct record_contents *contents, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_PUT_CONTENTS];

    sqlite3_bind_int64(stmt, 1, operation_id(store, contents->operation));
    sqlite3_bind_int(stmt, 2, contents->is_reply);
    sqlite3_bind_int64(stmt, 3, (int64_t)contents->position);
    sqlite3_bind_blob(stmt, 4, contents->data.len ? (const void *)contents->data.data : "",
                      (int)contents->data.len, SQLITE_STATIC);
    return statement_run(store, SQL_PUT_CONTENTS, err);
}

int put_problem(struct store *store, const struct record_problem *problem, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_PUT_PROBLEM];
    uint64_t frame = problem->frame;
    int64_t source;
    uint32_t flow;

    if (ids_get(&store->flows, problem->flow, &flow, err) < 0)
        return err_prefix(err, "a problem in frame %llu", (unsigned long long)problem->frame);
    count_frame(store, problem->frame, problem->time);
    sqlite3_clear_bindings(stmt);
    source = put_source_of(store, &frame);
    sqlite3_bind_int64(stmt, 1, source);
    sqlite3_bind_int(stmt, 2, problem->problem);
    sql_bind_unless(stmt, 3, (int64_t)frame, 0);
    sql_bind_unless(stmt, 4, problem->time, TIME_NONE);
    if (flow) {
        sqlite3_bind_int64(stmt, 5, flow);
        sqlite3_bind_int(stmt, 6, problem->direction);
    }
    sql_bind_unless(stmt, 7, problem->xid, 0);
    sqlite3_bind_int64(stmt, 8, (int64_t)problem->length);
    if (problem->text.len && put_bind_name(store, stmt, 9, problem->text, true, err) < 0)
        return -err->code;
    return statement_run(store, SQL_PUT_PROBLEM, err) < 0 ? -err->code
                                                          : count_problem(store, source, 1, err);
}

int put_connection_event(struct store *store, const struct record_connection_event *event,
                         struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_PUT_CONNECTION_EVENT];
    char client[ADDRESS_TEXT_MAX], server[ADDRESS_TEXT_MAX];
    uint64_t frame = event->frame, last = event->last_frame;
    uint32_t flow;

    if (ids_get(&store->flows, event->flow, &flow, err) < 0)
        return err_prefix(err, "a connection event in frame %llu", (unsigned long long)frame);
    count_frame(store, event->last_frame, event->last_time);
    sqlite3_clear_bindings(stmt);
    sql_bind_unless(stmt, 1, flow, 0);
    sqlite3_bind_int64(stmt, 2, put_source_of(store, &frame));
    put_source_of(store, &last);
    sqlite3_bind_text(stmt, 3, address_text(&event->client, client), -1, SQLITE_STATIC);
    sqlite3_bind_int(stmt, 4, event->client_port);
    sqlite3_bind_text(stmt, 5, address_text(&event->server, server), -1, SQLITE_STATIC);
    sqlite3_bind_int(stmt, 6, event->server_port);
    sqlite3_bind_int(stmt, 7, event->direction);
    sqlite3_bind_int(stmt, 8, event->event);
    sqlite3_bind_int64(stmt, 9, (int64_t)frame);
    sql_bind_unless(stmt, 10, event->time, TIME_NONE);
    sqlite3_bind_int64(stmt, 11, (int64_t)last);
    sql_bind_unless(stmt, 12, event->last_time, TIME_NONE);
    sqlite3_bind_int64(stmt, 13, (int64_t)event->count);
    if (connection_event_has_value(event->event))
        sqlite3_bind_int64(stmt, 14, (int64_t)event->value);
    return statement_run(store, SQL_PUT_CONNECTION_EVENT, err);
}

static int run_counter(struct store *store, enum statement which,
                       const struct record_counter *counter, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[which];

    sqlite3_bind_int64(stmt, 1, store->source);
    if (put_bind_name(store, stmt, 2, counter->name, true, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 3, (int64_t)counter->value);
    return statement_run(store, which, err);
}

/* Says what waits at the end, not what happened: the last capture has said it. */
static bool is_level(const struct bytes *name)
{
    static const char end[] = "_waiting";
    size_t len = sizeof(end) - 1;

    return name->len >= len && memcmp(name->data + name->len - len, end, len) == 0;
}

int put_counter(struct store *store, const struct record_counter *counter, struct err *err)
{
    if (store->kind == STORE_TAIL) {
        if (is_level(&counter->name))
            return 0;
        if (run_counter(store, SQL_PUT_WAITING_COUNTER, counter, err) < 0)
            return -err->code;
    }
    return run_counter(store, SQL_PUT_COUNTER, counter, err);
}
