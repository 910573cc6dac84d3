/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/other_columns.c
 *
 * The columns of all tables but operations, in the order of schemas/trace.sql.
 */
#include "base/escape.h"
#include "columns/sources.h"
#include "store/row_text.h"

#define IN(member) .offset = offsetof(struct record, member)

static int get_row(const struct row *row, struct cell *cell)
{
    cell->number = row->id;
    return 0;
}

static int get_first_frame(const struct row *row, struct cell *cell)
{
    const struct sighting *sighting = &row->record->repeat.sighting;
    uint64_t first = sighting->first_frame ? sighting->first_frame : sighting->frame;
    uint64_t frame = sighting->frame;

    known_source_of(row->known, &frame);
    cell->number = (int64_t)(first - sighting->frame + frame);
    return 0;
}

/* Of a directory entry; of a MOUNT root it is a path. */
static int get_name(const struct row *row, struct cell *cell)
{
    const struct record *r = row->record;
    bool is_path = r->kind == RECORD_NAME ? !r->name.parent : !r->path.parent && !r->path.object;
    struct buf *text = &row->known->text;

    text->len = 0;
    if (buf_reserve(text, 1) < 0 ||
        escape_name(r->kind == RECORD_NAME ? r->name.name : r->path.name, is_path, text) < 0)
        return -ERR_SYSTEM;
    cell->bytes = (struct bytes){ text->data, (uint32_t)text->len };
    return 0;
}

static int get_path(const struct row *row, struct cell *cell)
{
    cell->bytes = known_path(row->known, row->record->path.id);
    return 0;
}

static int get_gids(const struct row *row, struct cell *cell)
{
    struct buf *text = &row->known->text;

    text->len = 0;
    if (buf_reserve(text, ROW_GIDS_MAX) < 0)
        return -ERR_SYSTEM;
    text->len = row_gids_text(row->record->credential.gids, (char *)text->data);
    cell->bytes = (struct bytes){ text->data, (uint32_t)text->len };
    return 0;
}

const struct column flow_columns[] = {
    { "id", COLUMN_I64, FROM_U32, IN(flow.id) },
    { "transport", COLUMN_U8, FROM_U8, IN(flow.transport) },
    { "client", COLUMN_WORD, FROM_ADDRESS, IN(flow.client) },
    { "client_port", COLUMN_U16, FROM_U16, IN(flow.client_port) },
    { "server", COLUMN_WORD, FROM_ADDRESS, IN(flow.server) },
    { "server_port", COLUMN_U16, FROM_U16, IN(flow.server_port) },
    { "source", COLUMN_I64, FROM_SOURCE, IN(flow.frame) },
    { "frame", COLUMN_I64, FROM_FRAME, NULL_ZERO, IN(flow.frame) },
    { "time", COLUMN_TIME, FROM_I64, NULL_TIME, IN(flow.time) },
    { NULL },
};

const struct column credential_columns[] = {
    { "id", COLUMN_I64, FROM_U32, IN(credential.id) },
    { "flavor", COLUMN_U32, FROM_U32, IN(credential.flavor) },
    { "valid", COLUMN_BOOL, FROM_U8, IN(credential.valid) },
    { "uid", COLUMN_I64, FROM_U32, IN(credential.uid), .needs = NEEDS_AUTH_SYS },
    { "gid", COLUMN_I64, FROM_U32, IN(credential.gid), .needs = NEEDS_AUTH_SYS },
    { "gids", COLUMN_TEXT, .get = get_gids, .needs = NEEDS_AUTH_SYS },
    { "machine", COLUMN_WORD, FROM_TEXT, IN(credential.machine), .needs = NEEDS_AUTH_SYS },
    { "stamp", COLUMN_U32, FROM_U32, IN(credential.stamp), .needs = NEEDS_AUTH_SYS },
    { "gss_service", COLUMN_U32, FROM_U32, IN(credential.gss_service), .needs = NEEDS_GSS },
    { "body", COLUMN_BYTES, FROM_BYTES, IN(credential.body) },
    { NULL },
};

const struct column object_columns[] = {
    { "id", COLUMN_I64, FROM_U64, IN(object.id) },
    { "server", COLUMN_WORD, FROM_ADDRESS, IN(object.server) },
    { "handle", COLUMN_BYTES, FROM_BYTES, IN(object.handle) },
    { "type", COLUMN_U8, FROM_U8, NULL_ZERO, IN(object.type) },
    { "fsid", COLUMN_U64, FROM_U64, IN(object.fsid), .needs = NEEDS_IDENTITY },
    { "fileid", COLUMN_U64, FROM_U64, IN(object.fileid), .needs = NEEDS_IDENTITY },
    { "source", COLUMN_I64, FROM_SOURCE, IN(object.frame) },
    { "frame", COLUMN_I64, FROM_FRAME, NULL_ZERO, IN(object.frame) },
    { "time", COLUMN_TIME, FROM_I64, NULL_TIME, IN(object.time) },
    { NULL },
};

