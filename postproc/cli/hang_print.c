/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/hang_print.c
 *
 * Prints what hangs for people and as JSON (schemas/hang.schema.json).  The contract is in hang.h.
 */
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/hang.h"
#include "store/sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PORTS_MANY = 300 }; /* Linux takes reserved ports from 665 to 1023 */

static uint32_t shown(const struct hang_request *request, const struct hang *h)
{
    return h->count < request->top ? h->count : (uint32_t)request->top;
}

/* Calls |print| for each connection that is shown, with procedure, path and XID of its oldest
 * call. */
static int each(sqlite3 *db, const struct hang_request *request, const struct hang *h,
                void (*print)(void *ctx, const struct hang_connection *c, sqlite3_stmt *stmt),
                void *ctx, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(
        db,
        "SELECT (SELECT p.name FROM procedure p WHERE p.program = o.program"
        " AND p.version = o.version AND p.number = o.procedure),"
        " (SELECT p.text FROM path p WHERE p.id = o.path), o.xid FROM operation o WHERE o.id = ?",
        &stmt, err);

    for (uint32_t i = 0; result == 0 && i < shown(request, h); i++) {
        sqlite3_bind_int64(stmt, 1, h->list[i].oldest);
        result = sql_row(stmt, err);
        if (result > 0)
            print(ctx, &h->list[i], stmt);
        result = result < 0 ? result : 0;
        sqlite3_reset(stmt);
    }
    return sql_end(stmt, result, err);
}

struct context {
    const struct hang_request *request;
    const struct hang *hang;
    struct json *json;
};

static void text_evidence(const struct hang_connection *c)
{
    static const char *const sides[] = { "client", "server" };

    if (c->resent_calls)
        printf("  calls sent again: %" PRIu64 "\n", c->resent_calls);
    if (c->resent || c->resent_back)
        printf("  segments sent again: %" PRIu64 " by the client, %" PRIu64 " by the server\n",
               c->resent, c->resent_back);
    if (c->syns)
        printf("  attempts to connect: %" PRIu64 " (%" PRIu64 " SYNs), %" PRIu64
               " accepted, %" PRIu64 " refused, %" PRIu64 " from the same ports\n",
               c->attempts, c->syns, c->accepted, c->refused, c->reused);
    if (c->resets || c->closed)
        printf("  resets of the connection: %" PRIu64 ", FINs: %" PRIu64 "\n", c->resets,
               c->closed);
    for (int side = 0; side < 2; side++)
        if (c->shut[side])
            printf("  the window of the %s is closed\n", sides[side]);
    if (c->keep_alives)
        printf("  keep-alives and probes: %" PRIu64 "\n", c->keep_alives);
    if (c->ports >= PORTS_MANY)
        printf("  %s used %" PRIu64 " of 1,023 reserved ports in the minute before: few may be"
               " left\n",
               c->client, c->ports);
}

static void text_connection(void *ctx, const struct hang_connection *c, sqlite3_stmt *stmt)
{
    const struct context *x = ctx;
    const struct hang_request *request = x->request;
    const char *path = sql_column_text(stmt, 1), *procedure = sql_column_text(stmt, 0);
    char text[VALUE_TEXT_MAX], at[VALUE_TEXT_MAX];

    printf("%s port %d to %s port %d, %s: %" PRIu64 " %s, the oldest for %s\n", c->client,
           c->client_port, c->server, c->server_port, c->transport == 6 ? "TCP" : "UDP", c->calls,
           c->calls == 1 ? "call waits" : "calls wait",
           duration_text(request->at - c->called, text));
    printf("  oldest: %s ", procedure ? procedure : "-");
    escape_print(stdout, path ? path : "-");
    printf(", XID 0x%08llx, frame %" PRId64 ", %s\n",
           (unsigned long long)sqlite3_column_int64(stmt, 2), c->frame, time_text(c->called, at));
    if (c->last_reply != INT64_MIN)
        printf("  last reply on this connection %s before\n",
               duration_text(request->at - c->last_reply, text));
    text_evidence(c);
    if (x->hang->far)
        printf("  calls, as seen at the server: did not arrive: %" PRIu64 ", not answered: %" PRIu64
               ", answered: %" PRIu64 "\n",
               c->far.lost, c->far.held, c->far.answered);
    printf("  %s: %s\n\n", hang_verdict_name(c->verdict), hang_verdict_text(c->verdict));
}

static void text_match(const struct hang_match *m)
{
    char text[VALUE_TEXT_MAX];

    printf("%" PRIu64 " %s in both traces; the server's clock is %s %s", m->calls,
           m->calls == 1 ? "call is" : "calls are",
           duration_text(m->offset < 0 ? -m->offset : m->offset, text),
           m->offset < 0 ? "behind" : "ahead");
    if (m->path < 0)
        puts(", and the clocks drift too much to tell how long the way takes");
    else
        printf(", and the way from one side to the other takes %s\n", duration_text(m->path, text));
}

