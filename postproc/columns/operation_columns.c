/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/operation_columns.c
 *
 * The columns of operations, in the order of schemas/trace.sql, and behind them the texts that
 * other tables have for their numbers.
 */
#include "columns/known.h"
#include "wire/field.h"
#include "wire/rpc.h"

#include <stdio.h>

#define IN(member) .offset = offsetof(struct record, operation.member)

/* Below 1 if it is in the source before. */
static int64_t first_frame(const struct row *row, const struct sighting *sighting)
{
    uint64_t first = sighting->first_frame ? sighting->first_frame : sighting->frame;
    uint64_t frame = sighting->frame;

    known_source_of(row->known, &frame);
    return (int64_t)(first - sighting->frame + frame);
}

static int get_call_first(const struct row *row, struct cell *cell)
{
    cell->number = first_frame(row, &row->record->operation.call);
    return 0;
}

static int get_reply_first(const struct row *row, struct cell *cell)
{
    cell->number = first_frame(row, &row->record->operation.reply);
    return 0;
}

static struct bytes host_text(const struct known *known, uint32_t host)
{
    return (struct bytes){ (const uint8_t *)known->hosts.hosts[host].text,
                           known->hosts.hosts[host].len };
}

static int get_client(const struct row *row, struct cell *cell)
{
    cell->bytes =
        host_text(row->known, row->known->hosts.flows[row->record->operation.flow - 1].client);
    return 0;
}

static int get_server(const struct row *row, struct cell *cell)
{
    cell->bytes =
        host_text(row->known, row->known->hosts.flows[row->record->operation.flow - 1].server);
    return 0;
}

static int get_latency(const struct row *row, struct cell *cell)
{
    const struct record_operation *op = &row->record->operation;

    cell->there = !__builtin_sub_overflow(op->reply.time, op->call.time, &cell->number);
    return 0;
}

static int set_text(struct cell *cell, const char *text)
{
    cell->bytes = (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) };
    return 0;
}

/* |name|, or the number where there is none. */
static int set_name(const struct row *row, struct cell *cell, const char *name, int64_t number)
{
    enum { DIGITS = 24 };

    if (name)
        return set_text(cell, name);
    row->known->text.len = 0;
    if (buf_reserve(&row->known->text, DIGITS) < 0)
        return -ERR_SYSTEM;
    snprintf((char *)row->known->text.data, DIGITS, "%lld", (long long)number);
    return set_text(cell, (const char *)row->known->text.data);
}

static int get_program(const struct row *row, struct cell *cell)
{
    const struct record_operation *op = &row->record->operation;
    const struct program *program = program_find(op->program, op->version);

    return set_name(row, cell, program ? program->name : NULL, op->program);
}

static int get_procedure(const struct row *row, struct cell *cell)
{
    const struct record_operation *op = &row->record->operation;
    const struct procedure *procedure = procedure_find(op->program, op->version, op->procedure);

    return set_name(row, cell, procedure ? procedure->name : NULL, op->procedure);
}

static int get_status(const struct row *row, struct cell *cell)
{
    const struct record_operation *op = &row->record->operation;
    const struct procedure *procedure;

    if (op->rpc_status != 0 && op->rpc_status != STATUS_NONE)
        return set_name(row, cell, rpc_status_name((uint32_t)op->rpc_status), op->rpc_status);
    cell->there = op->status != STATUS_NONE;
    if (!cell->there)
        return 0;
    procedure = op->call.frame ? procedure_find(op->program, op->version, op->procedure) : NULL;
    return set_name(row, cell, procedure ? status_name(procedure, (uint32_t)op->status) : NULL,
                    op->status);
}

static int get_path_text(const struct row *row, struct cell *cell, uint32_t path)
{
    cell->there = path != 0;
    if (path)
        cell->bytes = known_path(row->known, path);
    return 0;
}

static int get_path(const struct row *row, struct cell *cell)
{
    return get_path_text(row, cell, row->record->operation.path);
}

static int get_path2(const struct row *row, struct cell *cell)
{
    return get_path_text(row, cell, row->record->operation.path2);
}

static int get_uid(const struct row *row, struct cell *cell)
{
    uint32_t credential = row->record->operation.credential;

    cell->number = credential ? row->known->uids[credential - 1] : -1;
    cell->there = cell->number >= 0;
    return 0;
}

