/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_ops.c
 *
 * "nfsdigest ops": one query, to which filter.h adds its conditions, and its rows as lines or as
 * JSON.  Bodies are decoded by body_print.h, what is said of an object by object_print.h.  The
 * contract of subcommands is in cli.h.
 */
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/body_print.h"
#include "cli/cli.h"
#include "cli/filter_args.h"
#include "cli/object_print.h"
#include "show/args.h"
#include "store/sql.h"
#include "store/sql_json.h"
#include "store/store.h"

static const char about[] =
    "Lists operations, one on each line, in the order of calls in each source:\n"
    "\n"
    "  time client > server program procedure path [second path] [@offset+count]\n"
    "  status latency [call frame-reply frame]\n"
    "\n"
    "and pairing, partial messages and source, if there is something to report.\n"
    "\n"
    "If several filters are given, an operation must match all of them.  Names may\n"
    "be written in lower case.  --object also shows the object and all its names,\n"
    "before the operations.  Times are UTC.  In names, bytes that are not UTF-8\n"
    "or not printable are shown as \\xNN, and a backslash as \\\\.  A path that\n"
    "begins with \"[#N]\" is known only below object N.\n";

/* What is read of each operation, in this order. */
enum {
    OP_ID,
    OP_CALL_TIME,
    OP_REPLY_TIME,
    OP_LATENCY,
    OP_CLIENT,
    OP_CLIENT_PORT,
    OP_SERVER,
    OP_SERVER_PORT,
    OP_TRANSPORT,
    OP_XID,
    OP_PROGRAM,
    OP_VERSION,
    OP_PROCEDURE,
    OP_PROCEDURE_NAME,
    OP_PATH,
    OP_PATH2,
    OP_OBJECT,
    OP_OBJECT2,
    OP_NEW_OBJECT,
    OP_OFFSET,
    OP_COUNT,
    OP_RPC_STATUS,
    OP_RPC_STATUS_NAME,
    OP_STATUS,
    OP_STATUS_NAME,
    OP_PAIRING,
    OP_PAIRING_NAME,
    OP_CALL_SOURCE,
    OP_CALL_FRAME,
    OP_REPLY_SOURCE,
    OP_REPLY_FRAME,
    OP_CALL_FLAGS,
    OP_REPLY_FLAGS,
    OP_UID,
    OP_GID,
    OP_DATA_LENGTH,
    OP_DATA_DIGEST,
    OP_DEPENDS_ON,
    OP_RETRANSMISSIONS,
    OP_COPIES,
    OP_ARGUMENTS,
    OP_ARGUMENTS_LENGTH,
    OP_RESULT,
    OP_RESULT_LENGTH,
    OP_COUNTERPART,
    OP_COUNTERPART_COPY,
};

static const char select_ops[] =
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
    " o.counterpart, o.counterpart_copy"
    " FROM operation o JOIN flow f ON f.id = o.flow LEFT JOIN credential c ON c.id = o.credential";

static bool is_null(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL;
}

