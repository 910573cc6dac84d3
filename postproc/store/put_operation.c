/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/put_operation.c
 *
 * Stores one row for each operation.  This is the hot path: no query, no allocation, no
 * formatting.  The only exception are unpaired operations near the end of an .nfsr stream.
 */
#include "store/store_parts.h"

static const uint8_t no_digest[STORE_DIGEST_LEN];

int64_t operation_id(const struct store *store, uint64_t local)
{
    if (!local)
        return 0;
    if (store->stream_ends.join_count)
        return stream_ends_joined(&store->stream_ends, (int64_t)(local + store->operation_base));
    return (int64_t)(local + store->operation_base);
}

/* Binds the six columns of one direction, from |at|. */
void row_bind_side(sqlite3_stmt *stmt, int at, const struct row_side *side)
{
    if (!side->source) {
        for (int i = 0; i < 6; i++)
            sqlite3_bind_null(stmt, at + i);
        return;
    }
    sqlite3_bind_int64(stmt, at, side->source);
    sqlite3_bind_int64(stmt, at + 1, (int64_t)side->frame);
    sqlite3_bind_int64(stmt, at + 2, side->first_frame);
    sql_bind_unless(stmt, at + 3, side->time, TIME_NONE);
    sqlite3_bind_int64(stmt, at + 4, side->length);
    sqlite3_bind_int64(stmt, at + 5, side->flags);
}

void row_bind_status(sqlite3_stmt *stmt, int at, int64_t status)
{
    if (status == STATUS_NONE)
        sqlite3_bind_null(stmt, at);
    else
        sqlite3_bind_int64(stmt, at, status);
}

void row_bind_length(sqlite3_stmt *stmt, int at, const struct row_side *side, uint32_t length)
{
    if (side->source && !(side->flags & SIGHTING_HEADER))
        sqlite3_bind_int64(stmt, at, length);
    else
        sqlite3_bind_null(stmt, at);
}

static void bind_if(sqlite3_stmt *stmt, int at, bool there, uint64_t value)
{
    if (there)
        sqlite3_bind_int64(stmt, at, (int64_t)value);
    else
        sqlite3_bind_null(stmt, at);
}

void row_bind_body(sqlite3_stmt *stmt, int at, const struct bytes *body)
{
    if (body->len)
        sqlite3_bind_blob(stmt, at, body->data, (int)body->len, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, at);
}

/* Whether file contents were seen, in either direction. */
static bool has_data(const struct record_operation *op)
{
    return (op->call.flags | op->reply.flags) & SIGHTING_DATA;
}

void row_bind_data(sqlite3_stmt *stmt, int at, const struct record_operation *op)
{
    if (!has_data(op)) {
        sqlite3_bind_null(stmt, at);
        sqlite3_bind_null(stmt, at + 1);
        return;
    }
    sqlite3_bind_int64(stmt, at, (int64_t)op->data_length);
    if (memcmp(op->data_digest, no_digest, sizeof(no_digest)) != 0)
        sqlite3_bind_blob(stmt, at + 1, op->data_digest, STORE_DIGEST_LEN, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, at + 1);
}

static int insert(struct store *store, const struct operation_row *row, struct err *err)
{
    const struct record_operation *op = row->record;
    const struct flow_ends *ends = &store->hosts.flows[row->local_flow - 1];
    const struct host *client = &store->hosts.hosts[ends->client];
    const struct host *server = &store->hosts.hosts[ends->server];
    sqlite3_stmt *stmt = store->sql[SQL_PUT_OPERATION];

    sqlite3_bind_int64(stmt, 1, row->id);
    sqlite3_bind_int(stmt, 2, row->pairing);
    row_bind_side(stmt, 3, &row->call);
    row_bind_side(stmt, 9, &row->reply);
    sqlite3_bind_text(stmt, 15, client->text, client->len, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 16, server->text, server->len, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 17, row->flow);
    sqlite3_bind_int64(stmt, 18, op->xid);
    if (row->call.source) {
        sqlite3_bind_int64(stmt, 19, op->program);
        sqlite3_bind_int64(stmt, 20, op->version);
        sqlite3_bind_int64(stmt, 21, op->procedure);
    } else {
        sqlite3_bind_null(stmt, 19);
        sqlite3_bind_null(stmt, 20);
        sqlite3_bind_null(stmt, 21);
    }
    row_bind_status(stmt, 22, row->rpc_status);
    row_bind_status(stmt, 23, row->status);
    sql_bind_unless(stmt, 24, row->credential, 0);
    sql_bind_unless(stmt, 25, row->object, 0);
    sql_bind_unless(stmt, 26, row->object2, 0);
    sql_bind_unless(stmt, 27, row->new_object, 0);
    sql_bind_unless(stmt, 28, row->path, 0);
    sql_bind_unless(stmt, 29, row->path2, 0);
    sql_bind_unless(stmt, 30, operation_id(store, op->depends_on), 0);
    bind_if(stmt, 31, op->call.flags & SIGHTING_OFFSET, op->offset);
    bind_if(stmt, 32, op->call.flags & SIGHTING_COUNT, op->count);
    row_bind_data(stmt, 33, op);
    row_bind_length(stmt, 35, &row->call, op->arguments_wire);
    row_bind_length(stmt, 36, &row->reply, row->result_length);
    row_bind_body(stmt, 37, &op->arguments);
    row_bind_body(stmt, 38, &row->result);
    bind_if(stmt, 39, op->counterpart.number, op->counterpart.number);
    bind_if(stmt, 40, op->counterpart.number, op->counterpart.copy);
    bind_if(stmt, 41, op->counterpart.conditions, op->counterpart.conditions);
    row_bind_body(stmt, 42, &op->block_digests);
    return statement_run(store, SQL_PUT_OPERATION, err);
}

