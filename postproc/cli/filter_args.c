/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/filter_args.h"
#include "base/values.h"
#include "cli/cli.h"
#include "store/moment.h"
#include "store/sql.h"

#include <stdio.h>
#include <string.h>

/* Long: it is the table of options. */
void filter_arg_table(struct filter *f, struct arg table[FILTER_ARG_COUNT])
{
    const struct arg rows[] = {
        { 0, "client", "ADDRESS", "only operations of this client", set_text, &f->client },
        { 0, "server", "ADDRESS", "only operations of this server", set_text, &f->server },
        { 0, "path", "PREFIX",
          "only operations whose path begins with PREFIX: /d\n"
          "has /d and /d2, and /d/ only what is in /d",
          set_text, &f->path },
        { 'O', "object", "N",
          "only operations that use object N or change its\n"
          "names",
          set_count, &f->object },
        { 0, "uid", "N", "only operations of callers with this uid", set_count, &f->uid },
        { 'P', "procedure", "NAME|N", "only operations of this procedure: READ, 6, ...", set_text,
          &f->procedure },
        { 'g', "program", "NAME|N",
          "only operations of this program: NFS, NFSACL,\n"
          "MOUNT, PORTMAP, RPCBIND, NLM or a number",
          set_text, &f->program },
        { 'S', "status", "STATUS",
          "only operations with this status: ok, error, a\n"
          "name (NFS3ERR_NOENT, NOENT or ENOENT, or of RPC:\n"
          "PROG_UNAVAIL) or a number",
          set_text, &f->status },
        { 'f', "from", "TIME",
          "only operations called at this time or later:\n"
          "10:03, 10:03:20.5 in UTC, +5m (after the first\n"
          "packet), -30s (before the last one), 2026-11-21\n"
          "05:48:01.5 or seconds since 1970",
          set_text, &f->from },
        { 't', "to", "TIME", "only operations called before this time", set_text, &f->to },
        { 0, "phase", "NAME",
          "only operations in phases of this name, which\n"
          "clients marked (nfsdigest phase)",
          set_text, &f->phase },
        { 0, "min-latency", "TIME",
          "only operations answered after this long or\n"
          "longer: 1.5ms, 2s; a number alone is in seconds",
          set_duration, &f->min_latency },
        { 0, "max-latency", "TIME", "only operations answered within this time", set_duration,
          &f->max_latency },
        { 'x', "xid", "N", "only operations with this XID (0x...: hexadecimal)", set_count,
          &f->xid },
        { 'F', "frame", "N",
          "only operations seen in this frame, also as a\n"
          "retransmission or copy",
          set_count, &f->frame },
        { 0, "source", "N", "only operations called or answered in this source", set_count,
          &f->source },
        { 'u', "unpaired", NULL, "only operations without reply or without call", set_flag,
          &f->unpaired },
        { 0, "retransmitted", NULL, "only operations whose call or reply was sent again", set_flag,
          &f->retransmitted },
        { 0 },
    };

    _Static_assert(sizeof(rows) / sizeof(*rows) == FILTER_ARG_COUNT, "the table has all rows");
    memcpy(table, rows, sizeof(rows));
}

/* The value of an option that was given, as text, or NULL. */
static const char *given(const struct arg *row, char text[VALUE_TEXT_MAX])
{
    if (row->set == set_text)
        return *(const char *const *)row->to;
    if (row->set == set_flag)
        return *(const bool *)row->to ? "" : NULL;
    if (row->set == set_duration)
        return *(const int64_t *)row->to == INT64_MIN
                   ? NULL
                   : duration_text(*(const int64_t *)row->to, text);
    if (*(const uint64_t *)row->to == UINT64_MAX)
        return NULL;
    snprintf(text, VALUE_TEXT_MAX, "%llu", (unsigned long long)*(const uint64_t *)row->to);
    return text;
}

void filter_arg_words(struct filter *filter, char *text, size_t size)
{
    struct arg rows[FILTER_ARG_COUNT];
    char number[VALUE_TEXT_MAX];
    size_t at = 0;

    *text = '\0';
    filter_arg_table(filter, rows);
    for (const struct arg *row = rows; row->name; row++) {
        const char *value = given(row, number);

        if (value && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s--%s%s%s", at ? " " : "", row->name,
                                   *value ? " " : "", value);
    }
}

/* Returns 1 if the trace has no such client; |text| is then what it has. */
static int no_such_client(sqlite3 *db, const char *client, char *text, size_t size, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(db, "SELECT DISTINCT client FROM flow ORDER BY client", &stmt, err);
    size_t len = 0, count = 0;
    bool found = false;

    if (result < 0)
        return result;
    while ((result = sql_row(stmt, err)) > 0) {
        const char *address = sql_column_text(stmt, 0);

        found |= strcmp(address, client) == 0;
        if (count++ < 5)
            len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "", address);
    }
    if (count > 5)
        snprintf(text + len, size - len, " and %zu more", count - 5);
    result = sql_end(stmt, result, err);
    return result < 0 ? result : !found && count;
}

int filter_say_none(sqlite3 *db, const struct filter *f, struct err *err)
{
    char clients[512], text[640], a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];
    struct moment_span span;
    int result = f->client ? no_such_client(db, f->client, clients, sizeof(clients), err) : 0;

    if (result < 0 || moment_span_read(db, &span, err) < 0)
        return -err->code;
    if (result)
        snprintf(text, sizeof(text), "no operation matches; the clients of the trace are %s",
                 clients);
    else if ((f->from || f->to) && span.known)
        snprintf(text, sizeof(text), "no operation matches; the trace is from %s to %s UTC",
                 time_text(span.first, a), time_text(span.last, b));
    else
        snprintf(text, sizeof(text), "no operation matches");
    say(text);
    return 0;
}
