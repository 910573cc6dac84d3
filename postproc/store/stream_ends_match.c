/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/stream_ends_match.c
 *
 * Pairs operations of a new .nfsr stream with rows of earlier sources:
 * - a reply without a call completes the row of a call without a reply,
 * - a call takes the reply from the row of a reply without a call,
 * - a call that an earlier source has, too, is a retransmission.
 */
#include "store/store_parts.h"

#include <netinet/in.h>

/* Columns of SQL_GET_OPERATION. */
enum {
    GET_CALL = 1,  /* six columns */
    GET_REPLY = 7, /* six columns */
    GET_PROGRAM = 14,
    GET_VERSION,
    GET_PROCEDURE,
    GET_RPC_STATUS,
    GET_ARGUMENTS,
    GET_RESULT,
    GET_RESULT_LENGTH,
};

static int64_t column_time(sqlite3_stmt *stmt, int at)
{
    return sqlite3_column_type(stmt, at) == SQLITE_NULL ? TIME_NONE
                                                        : sqlite3_column_int64(stmt, at);
}

static int load(struct store *store, const char *sql, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (store_prepare(store, sql, &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int(stmt, 1, STREAM_ENDS_MAX / 2);
    if (sqlite3_bind_parameter_count(stmt) > 1)
        sqlite3_bind_int64(stmt, 2, STREAM_ENDS_REPLY_SPAN);
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
        bool has_call = sqlite3_column_int(stmt, 1);
        struct stream_ends_entry entry = {
            .operation = sqlite3_column_int64(stmt, 0),
            .kind = !has_call                     ? STREAM_ENDS_REPLY
                    : sqlite3_column_int(stmt, 2) ? STREAM_ENDS_CALL
                                                  : STREAM_ENDS_ANSWERED,
            .time = column_time(stmt, 3),
            .transport = (uint8_t)sqlite3_column_int(stmt, 7),
            .client_port = (uint16_t)sqlite3_column_int(stmt, 8),
            .server_port = (uint16_t)sqlite3_column_int(stmt, 9),
        };

        entry.key = stream_ends_key((const char *)sqlite3_column_text(stmt, 4),
                                    (const char *)sqlite3_column_text(stmt, 5),
                                    (uint32_t)sqlite3_column_int64(stmt, 6));
        result = stream_ends_add(&store->stream_ends, &entry, err);
    }
    return store_finish(store, stmt, result, err);
}

#define ENTRIES                                                                                    \
    "SELECT o.id, o.call_source IS NOT NULL, o.pairing <> 0, ifnull(o.call_time, o.reply_time),"   \
    " o.client, o.server, o.xid, f.transport, f.client_port, f.server_port FROM operation o"       \
    " JOIN flow f ON f.id = o.flow WHERE "

int stream_ends_load(struct store *store, struct err *err)
{
    if (load(store, ENTRIES "o.pairing <> 0 ORDER BY o.id DESC LIMIT ?1", err) < 0 ||
        load(store,
             ENTRIES "o.pairing = 0 AND ifnull(o.call_time, o.reply_time) IS NULL"
                     " ORDER BY o.id DESC LIMIT ?1",
             err) < 0)
        return -err->code;
    return load(store,
                ENTRIES "o.pairing = 0 AND ifnull(o.call_time, o.reply_time) >="
                        " (SELECT max(last_time) FROM source) - ?2"
                        " ORDER BY ifnull(o.call_time, o.reply_time) DESC LIMIT ?1",
                err);
}

static bool same_ports(const struct stream_ends_entry *entry, const struct flow_ends *ends)
{
    return entry->transport == ends->transport && entry->client_port == ends->client_port &&
           entry->server_port == ends->server_port;
}

static bool reply_fits(const struct flow_ends *ends, int64_t call_time, int64_t reply_time)
{
    int64_t early =
        ends->transport == IPPROTO_UDP ? STREAM_ENDS_REORDER_SPAN_UDP : STREAM_ENDS_REORDER_SPAN;

    if (call_time == TIME_NONE || reply_time == TIME_NONE)
        return true;
    return reply_time >= call_time - early && reply_time <= call_time + STREAM_ENDS_REPLY_SPAN;
}

/* Steps to the row of an entry; the caller resets the statement. */
static int get(struct store *store, const struct stream_ends_entry *entry, struct err *err)
{
    int found;

    sqlite3_bind_int64(store->sql[SQL_GET_OPERATION], 1, entry->operation);
    found = statement_row(store, SQL_GET_OPERATION, err);
    if (found == 0)
        return err_set(err, ERR_INPUT, "%s: operation %lld is gone", store->path,
                       (long long)entry->operation);
    return found < 0 ? found : 0;
}

/* Completes the row of |entry| with the reply of |row|. */
static int complete(struct store *store, const struct stream_ends_entry *entry,
                    const struct operation_row *row, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_COMPLETE_OPERATION];
    int64_t call_source;

    if (get(store, entry, err) < 0)
        return -err->code;
    call_source = sqlite3_column_int64(store->sql[SQL_GET_OPERATION], GET_CALL);
    sqlite3_reset(store->sql[SQL_GET_OPERATION]);
    sqlite3_bind_int64(stmt, 1, entry->operation);
    row_bind_side(stmt, 2, &row->reply);
    row_bind_status(stmt, 8, row->rpc_status);
    row_bind_status(stmt, 9, row->status);
    sql_bind_unless(stmt, 10, row->new_object, 0);
    row_bind_data(stmt, 11, row->record);
    row_bind_length(stmt, 13, &row->reply, row->result_length);
    row_bind_body(stmt, 14, &row->result);
    row_bind_body(stmt, 15, &row->record->block_digests);
    if (statement_run(store, SQL_COMPLETE_OPERATION, err) < 0 ||
        count_operation(store, call_source, 0, -1, err) < 0)
        return -err->code;
    return count_operation(store, call_source, row->reply.source, 1, err);
}

