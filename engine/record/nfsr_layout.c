/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/nfsr_layout.c
 *
 * The .nfsr stream's table.  Fields stand in the order of record.h's structs; that order is the
 * format.
 */
#include "record/format.h"

#define AT(member) ((uint16_t)(offsetof(struct record, member)))

#define SIGHTING(prefix, member)                                                                   \
    { prefix "frame", AT(member.frame), LAYOUT_FRAME },                                            \
        { prefix "first_frame", AT(member.first_frame), LAYOUT_FRAME },                            \
        { prefix "time", AT(member.time), LAYOUT_TIME },                                           \
        { prefix "wire_len", AT(member.wire_len), LAYOUT_U32 },                                    \
    {                                                                                              \
        prefix "flags", AT(member.flags), LAYOUT_U32                                               \
    }

static const struct layout_field flow[] = {
    { "id", AT(flow.id), LAYOUT_U32 },
    { "transport", AT(flow.transport), LAYOUT_U8 },
    { "client", AT(flow.client), LAYOUT_ADDRESS },
    { "server", AT(flow.server), LAYOUT_ADDRESS },
    { "client_port", AT(flow.client_port), LAYOUT_U16 },
    { "server_port", AT(flow.server_port), LAYOUT_U16 },
    { "frame", AT(flow.frame), LAYOUT_FRAME },
    { "time", AT(flow.time), LAYOUT_TIME },
};

static const struct layout_field credential[] = {
    { "id", AT(credential.id), LAYOUT_U32 },
    { "flavor", AT(credential.flavor), LAYOUT_U32 },
    { "valid", AT(credential.valid), LAYOUT_BOOL },
    { "uid", AT(credential.uid), LAYOUT_U32 },
    { "gid", AT(credential.gid), LAYOUT_U32 },
    { "stamp", AT(credential.stamp), LAYOUT_U32 },
    { "gids", AT(credential.gids), LAYOUT_BYTES },
    { "machine", AT(credential.machine), LAYOUT_TEXT },
    { "gss_service", AT(credential.gss_service), LAYOUT_U32 },
    { "body", AT(credential.body), LAYOUT_BYTES },
};

static const struct layout_field object[] = {
    { "id", AT(object.id), LAYOUT_U64 },           { "server", AT(object.server), LAYOUT_ADDRESS },
    { "handle", AT(object.handle), LAYOUT_BYTES }, { "type", AT(object.type), LAYOUT_U8 },
    { "fsid", AT(object.fsid), LAYOUT_U64 },       { "fileid", AT(object.fileid), LAYOUT_U64 },
    { "frame", AT(object.frame), LAYOUT_FRAME },   { "time", AT(object.time), LAYOUT_TIME },
};

static const struct layout_field path[] = {
    { "id", AT(path.id), LAYOUT_U32 },
    { "parent", AT(path.parent), LAYOUT_U32 },
    { "object", AT(path.object), LAYOUT_U64 },
    { "name", AT(path.name), LAYOUT_TEXT },
};

static const struct layout_field name[] = {
    { "event", AT(name.event), LAYOUT_U8 },
    { "parent", AT(name.parent), LAYOUT_U64 },
    { "name", AT(name.name), LAYOUT_TEXT },
    { "object", AT(name.object), LAYOUT_U64 },
    { "operation", AT(name.operation), LAYOUT_OPERATION },
    { "time", AT(name.time), LAYOUT_TIME },
};

static const struct layout_field operation[] = {
    { "id", AT(operation.id), LAYOUT_OPERATION },
    { "flow", AT(operation.flow), LAYOUT_U32 },
    { "xid", AT(operation.xid), LAYOUT_U32 },
    { "program", AT(operation.program), LAYOUT_U32 },
    { "version", AT(operation.version), LAYOUT_U32 },
    { "procedure", AT(operation.procedure), LAYOUT_U32 },
    { "pairing", AT(operation.pairing), LAYOUT_U8 },
    SIGHTING("call.", operation.call),
    SIGHTING("reply.", operation.reply),
    { "rpc_status", AT(operation.rpc_status), LAYOUT_I32 },
    { "status", AT(operation.status), LAYOUT_I64 },
    { "credential", AT(operation.credential), LAYOUT_U32 },
    { "object", AT(operation.object), LAYOUT_U64 },
    { "object2", AT(operation.object2), LAYOUT_U64 },
    { "new_object", AT(operation.new_object), LAYOUT_U64 },
    { "path", AT(operation.path), LAYOUT_U32 },
    { "path2", AT(operation.path2), LAYOUT_U32 },
    { "depends_on", AT(operation.depends_on), LAYOUT_U64 },
    { "offset", AT(operation.offset), LAYOUT_U64 },
    { "count", AT(operation.count), LAYOUT_U64 },
    { "arguments", AT(operation.arguments), LAYOUT_BYTES },
    { "result", AT(operation.result), LAYOUT_BYTES },
    { "arguments_wire", AT(operation.arguments_wire), LAYOUT_U32 },
    { "result_wire", AT(operation.result_wire), LAYOUT_U32 },
    { "data_length", AT(operation.data_length), LAYOUT_U64 },
    { "data_digest", AT(operation.data_digest), LAYOUT_DIGEST },
    { "counterpart.number", AT(operation.counterpart.number), LAYOUT_U64 }, /* since 1.2 */
    { "counterpart.copy", AT(operation.counterpart.copy), LAYOUT_U32 },
    { "counterpart.conditions", AT(operation.counterpart.conditions), LAYOUT_U32 }, /* since 1.3 */
    { "block_digests", AT(operation.block_digests), LAYOUT_BYTES },                 /* since 1.5 */
};