static const char *text_of(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

/* The bodies that can be decoded: up to two into |bodies|. */
static int bodies_of(sqlite3_stmt *s, struct fields_body bodies[2], bool is_result[2])
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

    for (int i = 0; i < 2 && procedure && !is_null(s, OP_PROGRAM); i++) {
        if (is_null(s, columns[i].flags) ||
            sqlite3_column_int64(s, columns[i].flags) & SIGHTING_OPAQUE ||
            (i == 1 && (is_null(s, OP_RPC_STATUS) || sqlite3_column_int64(s, OP_RPC_STATUS) != 0)))
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

static void print_program(sqlite3_stmt *s)
{
    uint32_t number = (uint32_t)sqlite3_column_int64(s, OP_PROGRAM);
    const char *name = program_name(number);

    if (is_null(s, OP_PROGRAM)) {
        fputs(" ? ?", stdout);
        return;
    }
    if (name)
        printf(" %s", name);
    else
        printf(" %u", number);
    if (!is_null(s, OP_PROCEDURE_NAME))
        printf(" %s", text_of(s, OP_PROCEDURE_NAME));
    else
        printf(" v%s/%s", text_of(s, OP_VERSION), text_of(s, OP_PROCEDURE));
}

static void print_status(sqlite3_stmt *s)
{
    if (!is_null(s, OP_RPC_STATUS) && sqlite3_column_int64(s, OP_RPC_STATUS) != 0)
        printf(" %s", text_of(s, OP_RPC_STATUS_NAME) ? text_of(s, OP_RPC_STATUS_NAME) : "?");
    else if (!is_null(s, OP_STATUS_NAME))
        printf(" %s", text_of(s, OP_STATUS_NAME));
    else if (!is_null(s, OP_STATUS))
        printf(" %s", text_of(s, OP_STATUS));
    else
        fputs(is_null(s, OP_RPC_STATUS) ? " -" : " ok", stdout);
}

static void print_frames(sqlite3_stmt *s)
{
    int64_t call_source = sqlite3_column_int64(s, OP_CALL_SOURCE);
    int64_t reply_source = sqlite3_column_int64(s, OP_REPLY_SOURCE);
    int64_t flags =
        sqlite3_column_int64(s, OP_CALL_FLAGS) | sqlite3_column_int64(s, OP_REPLY_FLAGS);
    int64_t further = sqlite3_column_int64(s, OP_RETRANSMISSIONS);
    int64_t copies = sqlite3_column_int64(s, OP_COPIES);

    printf(" [%s-%s]", is_null(s, OP_CALL_FRAME) ? "" : text_of(s, OP_CALL_FRAME),
           is_null(s, OP_REPLY_FRAME) ? "" : text_of(s, OP_REPLY_FRAME));
    if (call_source > 1 || reply_source > 1) {
        if (call_source && reply_source && call_source != reply_source)
            printf(" sources %lld-%lld", (long long)call_source, (long long)reply_source);
        else
            printf(" source %lld", (long long)(call_source ? call_source : reply_source));
    }
    if (sqlite3_column_int(s, OP_PAIRING) != PAIRED)
        printf(" %s", text_of(s, OP_PAIRING_NAME));
    if (flags & SIGHTING_PARTIAL)
        fputs(" partial", stdout);
    if (flags & SIGHTING_MALFORMED)
        fputs(" malformed", stdout);
    if (further)
        printf(" retransmissions %lld", (long long)further);
    if (copies)
        printf(" copies %lld", (long long)copies);
    if (flags & SIGHTING_ADDRESS)
        fputs(" from another address", stdout);
}

/* When it was called, or answered where only that is known; NULL: no packet has a time. */
static const char *when_text(sqlite3_stmt *s, char text[VALUE_TEXT_MAX])
{
    int column = is_null(s, OP_CALL_TIME) ? OP_REPLY_TIME : OP_CALL_TIME;

    return is_null(s, column) ? NULL : time_text(sqlite3_column_int64(s, column), text);
}

static void print_text(sqlite3_stmt *s, bool fields)
{
    char text[VALUE_TEXT_MAX];
    struct fields_body bodies[2];
    bool is_result[2];
    int count;

    fputs(when_text(s, text) ? text : "-", stdout);
    printf(" %s > %s", text_of(s, OP_CLIENT), text_of(s, OP_SERVER));
    print_program(s);
    putchar(' ');
    escape_print(stdout, is_null(s, OP_PATH) ? "-" : text_of(s, OP_PATH));
    if (!is_null(s, OP_PATH2)) {
        putchar(' ');
        escape_print(stdout, text_of(s, OP_PATH2));
    }
    if (!is_null(s, OP_OFFSET))
        printf(" @%llu", (unsigned long long)sqlite3_column_int64(s, OP_OFFSET));
    if (!is_null(s, OP_COUNT))
        printf("+%llu", (unsigned long long)sqlite3_column_int64(s, OP_COUNT));
    print_status(s);
    printf(" %s",
           is_null(s, OP_LATENCY) ? "-" : duration_text(sqlite3_column_int64(s, OP_LATENCY), text));
    print_frames(s);
    putchar('\n');
    if (!fields)
        return;
    count = bodies_of(s, bodies, is_result);
    for (int i = 0; i < count; i++)
        fields_text(stdout, &bodies[i]);
}

/* Columns that go to JSON as they are. */
static void print_columns(struct json *j, sqlite3_stmt *s)
{
    static const struct {
        const char *name;
        int column;
    } columns[] = {
        { "call_time", OP_CALL_TIME },
        { "reply_time", OP_REPLY_TIME },
        { "latency", OP_LATENCY },
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
        { "data_length", OP_DATA_LENGTH },
        { "depends_on", OP_DEPENDS_ON },
        { "retransmissions", OP_RETRANSMISSIONS },
        { "copies", OP_COPIES },
        { "counterpart", OP_COUNTERPART },
        { "counterpart_copy", OP_COUNTERPART_COPY },
    };

    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
        int column = columns[i].column;

        if (!is_null(s, column) && (column == OP_OFFSET || column == OP_COUNT))
            json_u64(j, columns[i].name, (uint64_t)sqlite3_column_int64(s, column));
        else
            sql_json_value(j, columns[i].name, s, column);
    }
}

static void print_json(sqlite3_stmt *s, bool fields)
{
    const char *program = program_name((uint32_t)sqlite3_column_int64(s, OP_PROGRAM));
    char text[VALUE_TEXT_MAX];
    struct fields_body bodies[2];
    struct json j = { .out = stdout };
    bool is_result[2];
    int count;

    json_object(&j, NULL);
    json_i64(&j, "id", sqlite3_column_int64(s, OP_ID));
    json_text(&j, "time", when_text(s, text));
    json_text(&j, "program_name", is_null(s, OP_PROGRAM) ? NULL : program);
    print_columns(&j, s);
    sql_json_value(&j, "data_digest", s, OP_DATA_DIGEST);
    count = fields ? bodies_of(s, bodies, is_result) : 0;
    for (int i = 0; i < count; i++)
        fields_json(&j, is_result[i] ? "result" : "arguments", &bodies[i]);
    json_object_end(&j);
    json_end(&j);
}

static int list(struct store *store, const struct filter *filter, bool json, bool fields,
                struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (filter_prepare(store_db(store), filter, select_ops, &stmt, err) < 0)
        return -err->code;
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
        if (json)
            print_json(stmt, fields);
        else
            print_text(stmt, fields);
        if (ferror(stdout))
            result = finish_output(err);
    }
    return sql_end(stmt, result, err);
}

/* Long: it is the table of options, which point into what is local. */
int cmd_ops(int argc, char **argv, struct err *err)
{
    bool json = false, fields = false;
    struct filter f;
    const struct arg own[] = {
        { 'n', "limit", "N", "show at most N operations", set_count, &f.limit },
        { 'j', "json", NULL,
          "print a JSON object on each line; times and\n"
          "latencies in ns",
          set_flag, &json },
        { 0, "fields", NULL, "also show the decoded arguments and results", set_flag, &fields },
        { 0 },
    };
    struct arg filters[FILTER_ARG_COUNT];
    const struct args args = {
        "nfsdigest ops [OPTION...] DATABASE", about, own, filters, "Filters", 1, "one database"
    };
    struct store *store;
    int first, result;

    filter_init(&f);
    filter_arg_table(&f, filters);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    store = store_open(argv[first], STORE_READ, err);
    if (!store)
        return -err->code;
    result =
        f.object == UINT64_MAX ? 0 : object_print(store_db(store), (int64_t)f.object, json, err);
    if (result == 0)
        result = list(store, &f, json, fields, err);
    store_close(store);
    return result;
}