/* The call of an earlier source that this reply answers, the latest if there are several. */
static struct stream_ends_entry *find_call(struct store *store, const struct operation_row *row,
                                           const struct flow_ends *ends, uint64_t key,
                                           enum stream_ends_kind kind)
{
    struct stream_ends_entry *entry, *found = NULL;
    uint32_t at = UINT32_MAX;

    while ((entry = stream_ends_find(&store->stream_ends, key, kind, &at)))
        if (same_ports(entry, ends) && reply_fits(ends, entry->time, row->reply.time) &&
            (!found || entry->time > found->time))
            found = entry;
    return found;
}

/* The reply that an earlier source had for this call, the first if there are several. */
static struct stream_ends_entry *find_reply(struct store *store, const struct operation_row *row,
                                            const struct flow_ends *ends, uint64_t key)
{
    struct stream_ends_entry *entry, *found = NULL;
    uint32_t at = UINT32_MAX;

    while ((entry = stream_ends_find(&store->stream_ends, key, STREAM_ENDS_REPLY, &at)))
        if (same_ports(entry, ends) && reply_fits(ends, row->call.time, entry->time) &&
            (!found || entry->time < found->time))
            found = entry;
    return found;
}

/* Whether the row of |entry| is the call of |row|: 1, 0 or negative. */
static int same_call(struct store *store, const struct stream_ends_entry *entry,
                     const struct operation_row *row, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_GET_OPERATION];
    const struct record_operation *op = row->record;
    int same;

    if (get(store, entry, err) < 0)
        return -err->code;
    same = sqlite3_column_int64(stmt, GET_PROGRAM) == op->program &&
           sqlite3_column_int64(stmt, GET_VERSION) == op->version &&
           sqlite3_column_int64(stmt, GET_PROCEDURE) == op->procedure;
    if (same &&
        !((op->call.flags | (uint32_t)sqlite3_column_int64(stmt, GET_CALL + 5)) & SIGHTING_PARTIAL))
        same = (uint32_t)sqlite3_column_bytes(stmt, GET_ARGUMENTS) == op->arguments.len &&
               (!op->arguments.len || memcmp(sqlite3_column_blob(stmt, GET_ARGUMENTS),
                                             op->arguments.data, op->arguments.len) == 0);
    sqlite3_reset(stmt);
    return same;
}

/* The first copy of this call in an earlier source: 1, 0 or negative. */
static int find_first_copy(struct store *store, const struct operation_row *row, uint64_t key,
                           struct stream_ends_entry **found, struct err *err)
{
    static const enum stream_ends_kind kinds[] = { STREAM_ENDS_CALL, STREAM_ENDS_ANSWERED };
    struct stream_ends_entry *entry;
    int same = 0;

    for (int i = 0; same == 0 && i < 2; i++) {
        uint32_t at = UINT32_MAX;

        while (same == 0 && (entry = stream_ends_find(&store->stream_ends, key, kinds[i], &at))) {
            if (entry->time != TIME_NONE && row->call.time != TIME_NONE &&
                (entry->time > row->call.time ||
                 entry->time < row->call.time - STREAM_ENDS_REPLY_SPAN))
                continue;
            same = same_call(store, entry, row, err);
            *found = entry;
        }
    }
    return same;
}