static const struct layout_field repeat[] = {
    { "operation", AT(repeat.operation), LAYOUT_OPERATION },
    { "repeat", AT(repeat.repeat), LAYOUT_U8 },
    { "differs", AT(repeat.differs), LAYOUT_U8 },
    { "flow", AT(repeat.flow), LAYOUT_U32 },
    SIGHTING("", repeat.sighting),
};

static const struct layout_field problem[] = {
    { "problem", AT(problem.problem), LAYOUT_U8 },     { "frame", AT(problem.frame), LAYOUT_FRAME },
    { "time", AT(problem.time), LAYOUT_TIME },         { "flow", AT(problem.flow), LAYOUT_U32 },
    { "direction", AT(problem.direction), LAYOUT_U8 }, { "xid", AT(problem.xid), LAYOUT_U32 },
    { "length", AT(problem.length), LAYOUT_U64 },      { "text", AT(problem.text), LAYOUT_TEXT },
};

static const struct layout_field counter[] = {
    { "name", AT(counter.name), LAYOUT_TEXT },
    { "value", AT(counter.value), LAYOUT_U64 },
};

static const struct layout_field end[] = {
    { "frames", AT(end.frames), LAYOUT_U64 },
    { "operations", AT(end.operations), LAYOUT_U64 },
    { "calls", AT(end.calls), LAYOUT_U64 },
    { "replies", AT(end.replies), LAYOUT_U64 },
    { "repeats", AT(end.repeats), LAYOUT_U64 },
    { "problems", AT(end.problems), LAYOUT_U64 },
    { "first_time", AT(end.first_time), LAYOUT_TIME },
    { "last_time", AT(end.last_time), LAYOUT_TIME },
    { "input_cut", AT(end.input_cut), LAYOUT_BOOL },
};

static const struct layout_field contents[] = {
    { "operation", AT(contents.operation), LAYOUT_U64 },
    { "is_reply", AT(contents.is_reply), LAYOUT_BOOL },
    { "position", AT(contents.position), LAYOUT_U64 },
    { "data", AT(contents.data), LAYOUT_BYTES },
};

/* Since 1.4.  Its frames and times are not stored as differences, so that earlier readers can pass
 * over it. */
static const struct layout_field connection_event[] = {
    { "flow", AT(connection_event.flow), LAYOUT_U32 },
    { "client", AT(connection_event.client), LAYOUT_ADDRESS },
    { "server", AT(connection_event.server), LAYOUT_ADDRESS },
    { "client_port", AT(connection_event.client_port), LAYOUT_U16 },
    { "server_port", AT(connection_event.server_port), LAYOUT_U16 },
    { "direction", AT(connection_event.direction), LAYOUT_U8 },
    { "event", AT(connection_event.event), LAYOUT_U8 },
    { "frame", AT(connection_event.frame), LAYOUT_U64 },
    { "last_frame", AT(connection_event.last_frame), LAYOUT_U64 },
    { "time", AT(connection_event.time), LAYOUT_I64 },
    { "last_time", AT(connection_event.last_time), LAYOUT_I64 },
    { "count", AT(connection_event.count), LAYOUT_U64 },
    { "value", AT(connection_event.value), LAYOUT_U64 },
};

#define FIELDS(table) .fields = table, .count = sizeof(table) / sizeof(table[0])
#define TIME_AT(i) (UINT64_C(1) << (i)) /* a unit test holds these to the tables */

static const struct layout_kind kinds[RECORD_KIND_MAX] = {
    [RECORD_FLOW] = { "flow", FIELDS(flow), .times = TIME_AT(7) },
    [RECORD_CREDENTIAL] = { "credential", FIELDS(credential) },
    [RECORD_OBJECT] = { "object", FIELDS(object), .times = TIME_AT(7) },
    [RECORD_PATH] = { "path", FIELDS(path) },
    [RECORD_NAME] = { "name", FIELDS(name), .times = TIME_AT(5) },
    [RECORD_OPERATION] = { "operation", FIELDS(operation), .times = TIME_AT(9) | TIME_AT(14) },
    [RECORD_REPEAT] = { "repeat", FIELDS(repeat), .times = TIME_AT(6) },
    [RECORD_PROBLEM] = { "problem", FIELDS(problem), .times = TIME_AT(2) },
    [RECORD_COUNTER] = { "counter", FIELDS(counter) },
    [RECORD_END] = { "end", FIELDS(end), .times = TIME_AT(6) | TIME_AT(7) },
    [RECORD_CONTENTS] = { "contents", FIELDS(contents) }, /* since 1.3 */
    [RECORD_CONNECTION_EVENT] = { "connection_event", FIELDS(connection_event) },
};

_Static_assert(sizeof(operation) / sizeof(operation[0]) <= LAYOUT_FIELDS_MAX,
               "operation is the kind with the most fields");

const struct format nfsr_format = {
    .name = ".nfsr",
    .magic = NFSR_MAGIC,
    .marker = NFSR_MARKER,
    .major = NFSR_VERSION_MAJOR,
    .minor = NFSR_VERSION_MINOR,
    .span = NFSR_BLOCK_SPAN,
    .no_time = TIME_NONE,
    .kinds = kinds,
    .kind_max = RECORD_KIND_MAX,
    .end = RECORD_END,
    .clear_from = offsetof(struct record, flow),
    .clear_len = sizeof(struct record) - offsetof(struct record, flow),
};