const struct column path_columns[] = {
    { "id", COLUMN_I64, FROM_U32, IN(path.id) },
    { "parent", COLUMN_I64, FROM_U32, NULL_ZERO, IN(path.parent) },
    { "object", COLUMN_I64, FROM_U64, NULL_ZERO, IN(path.object) },
    { "name", COLUMN_TEXT, .get = get_name },
    { "text", COLUMN_TEXT, .get = get_path, .wants = WANTS_PATHS },
    { NULL },
};

const struct column name_event_columns[] = {
    { "id", COLUMN_I64, .get = get_row },
    { "event", COLUMN_U8, FROM_U8, IN(name.event) },
    { "parent", COLUMN_I64, FROM_U64, NULL_ZERO, IN(name.parent) },
    { "name", COLUMN_TEXT, .get = get_name },
    { "object", COLUMN_I64, FROM_U64, NULL_ZERO, IN(name.object) },
    { "operation", COLUMN_I64, FROM_U64, NULL_ZERO, IN(name.operation) },
    { "time", COLUMN_TIME, FROM_I64, NULL_TIME, IN(name.time) },
    { NULL },
};

#define REPEAT_HEAD                                                                                \
    { "id", COLUMN_I64, .get = get_row },                                                          \
        { "operation", COLUMN_I64, FROM_U64, NULL_ZERO, IN(repeat.operation) },                    \
    {                                                                                              \
        "kind", COLUMN_U8, FROM_U8, IN(repeat.repeat)                                              \
    }
#define REPEAT_TAIL                                                                                \
    { "flow", COLUMN_I64, FROM_U32, IN(repeat.flow) },                                             \
        { "source", COLUMN_I64, FROM_SOURCE, IN(repeat.sighting.frame) },                          \
        { "frame", COLUMN_I64, FROM_FRAME, IN(repeat.sighting.frame) },                            \
        { "first_frame", COLUMN_I64, .get = get_first_frame },                                     \
        { "time", COLUMN_TIME, FROM_I64, NULL_TIME, IN(repeat.sighting.time) },                    \
        { "length", COLUMN_U32, FROM_U32, IN(repeat.sighting.wire_len) },                          \
        { "flags", COLUMN_U32, FROM_U32, IN(repeat.sighting.flags) },                              \
    {                                                                                              \
        NULL                                                                                       \
    }

const struct column retransmission_columns[] = {
    REPEAT_HEAD,
    { "differs", COLUMN_BOOL, FROM_U8, IN(repeat.differs) },
    REPEAT_TAIL,
};

const struct column copy_columns[] = { REPEAT_HEAD, REPEAT_TAIL };

const struct column problem_columns[] = {
    { "id", COLUMN_I64, .get = get_row },
    { "source", COLUMN_I64, FROM_SOURCE, IN(problem.frame) },
    { "kind", COLUMN_U8, FROM_U8, IN(problem.problem) },
    { "frame", COLUMN_I64, FROM_FRAME, NULL_ZERO, IN(problem.frame) },
    { "time", COLUMN_TIME, FROM_I64, NULL_TIME, IN(problem.time) },
    { "flow", COLUMN_I64, FROM_U32, IN(problem.flow), .needs = NEEDS_FLOW },
    { "direction", COLUMN_U8, FROM_U8, IN(problem.direction), .needs = NEEDS_FLOW },
    { "xid", COLUMN_U32, FROM_U32, NULL_ZERO, IN(problem.xid) },
    { "length", COLUMN_U64, FROM_U64, IN(problem.length) },
    { "text", COLUMN_TEXT, FROM_TEXT, NULL_EMPTY, IN(problem.text) },
    { NULL },
};

const struct column connection_event_columns[] = {
    { "id", COLUMN_I64, .get = get_row },
    { "flow", COLUMN_I64, FROM_U32, NULL_ZERO, IN(connection_event.flow) },
    { "source", COLUMN_I64, FROM_SOURCE, IN(connection_event.frame) },
    { "client", COLUMN_WORD, FROM_ADDRESS, IN(connection_event.client) },
    { "client_port", COLUMN_U16, FROM_U16, IN(connection_event.client_port) },
    { "server", COLUMN_WORD, FROM_ADDRESS, IN(connection_event.server) },
    { "server_port", COLUMN_U16, FROM_U16, IN(connection_event.server_port) },
    { "direction", COLUMN_U8, FROM_U8, IN(connection_event.direction) },
    { "event", COLUMN_U8, FROM_U8, IN(connection_event.event) },
    { "frame", COLUMN_I64, FROM_FRAME, IN(connection_event.frame) },
    { "time", COLUMN_TIME, FROM_I64, NULL_TIME, IN(connection_event.time) },
    { "last_frame", COLUMN_I64, FROM_FRAME, IN(connection_event.last_frame) },
    { "last_time", COLUMN_TIME, FROM_I64, NULL_TIME, IN(connection_event.last_time) },
    { "count", COLUMN_U64, FROM_U64, IN(connection_event.count) },
    { "value", COLUMN_U64, FROM_U64, IN(connection_event.value), .needs = NEEDS_VALUE },
    { NULL },
};