/* Takes the reply of the row of |entry|, which goes. */
static int take_reply(struct store *store, struct stream_ends_entry *entry,
                      struct operation_row *row, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_GET_OPERATION];

    if (get(store, entry, err) < 0)
        return -err->code;
    row->reply.source = sqlite3_column_int64(stmt, GET_REPLY);
    row->reply.frame = (uint64_t)sqlite3_column_int64(stmt, GET_REPLY + 1);
    row->reply.first_frame = sqlite3_column_int64(stmt, GET_REPLY + 2);
    row->reply.time = column_time(stmt, GET_REPLY + 3);
    row->reply.length = (uint32_t)sqlite3_column_int64(stmt, GET_REPLY + 4);
    row->reply.flags = (uint32_t)sqlite3_column_int64(stmt, GET_REPLY + 5);
    row->rpc_status = sqlite3_column_type(stmt, GET_RPC_STATUS) == SQLITE_NULL
                          ? STATUS_NONE
                          : sqlite3_column_int(stmt, GET_RPC_STATUS);
    row->result_length = (uint32_t)sqlite3_column_int64(stmt, GET_RESULT_LENGTH);
    row->pairing = PAIRED;
    sqlite3_reset(stmt);
    sqlite3_bind_int64(store->sql[SQL_DELETE_OPERATION], 1, entry->operation);
    sqlite3_bind_int64(store->sql[SQL_MOVE_RETRANSMISSIONS], 1, entry->operation);
    sqlite3_bind_int64(store->sql[SQL_MOVE_RETRANSMISSIONS], 2, row->id);
    sqlite3_bind_int64(store->sql[SQL_MOVE_COPIES], 1, entry->operation);
    sqlite3_bind_int64(store->sql[SQL_MOVE_COPIES], 2, row->id);
    if (statement_run(store, SQL_DELETE_OPERATION, err) < 0 ||
        statement_run(store, SQL_MOVE_RETRANSMISSIONS, err) < 0 ||
        statement_run(store, SQL_MOVE_COPIES, err) < 0)
        return -err->code;
    stream_ends_remove(&store->stream_ends, entry);
    return count_operation(store, 0, row->reply.source, -1, err);
}

/* A further reply to an operation that was answered in an earlier source. */
static int further_reply(struct store *store, const struct stream_ends_entry *entry,
                         const struct operation_row *row, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_GET_OPERATION];
    struct further_copy copy = {
        .operation = entry->operation, .kind = REPEAT_REPLY, .flow = row->flow, .side = &row->reply
    };

    if (get(store, entry, err) < 0)
        return -err->code;
    copy.differs = (uint32_t)sqlite3_column_int64(stmt, GET_REPLY + 4) != row->reply.length;
    if (!copy.differs && row->result.len)
        copy.differs =
            (uint32_t)sqlite3_column_bytes(stmt, GET_RESULT) != row->result.len ||
            memcmp(sqlite3_column_blob(stmt, GET_RESULT), row->result.data, row->result.len) != 0;
    sqlite3_reset(stmt);
    return put_further_copy(store, &copy, err);
}

/* A reply without a call. */
static int match_reply(struct store *store, const struct operation_row *row,
                       const struct flow_ends *ends, uint64_t key, struct err *err)
{
    struct stream_ends_entry *entry = find_call(store, row, ends, key, STREAM_ENDS_CALL);
    bool open = entry;

    if (!entry)
        entry = find_call(store, row, ends, key, STREAM_ENDS_ANSWERED);
    if (!entry)
        return 0;
    if ((open ? complete(store, entry, row, err) : further_reply(store, entry, row, err)) < 0 ||
        stream_ends_join(&store->stream_ends, row->id, entry->operation, err) < 0)
        return -err->code;
    if (open)
        entry->kind = STREAM_ENDS_ANSWERED;
    return 1;
}

/* A call that came in an earlier source for the first time. */
static int match_copy(struct store *store, const struct operation_row *row, uint64_t key,
                      struct err *err)
{
    struct stream_ends_entry *entry = NULL;
    int found = find_first_copy(store, row, key, &entry, err);
    struct further_copy copy = { .kind = REPEAT_CALL, .flow = row->flow, .side = &row->call };

    if (found <= 0)
        return found;
    copy.operation = entry->operation;
    if (put_further_copy(store, &copy, err) < 0 ||
        stream_ends_join(&store->stream_ends, row->id, entry->operation, err) < 0)
        return -err->code;
    if (!row->reply.source)
        return 1;
    if (entry->kind == STREAM_ENDS_ANSWERED)
        return further_reply(store, entry, row, err) < 0 ? -err->code : 1;
    if (complete(store, entry, row, err) < 0)
        return -err->code;
    entry->kind = STREAM_ENDS_ANSWERED;
    return 1;
}

int stream_ends_match(struct store *store, struct operation_row *row, struct err *err)
{
    const struct flow_ends *ends = &store->hosts.flows[row->local_flow - 1];
    uint64_t key = stream_ends_key(store->hosts.hosts[ends->client].text,
                                   store->hosts.hosts[ends->server].text, row->record->xid);
    struct stream_ends_entry *entry;
    int result;

    if (!row->call.source)
        return match_reply(store, row, ends, key, err);
    result = match_copy(store, row, key, err);
    if (result != 0 || row->reply.source)
        return result;
    entry = find_reply(store, row, ends, key);
    return entry ? take_reply(store, entry, row, err) : 0;
}
