/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/ops_row.h"
#include "engine.h"
#include "store/filter.h"

const char ops_select[] =
    "SELECT o.id, o.call_time, o.reply_time, o.latency, o.client, f.client_port, o.server,"
    " f.server_port, f.transport, o.xid, o.program, o.version, o.procedure,"
    " (SELECT p.name FROM procedure p WHERE p.program = o.program AND p.version = o.version"
    "  AND p.number = o.procedure),"
    " (SELECT p.text FROM path p WHERE p.id = o.path),"
    " (SELECT p.text FROM path p WHERE p.id = o.path2), o.object, o.object2, o.new_object,"
    " o.offset, o.count, o.rpc_status,"
    " (SELECT c.name FROM code c WHERE c.domain = 'rpc_status' AND c.value = o.rpc_status),"
    " o.status, (SELECT s.name FROM status_name s WHERE s.program = o.program"
    "  AND s.version = o.version AND s.procedure = o.procedure AND s.status = o.status),"
    " o.pairing, (SELECT c.name FROM code c WHERE c.domain = 'pairing' AND c.value = o.pairing),"
    " o.call_source, o.call_frame, o.reply_source, o.reply_frame, o.call_flags, o.reply_flags,"
    " c.uid, c.gid, o.data_length, o.data_digest, o.depends_on,"
    " (SELECT count(*) FROM retransmission r WHERE r.operation = o.id),"
    " (SELECT count(*) FROM copy y WHERE y.operation = o.id), o.arguments,"
    " o.arguments_length, o.result, o.result_length,"
    " o.counterpart, o.counterpart_copy, c.machine,"
    " phase_of(o.id, o.client, ifnull(o.call_time, o.reply_time)),"
    " (SELECT count(*) FROM retransmission r WHERE r.operation = o.id AND r.kind = "
    "1)," FILTER_WAITED
    " FROM operation o JOIN flow f ON f.id = o.flow LEFT JOIN credential c ON c.id = o.credential";

const struct ops_column ops_columns[] = {
    { "id", OP_ID },
    { "time", OPS_TIME },
    { "program_name", OPS_PROGRAM_NAME },
    { "call_time", OP_CALL_TIME },
    { "reply_time", OP_REPLY_TIME },
    { "latency", OP_LATENCY },
    { "waited", OP_WAITED },
    { "client", OP_CLIENT },
    { "client_port", OP_CLIENT_PORT },
    { "server", OP_SERVER },
    { "server_port", OP_SERVER_PORT },
    { "transport", OP_TRANSPORT },
    { "xid", OP_XID },
    { "program", OP_PROGRAM },
    { "version", OP_VERSION },
    { "procedure", OP_PROCEDURE },
    { "procedure_name", OP_PROCEDURE_NAME },
    { "path", OP_PATH },
    { "path2", OP_PATH2 },
    { "object", OP_OBJECT },
    { "object2", OP_OBJECT2 },
    { "new_object", OP_NEW_OBJECT },
    { "offset", OP_OFFSET },
    { "count", OP_COUNT },
    { "rpc_status", OP_RPC_STATUS },
    { "rpc_status_name", OP_RPC_STATUS_NAME },
    { "status", OP_STATUS },
    { "status_name", OP_STATUS_NAME },
    { "pairing", OP_PAIRING_NAME },
    { "call_source", OP_CALL_SOURCE },
    { "call_frame", OP_CALL_FRAME },
    { "reply_source", OP_REPLY_SOURCE },
    { "reply_frame", OP_REPLY_FRAME },
    { "call_flags", OP_CALL_FLAGS },
    { "reply_flags", OP_REPLY_FLAGS },
    { "uid", OP_UID },
    { "gid", OP_GID },
    { "machine", OP_MACHINE },
    { "phase", OP_PHASE },
    { "data_length", OP_DATA_LENGTH },
    { "depends_on", OP_DEPENDS_ON },
    { "retransmissions", OP_RETRANSMISSIONS },
    { "calls_resent", OP_CALLS_RESENT },
    { "copies", OP_COPIES },
    { "counterpart", OP_COUNTERPART },
    { "counterpart_copy", OP_COUNTERPART_COPY },
    { 0 },
};

/* The bodies that can be decoded: up to two into |bodies|. */
int ops_bodies(sqlite3_stmt *s, struct fields_body bodies[2], bool is_result[2])
{
    static const struct {
        int data, length, flags;
    } columns[] = { { OP_ARGUMENTS, OP_ARGUMENTS_LENGTH, OP_CALL_FLAGS },
                    { OP_RESULT, OP_RESULT_LENGTH, OP_REPLY_FLAGS } };
    const struct procedure *procedure =
        procedure_find((uint32_t)sqlite3_column_int64(s, OP_PROGRAM),
                       (uint32_t)sqlite3_column_int64(s, OP_VERSION),
                       (uint32_t)sqlite3_column_int64(s, OP_PROCEDURE));
    int count = 0;

    for (int i = 0; i < 2 && procedure && !ops_is_null(s, OP_PROGRAM); i++) {
        if (ops_is_null(s, columns[i].flags) ||
            sqlite3_column_int64(s, columns[i].flags) & SIGHTING_OPAQUE ||
            (i == 1 &&
             (ops_is_null(s, OP_RPC_STATUS) || sqlite3_column_int64(s, OP_RPC_STATUS) != 0)))
            continue;
        bodies[count].type = i ? procedure->result : procedure->arguments;
        bodies[count].kept.data.data = sqlite3_column_blob(s, columns[i].data);
        bodies[count].kept.data.len = (uint32_t)sqlite3_column_bytes(s, columns[i].data);
        bodies[count].kept.wire_len = (uint32_t)sqlite3_column_int64(s, columns[i].length);
        bodies[count].kept.flags = (uint32_t)sqlite3_column_int64(s, columns[i].flags);
        is_result[count++] = i;
    }
    return count;
}

/* When it was called, or answered where only that is known; NULL: no packet has a time. */
const char *ops_when(sqlite3_stmt *s, char text[VALUE_TEXT_MAX])
{
    int column = ops_is_null(s, OP_CALL_TIME) ? OP_REPLY_TIME : OP_CALL_TIME;

    return ops_is_null(s, column) ? NULL : time_text(sqlite3_column_int64(s, column), text);
}