static void fill_side(const struct store *store, const struct sighting *sighting,
                      struct row_side *side)
{
    uint64_t first = sighting->first_frame ? sighting->first_frame : sighting->frame;

    if (!sighting->frame) {
        side->source = 0;
        return;
    }
    side->frame = sighting->frame;
    side->source = put_source_of(store, &side->frame);
    side->first_frame = (int64_t)(first - sighting->frame + side->frame);
    side->time = sighting->time;
    side->length = sighting->wire_len;
    side->flags = sighting->flags;
}

static int fill(struct store *store, const struct record_operation *op, struct operation_row *row,
                struct err *err)
{
    row->record = op;
    row->id = (int64_t)(op->id + store->operation_base);
    row->pairing = op->pairing;
    row->local_flow = op->flow;
    row->rpc_status = op->rpc_status;
    row->status = op->status;
    row->result = op->result;
    row->result_length = op->result_wire;
    if (!op->id || op->id > INT64_MAX - store->operation_base)
        return err_set(err, ERR_INPUT, "an operation has the id %llu", (unsigned long long)op->id);
    if (!op->flow)
        return err_set(err, ERR_INPUT, "operation %llu is of no flow", (unsigned long long)op->id);
    if (!op->call.frame && !op->reply.frame)
        return err_set(err, ERR_INPUT, "operation %llu has neither call nor reply",
                       (unsigned long long)op->id);
    if (ids_get(&store->flows, op->flow, &row->flow, err) < 0 ||
        ids_get(&store->credentials, op->credential, &row->credential, err) < 0 ||
        ids_get(&store->objects, op->object, &row->object, err) < 0 ||
        ids_get(&store->objects, op->object2, &row->object2, err) < 0 ||
        ids_get(&store->objects, op->new_object, &row->new_object, err) < 0 ||
        ids_get(&store->paths, op->path, &row->path, err) < 0 ||
        ids_get(&store->paths, op->path2, &row->path2, err) < 0)
        return err_prefix(err, "operation %llu", (unsigned long long)op->id);
    fill_side(store, &op->call, &row->call);
    fill_side(store, &op->reply, &row->reply);
    return 0;
}

int put_operation(struct store *store, const struct record_operation *op, struct err *err)
{
    struct operation_row row;
    int result;

    if (fill(store, op, &row, err) < 0)
        return -err->code;
    if (!store->has_end) {
        count_frame(store, op->call.frame, op->call.time);
        count_frame(store, op->reply.frame, op->reply.time);
    }
    if (store->stream_ends.live && !store->provisional) {
        result = stream_ends_match(store, &row, err);
        if (result != 0)
            return result < 0 ? result : 0;
    }
    if (insert(store, &row, err) < 0 ||
        count_operation(store, row.call.source, row.reply.source, 1, err) < 0)
        return -err->code;
    if (store->provisional) {
        sqlite3_bind_int64(store->sql[SQL_PUT_WAITING], 1, row.id);
        return statement_run(store, SQL_PUT_WAITING, err);
    }
    return 0;
}

int put_further_copy(struct store *store, const struct further_copy *c, struct err *err)
{
    bool copy = repeat_is_copy(c->kind);
    enum statement put = copy ? SQL_PUT_COPY : SQL_PUT_RETRANSMISSION;
    sqlite3_stmt *stmt = store->sql[put];
    const struct row_side *side = c->side;
    int at = 1;

    sqlite3_bind_int64(stmt, at++, c->operation);
    sqlite3_bind_int(stmt, at++, c->kind);
    if (!copy)
        sqlite3_bind_int(stmt, at++, c->differs);
    sqlite3_bind_int64(stmt, at++, c->flow);
    sqlite3_bind_int64(stmt, at++, side->source);
    sqlite3_bind_int64(stmt, at++, (int64_t)side->frame);
    sqlite3_bind_int64(stmt, at++, side->first_frame);
    sql_bind_unless(stmt, at++, side->time, TIME_NONE);
    sqlite3_bind_int64(stmt, at++, side->length);
    sqlite3_bind_int64(stmt, at, side->flags);
    if (statement_run(store, put, err) < 0)
        return -err->code;
    return copy ? count_copy(store, side->source, 1, err)
                : count_retransmission(store, side->source, 1, err);
}

int put_repeat(struct store *store, const struct record_repeat *repeat, struct err *err)
{
    struct further_copy copy = { .kind = repeat->repeat, .differs = repeat->differs };
    struct row_side side;
    uint32_t flow;

    if (ids_get(&store->flows, repeat->flow, &flow, err) < 0 || !flow || !repeat->sighting.frame)
        return err_set(err, ERR_INPUT, "a retransmission of operation %llu has no flow or frame",
                       (unsigned long long)repeat->operation);
    count_frame(store, repeat->sighting.frame, repeat->sighting.time);
    fill_side(store, &repeat->sighting, &side);
    copy.operation = operation_id(store, repeat->operation);
    copy.flow = flow;
    copy.side = &side;
    return put_further_copy(store, &copy, err);
}