const struct column contents_columns[] = {
    { "id", COLUMN_I64, .get = get_row },
    { "operation", COLUMN_I64, FROM_U64, IN(contents.operation) },
    { "is_reply", COLUMN_BOOL, FROM_U8, IN(contents.is_reply) },
    { "position", COLUMN_U64, FROM_U64, IN(contents.position) },
    { "data", COLUMN_BYTES, FROM_BYTES, IN(contents.data) },
    { NULL },
};

#define OF_SOURCE(member) .offset = offsetof(struct source, member)

const struct column source_columns[] = {
    { "id", COLUMN_I64, .get = get_row },
    { "name", COLUMN_TEXT, FROM_TEXT, OF_SOURCE(name) },
    { "kind", COLUMN_WORD, FROM_TEXT, OF_SOURCE(kind) },
    { "state", COLUMN_WORD, FROM_TEXT, OF_SOURCE(state) },
    { "note", COLUMN_TEXT, FROM_TEXT, NULL_EMPTY, OF_SOURCE(note) },
    { "size", COLUMN_I64, FROM_U64, OF_SOURCE(size) },
    { "digest", COLUMN_BYTES, FROM_DIGEST, OF_SOURCE(digest) },
    { "head_digest", COLUMN_BYTES, FROM_DIGEST, OF_SOURCE(head_digest) },
    { "frame_base", COLUMN_I64, FROM_U64, OF_SOURCE(frame_base) },
    { "frames", COLUMN_I64, FROM_U64, OF_SOURCE(frames) },
    { "operations", COLUMN_I64, FROM_U64, OF_SOURCE(operations) },
    { "calls", COLUMN_I64, FROM_U64, OF_SOURCE(calls) },
    { "replies", COLUMN_I64, FROM_U64, OF_SOURCE(replies) },
    { "retransmissions", COLUMN_I64, FROM_U64, OF_SOURCE(retransmissions) },
    { "copies", COLUMN_I64, FROM_U64, OF_SOURCE(copies) },
    { "problems", COLUMN_I64, FROM_U64, OF_SOURCE(problems) },
    { "first_time", COLUMN_TIME, FROM_I64, NULL_TIME, OF_SOURCE(first_time) },
    { "last_time", COLUMN_TIME, FROM_I64, NULL_TIME, OF_SOURCE(last_time) },
    { NULL },
};

const struct column counter_columns[] = {
    { "source", COLUMN_I64, .get = get_row }, /* counters have no other number */
    { "name", COLUMN_WORD, FROM_TEXT, IN(counter.name) },
    { "value", COLUMN_U64, FROM_U64, IN(counter.value) },
    { NULL },
};

/* The tables below have no records: schemas/trace.sql is filled with them (dictionary.c). */

const struct column program_columns[] = {
    { "number", COLUMN_I64 },
    { "version", COLUMN_I64 },
    { "name", COLUMN_TEXT },
    { NULL },
};

const struct column procedure_columns[] = {
    { "program", COLUMN_I64 }, { "version", COLUMN_I64 }, { "number", COLUMN_I64 },
    { "name", COLUMN_TEXT },   { "source", COLUMN_TEXT }, { NULL },
};

const struct column status_name_columns[] = {
    { "program", COLUMN_I64 }, { "version", COLUMN_I64 }, { "procedure", COLUMN_I64 },
    { "status", COLUMN_I64 },  { "name", COLUMN_TEXT },   { NULL },
};

const struct column field_columns[] = {
    { "program", COLUMN_I64 },    { "version", COLUMN_I64 },
    { "procedure", COLUMN_I64 },  { "direction", COLUMN_TEXT },
    { "path", COLUMN_TEXT },      { "class", COLUMN_TEXT },
    { "type", COLUMN_TEXT },      { "max", COLUMN_I64 },
    { "wireshark", COLUMN_TEXT }, { NULL },
};

const struct column code_columns[] = {
    { "domain", COLUMN_TEXT },
    { "value", COLUMN_I64 },
    { "name", COLUMN_TEXT },
    { NULL },
};