#define SIGHTING(side, NEEDS, first)                                                               \
    { #side "_source", COLUMN_I64, FROM_SOURCE, IN(side.frame), .needs = NEEDS },                  \
        { #side "_frame", COLUMN_I64, FROM_FRAME, IN(side.frame), .needs = NEEDS },                \
        { #side "_first_frame", COLUMN_I64, .get = first, .needs = NEEDS },                        \
        { #side "_time", COLUMN_TIME, FROM_I64, NULL_TIME, IN(side.time), .needs = NEEDS },        \
        { #side "_length", COLUMN_U32, FROM_U32, IN(side.wire_len), .needs = NEEDS },              \
    {                                                                                              \
        #side "_flags", COLUMN_U32, FROM_U32, IN(side.flags), .needs = NEEDS                       \
    }

const struct column operation_columns[] = {
    { "id", COLUMN_I64, FROM_U64, IN(id) },
    { "pairing", COLUMN_U8, FROM_U8, IN(pairing) },
    SIGHTING(call, NEEDS_CALL, get_call_first),
    SIGHTING(reply, NEEDS_REPLY, get_reply_first),
    { "client", COLUMN_WORD, .get = get_client, .wants = WANTS_HOSTS },
    { "server", COLUMN_WORD, .get = get_server, .wants = WANTS_HOSTS },
    { "flow", COLUMN_I64, FROM_U32, IN(flow) },
    { "xid", COLUMN_U32, FROM_U32, IN(xid) },
    { "program", COLUMN_U32, FROM_U32, IN(program), .needs = NEEDS_CALL },
    { "version", COLUMN_U32, FROM_U32, IN(version), .needs = NEEDS_CALL },
    { "procedure", COLUMN_U32, FROM_U32, IN(procedure), .needs = NEEDS_CALL },
    { "rpc_status", COLUMN_I32, FROM_I32, NULL_STATUS, IN(rpc_status) },
    { "status", COLUMN_I64, FROM_I64, NULL_STATUS, IN(status) },
    { "credential", COLUMN_I64, FROM_U32, NULL_ZERO, IN(credential) },
    { "object", COLUMN_I64, FROM_U64, NULL_ZERO, IN(object) },
    { "object2", COLUMN_I64, FROM_U64, NULL_ZERO, IN(object2) },
    { "new_object", COLUMN_I64, FROM_U64, NULL_ZERO, IN(new_object) },
    { "path", COLUMN_I64, FROM_U32, NULL_ZERO, IN(path) },
    { "path2", COLUMN_I64, FROM_U32, NULL_ZERO, IN(path2) },
    { "depends_on", COLUMN_I64, FROM_U64, NULL_ZERO, IN(depends_on) },
    { "offset", COLUMN_U64, FROM_U64, IN(offset), .needs = NEEDS_OFFSET },
    { "count", COLUMN_U64, FROM_U64, IN(count), .needs = NEEDS_COUNT },
    { "data_length", COLUMN_U64, FROM_U64, IN(data_length), .needs = NEEDS_DATA },
    { "data_digest", COLUMN_BYTES, FROM_DIGEST, IN(data_digest), .needs = NEEDS_DIGEST },
    { "arguments_length", COLUMN_U32, FROM_U32, IN(arguments_wire), .needs = NEEDS_CALL_BODY },
    { "result_length", COLUMN_U32, FROM_U32, IN(result_wire), .needs = NEEDS_REPLY_BODY },
    { "arguments", COLUMN_BYTES, FROM_BYTES, NULL_EMPTY, IN(arguments) },
    { "result", COLUMN_BYTES, FROM_BYTES, NULL_EMPTY, IN(result) },
    { "counterpart", COLUMN_I64, FROM_U64, IN(counterpart.number), .needs = NEEDS_COUNTERPART },
    { "counterpart_copy", COLUMN_U32, FROM_U32, IN(counterpart.copy), .needs = NEEDS_COUNTERPART },
    { "counterpart_conditions", COLUMN_U32, FROM_U32, NULL_ZERO, IN(counterpart.conditions) },
    { "block_digests", COLUMN_BYTES, FROM_BYTES, NULL_EMPTY, IN(block_digests) },
    { "latency", COLUMN_I64, .get = get_latency, .needs = NEEDS_LATENCY },
    { "program_name", COLUMN_WORD, .get = get_program, .needs = NEEDS_CALL,
      .sql = "ifnull((SELECT g.name FROM program g WHERE g.number = o.program"
             " AND g.version = o.version), o.program)",
      .text = "name of the program, or its number if it is not known" },
    { "procedure_name", COLUMN_WORD, .get = get_procedure, .needs = NEEDS_CALL,
      .sql = "ifnull((SELECT r.name FROM procedure r WHERE r.program = o.program"
             " AND r.version = o.version AND r.number = o.procedure), o.procedure)",
      .text = "name of the procedure, or its number if it is not known" },
    { "status_name", COLUMN_WORD, .get = get_status,
      .sql = "CASE WHEN o.rpc_status <> 0 THEN ifnull((SELECT c.name FROM code c WHERE"
             " c.domain = 'rpc_status' AND c.value = o.rpc_status), o.rpc_status)"
             " ELSE ifnull((SELECT s.name FROM status_name s WHERE s.program = o.program"
             " AND s.version = o.version AND s.procedure = o.procedure"
             " AND s.status = o.status), o.status) END",
      .text = "name of the status: of RPC if that is an error, else of the result" },
    { "path_text", COLUMN_TEXT, .get = get_path, .wants = WANTS_PATHS,
      .sql = "(SELECT p.text FROM path p WHERE p.id = o.path)", .text = "text of |path|" },
    { "path2_text", COLUMN_TEXT, .get = get_path2, .wants = WANTS_PATHS,
      .sql = "(SELECT p.text FROM path p WHERE p.id = o.path2)", .text = "text of |path2|" },
    { "uid", COLUMN_I64, .get = get_uid, .wants = WANTS_UIDS,
      .sql = "(SELECT c.uid FROM credential c WHERE c.id = o.credential)",
      .text = "user of the credential; NULL if that is not one of AUTH_SYS" },
    { NULL },
};
