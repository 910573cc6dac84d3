/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/ops_text.c
 *
 * An operation as a line for people.  The contract is in ops_row.h.
 */
#include "base/escape.h"
#include "cli/ops_row.h"
#include "engine.h"

#include <string.h>

static void print_program(sqlite3_stmt *s)
{
    uint32_t number = (uint32_t)sqlite3_column_int64(s, OP_PROGRAM);
    const char *name = program_name(number);

    if (ops_is_null(s, OP_PROGRAM)) {
        fputs(" ? ?", stdout);
        return;
    }
    if (name)
        printf(" %s", name);
    else
        printf(" %u", number);
    if (!ops_is_null(s, OP_PROCEDURE_NAME))
        printf(" %s", ops_value(s, OP_PROCEDURE_NAME));
    else
        printf(" v%s/%s", ops_value(s, OP_VERSION), ops_value(s, OP_PROCEDURE));
}

static void print_status(sqlite3_stmt *s)
{
    if (!ops_is_null(s, OP_RPC_STATUS) && sqlite3_column_int64(s, OP_RPC_STATUS) != 0)
        printf(" %s", ops_value(s, OP_RPC_STATUS_NAME) ? ops_value(s, OP_RPC_STATUS_NAME) : "?");
    else if (!ops_is_null(s, OP_STATUS_NAME))
        printf(" %s", ops_value(s, OP_STATUS_NAME));
    else if (!ops_is_null(s, OP_STATUS))
        printf(" %s", ops_value(s, OP_STATUS));
    else
        fputs(ops_is_null(s, OP_RPC_STATUS) ? " -" : " ok", stdout);
}

static void print_frames(sqlite3_stmt *s)
{
    int64_t call_source = sqlite3_column_int64(s, OP_CALL_SOURCE);
    int64_t reply_source = sqlite3_column_int64(s, OP_REPLY_SOURCE);
    int64_t flags =
        sqlite3_column_int64(s, OP_CALL_FLAGS) | sqlite3_column_int64(s, OP_REPLY_FLAGS);
    int64_t calls = sqlite3_column_int64(s, OP_CALLS_RESENT);
    int64_t replies = sqlite3_column_int64(s, OP_RETRANSMISSIONS) - calls;
    int64_t copies = sqlite3_column_int64(s, OP_COPIES);
    char waited[VALUE_TEXT_MAX], latency[VALUE_TEXT_MAX];

    printf(" [%s-%s]", ops_is_null(s, OP_CALL_FRAME) ? "" : ops_value(s, OP_CALL_FRAME),
           ops_is_null(s, OP_REPLY_FRAME) ? "" : ops_value(s, OP_REPLY_FRAME));
    if (call_source > 1 || reply_source > 1) {
        if (call_source && reply_source && call_source != reply_source)
            printf(" sources %lld-%lld", (long long)call_source, (long long)reply_source);
        else
            printf(" source %lld", (long long)(call_source ? call_source : reply_source));
    }
    if (sqlite3_column_int(s, OP_PAIRING) != PAIRED)
        printf(" %s", ops_value(s, OP_PAIRING_NAME));
    if (flags & SIGHTING_PARTIAL)
        fputs(" partial", stdout);
    if (flags & SIGHTING_MALFORMED)
        fputs(" malformed", stdout);
    if (calls)
        printf(" call resent %lld%s", (long long)calls, replies ? "," : "");
    if (replies)
        printf(" reply resent %lld", (long long)replies);
    if (strcmp(duration_text(sqlite3_column_int64(s, OP_WAITED), waited),
               duration_text(sqlite3_column_int64(s, OP_LATENCY), latency)) != 0)
        printf(", waited %s", waited);
    if (copies)
        printf(" copies %lld", (long long)copies);
    if (flags & SIGHTING_ADDRESS)
        fputs(" from another address", stdout);
}

void ops_text(sqlite3_stmt *s, bool fields)
{
    char text[VALUE_TEXT_MAX];
    struct fields_body bodies[2];
    bool is_result[2];
    int count;

    fputs(ops_when(s, text) ? text : "-", stdout);
    printf(" %s > %s", ops_value(s, OP_CLIENT), ops_value(s, OP_SERVER));
    print_program(s);
    putchar(' ');
    escape_print(stdout, ops_is_null(s, OP_PATH) ? "-" : ops_value(s, OP_PATH));
    if (!ops_is_null(s, OP_PATH2)) {
        putchar(' ');
        escape_print(stdout, ops_value(s, OP_PATH2));
    }
    if (!ops_is_null(s, OP_OFFSET))
        printf(" @%llu", (unsigned long long)sqlite3_column_int64(s, OP_OFFSET));
    if (!ops_is_null(s, OP_COUNT))
        printf("+%llu", (unsigned long long)sqlite3_column_int64(s, OP_COUNT));
    print_status(s);
    printf(" %s", ops_is_null(s, OP_LATENCY)
                      ? "-"
                      : duration_text(sqlite3_column_int64(s, OP_LATENCY), text));
    if (!ops_is_null(s, OP_UID))
        printf(" uid %s", ops_value(s, OP_UID));
    if (!ops_is_null(s, OP_DATA_LENGTH))
        printf(" bytes %s", ops_value(s, OP_DATA_LENGTH));
    print_frames(s);
    putchar('\n');
    if (!fields)
        return;
    count = ops_bodies(s, bodies, is_result);
    for (int i = 0; i < count; i++)
        fields_text(stdout, &bodies[i]);
}