int hang_text(sqlite3 *db, const struct hang_request *request, const struct hang *h,
              struct err *err)
{
    struct context x = { request, h, NULL };
    char text[VALUE_TEXT_MAX], way[VALUE_TEXT_MAX];

    if (h->chosen)
        printf("Nothing waits at the end.  This is %s, shortly before the reply that\n"
               "was waited for longest; --at TIME shows another point in time.\n\n",
               time_text(request->at, way));
    if (each(db, request, h, text_connection, &x, err) < 0)
        return -err->code;
    if (h->count > shown(request, h))
        printf("connections that are not shown: %" PRIu32 "; --top shows more\n",
               h->count - shown(request, h));
    printf("%" PRIu64 " call%s on %" PRIu32 " connection%s waited for %s or longer at %s\n",
           h->calls, h->calls == 1 ? "" : "s", h->count, h->count == 1 ? "" : "s",
           duration_text(request->age, text), time_text(request->at, way));
    if (h->others)
        printf("%" PRIu64 " other call%s waited that long at other times: --at \"%s\" shows the one"
               " that waited longest\n",
               h->others, h->others == 1 ? "" : "s", time_text(h->others_at, way));
    if (!h->count && request->at_text)
        puts("without --at, hang shows when the call waited that waited longest");
    else if (!h->count && h->longest >= 0)
        printf("nothing waited that long at any time; the longest wait for a reply was %s, from %s"
               " on\n--age TIME shows calls that waited less\n",
               duration_text(h->longest, text), time_text(h->longest_called, way));
    if (h->far)
        text_match(&h->match);
    if (h->holes)
        printf("gaps in the captures, which may hide replies: %" PRIu64 "\n", h->holes);
    return 0;
}

static void json_connection(void *ctx, const struct hang_connection *c, sqlite3_stmt *stmt)
{
    const struct context *x = ctx;
    struct json *j = x->json;

    json_object(j, NULL);
    json_text(j, "client", c->client);
    json_i64(j, "client_port", c->client_port);
    json_text(j, "server", c->server);
    json_i64(j, "server_port", c->server_port);
    json_text(j, "transport", c->transport == 6 ? "TCP" : "UDP");
    json_u64(j, "calls", c->calls);
    json_i64(j, "operation", c->oldest);
    json_i64(j, "called", c->called);
    json_i64(j, "age", x->request->at - c->called);
    json_i64(j, "source", c->source);
    json_i64(j, "frame", c->frame);
    json_i64(j, "xid", sqlite3_column_int64(stmt, 2));
    json_text(j, "procedure_name", sql_column_text(stmt, 0));
    json_text(j, "path", sql_column_text(stmt, 1));
    if (c->last_reply == INT64_MIN)
        json_null(j, "last_reply");
    else
        json_i64(j, "last_reply", c->last_reply);
    json_u64(j, "resent_calls", c->resent_calls);
    json_u64(j, "resent_segments", c->resent);
    json_u64(j, "resent_segments_back", c->resent_back);
    json_u64(j, "attempts", c->attempts);
    json_u64(j, "syns", c->syns);
    json_u64(j, "accepted", c->accepted);
    json_u64(j, "refused", c->refused);
    json_u64(j, "reused", c->reused);
    json_u64(j, "resets", c->resets);
    json_u64(j, "closed", c->closed);
    json_u64(j, "keep_alives", c->keep_alives);
    json_bool(j, "client_window_closed", c->shut[0]);
    json_bool(j, "server_window_closed", c->shut[1]);
    json_u64(j, "reserved_ports", c->ports);
    if (x->hang->far) {
        json_object(j, "at_server");
        json_u64(j, "not_arrived", c->far.lost);
        json_u64(j, "not_answered", c->far.held);
        json_u64(j, "answered", c->far.answered);
        json_object_end(j);
    } else {
        json_null(j, "at_server");
    }
    json_text(j, "verdict", hang_verdict_name(c->verdict));
    json_text(j, "text", hang_verdict_text(c->verdict));
    json_object_end(j);
}

int hang_json(sqlite3 *db, const char *name, const struct hang_request *request,
              const struct hang *h, struct err *err)
{
    struct json j = { .out = stdout, .indented = true };
    struct context x = { request, h, &j };

    json_object(&j, NULL);
    json_file(&j, "trace", name);
    json_i64(&j, "at", request->at);
    json_bool(&j, "chosen", h->chosen);
    json_u64(&j, "calls", h->calls);
    json_u64(&j, "connections", h->count);
    json_u64(&j, "gaps", h->holes);
    if (h->far) {
        json_object(&j, "both_sides");
        json_u64(&j, "calls", h->match.calls);
        json_i64(&j, "offset", h->match.offset);
        json_i64(&j, "way", h->match.path);
        json_object_end(&j);
    } else {
        json_null(&j, "both_sides");
    }
    json_array(&j, "waiting");
    if (each(db, request, h, json_connection, &x, err) < 0)
        return -err->code;
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    return j.failed ? err_memory(err, "connections") : 0;
}
