/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/teelog/groups.c
 *
 * Differences by kind, procedure and field, with the first example of each; and all that is known
 * as one JSON object, for DIR/summary.json and for programs that show it.
 */
#include "base/json.h"
#include "teelog/teelog_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const kind_names[KIND_MAX] = {
    [KIND_RPC] = "rpc",
    [KIND_REPLY] = "missing reply",
    [KIND_STATUS] = "status",
    [KIND_VALUE] = "value",
    [KIND_PRESENCE] = "presence",
    [KIND_TIME] = "time",
    [KIND_ORDER] = "order",
    [KIND_ENTRY] = "entry",
    [KIND_PATTERN] = "pattern",
    [KIND_COUNT] = "count",
    [KIND_RETRANSMISSION] = "retransmissions",
    [KIND_DISCONNECT] = "disconnects",
    [KIND_MALFORMED] = "malformed",
    [KIND_OTHER_REPLIES] = "other replies",
};

static const char *const reason_names[WITHHELD_MAX] = {
    [WITHHELD_OVERLAP] = "overlap",
    [WITHHELD_CONFLICT] = "conflict",
    [WITHHELD_ONE_SIDED] = "one-sided change",
    [WITHHELD_ORDER] = "other changes",
    [WITHHELD_OUTCOME] = "different outcome",
    [WITHHELD_LISTING] = "incomplete listing",
    [WITHHELD_CHANGING] = "changing listing",
    [WITHHELD_STATUS] = "different status",
    [WITHHELD_LENGTH] = "different length",
    [WITHHELD_VERIFIER] = "verifier",
    [WITHHELD_READ] = "other reads",
    [WITHHELD_CUT] = "not captured",
    [WITHHELD_NO_REPLY] = "no reply",
    [WITHHELD_LOST] = "reply lost",
    [WITHHELD_NOT_SAME] = "not synchronized",
};

/* --- groups */

static void example(struct teelog *log, struct teelog_group *g, const struct difference *d)
{
    struct buf path = { 0 };
    uint32_t object =
        d->object && d->object <= log->rows.count ? log->rows.rows[d->object].object : 0;

    g->time = log->pair.half[REF].call_time;
    for (int side = 0; side < SIDES; side++)
        snprintf(g->text[side], sizeof(g->text[side]), "%s", d->text[side] ? d->text[side] : "");
    if (object && log->host.path_of && log->host.path_of(log->host.ctx, object, &path) == 0)
        snprintf(g->path, sizeof(g->path), "%.*s", (int)path.len,
                 path.data ? (const char *)path.data : "");
    buf_free(&path);
}

void tee_group_add(struct teelog *log, const struct difference *d)
{
    const struct procedure *procedure = log->pair.half[REF].effect.procedure;
    const char *field = d->place ? d->place->path : d->field;
    struct teelog_group *g = log->groups;
    uint32_t i = 0;

    field = field ? field : "";
    for (; i < log->group_count; i++, g++)
        if (g->kind == d->kind && g->procedure == procedure && g->scrubs == log->scrubs &&
            strncmp(g->field, field, sizeof(g->field) - 1) == 0 &&
            strncmp(g->what, d->what ? d->what : "", sizeof(g->what) - 1) == 0)
            break;
    if (i == TEELOG_GROUPS) {
        log->further++;
        return;
    }
    if (i == log->group_count) {
        *g = (struct teelog_group){ .kind = (uint8_t)d->kind,
                                    .procedure = procedure,
                                    .scrubs = log->scrubs };
        snprintf(g->field, sizeof(g->field), "%s", field);
        snprintf(g->what, sizeof(g->what), "%s", d->what ? d->what : "");
        example(log, g, d);
        log->group_count++;
        tee_command(log, i);
    }
    g->count++;
}

void tee_groups_logged(struct teelog *log, uint64_t number)
{
    for (uint32_t i = log->known_groups; i < log->group_count; i++)
        log->groups[i].pair = number;
}

const char *teelog_kind_name(int kind)
{
    return kind_names[kind];
}

const char *teelog_reason_name(int reason)
{
    return reason_names[reason] ? reason_names[reason] : "other";
}

const struct teelog_group *teelog_groups(const struct teelog *log, uint32_t *count,
                                         uint64_t *further)
{
    *count = log->group_count;
    *further = log->further;
    return log->groups;
}

/* --- JSON */

void teelog_group_json(const struct teelog_group *g, struct json *j)
{
    json_object(j, NULL);
    json_text(j, "kind", kind_names[g->kind]);
    json_text(j, "operation", g->procedure ? g->procedure->name : NULL);
    json_text(j, "found_by", g->scrubs ? "scrub" : "clients");
    json_text(j, "field", g->field);
    json_name(j, "difference",
              (struct bytes){ (const uint8_t *)g->what, (uint32_t)strlen(g->what) });
    json_u64(j, "count", g->count);
    json_object(j, "first");
    json_i64(j, "time", g->time);
    json_u64(j, "pair", g->pair);
    json_name(j, "path", (struct bytes){ (const uint8_t *)g->path, (uint32_t)strlen(g->path) });
    for (int side = 0; side < SIDES; side++)
        json_name(
            j, side == REF ? "reference" : "sut",
            (struct bytes){ (const uint8_t *)g->text[side], (uint32_t)strlen(g->text[side]) });
    json_object_end(j);
    json_object_end(j);
}

static void put_groups(struct json *j, const struct teelog *log)
{
    json_array(j, "groups");
    for (uint32_t i = 0; i < log->group_count; i++)
        teelog_group_json(&log->groups[i], j);
    json_array_end(j);
}

static void put_members(struct json *j, const struct teelog *log)
{
    const struct teelog_counts *c = &log->counts;
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        { "pairs", c->pairs },
        { "agree", c->agree },
        { "differ", c->differ },
        { "withheld", c->withheld },
        { "unanswered", c->unanswered },
        { "scrubbed", c->scrubbed },
        { "scrubs_differ", c->scrubs_differ },
        { "logged", c->logged },
        { "not_logged", c->not_logged },
        { "log_bytes", c->log_bytes },
        { "objects", c->objects },
        { "objects_forgotten", c->forgotten },
        { "listings_left", c->listings_left },
        { "commands", c->commands },
        { "commands_left", c->commands_left },
        { "other_differences", log->further },
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        json_u64(j, numbers[i].name, numbers[i].value);
    json_text(j, "log_error", log->log_err.code ? log->log_err.text : NULL);
    json_object(j, "differences");
    for (int kind = 0; kind < KIND_MAX; kind++)
        if (c->differences[kind])
            json_u64(j, kind_names[kind], c->differences[kind]);
    json_object_end(j);
    json_object(j, "withheld_values");
    for (int reason = 0; reason < WITHHELD_MAX; reason++)
        if (c->withheld_values[reason])
            json_u64(j, teelog_reason_name(reason), c->withheld_values[reason]);
    json_object_end(j);
    put_groups(j, log);
}

int teelog_json(const struct teelog *log, struct buf *to)
{
    struct json j = { .to = to };

    json_object(&j, NULL);
    put_members(&j, log);
    json_object_end(&j);
    return j.failed ? -ERR_SYSTEM : 0;
}

static int write_file(const char *path, const struct buf *text, struct err *err)
{
    FILE *file = fopen(path, "we");
    bool bad = !file || fwrite(text->data, 1, text->len, file) != text->len;
    int cause = errno;

    if (file && fclose(file) != 0 && !bad) {
        bad = true;
        cause = errno;
    }
    return bad ? err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(cause)) : 0;
}

int tee_summary_write(struct teelog *log, struct err *err)
{
    char path[4096], temporary[4096 + 8];
    struct buf text = { 0 };
    int result = teelog_json(log, &text);

    if (result == 0 && log->append) {
        text.len--; /* the closing brace */
        result = log->append(log->append_ctx, &text) < 0 || buf_append(&text, "}", 1) < 0
                     ? -ERR_SYSTEM
                     : 0;
    }
    if (result == 0 && buf_append(&text, "\n", 1) < 0)
        result = -ERR_SYSTEM;
    snprintf(path, sizeof(path), "%s/summary.json", log->dir);
    snprintf(temporary, sizeof(temporary), "%s.new", path);
    if (result < 0)
        result = err_memory(err, "a summary");
    else
        result = write_file(temporary, &text, err);
    if (result == 0 && rename(temporary, path) < 0)
        result = err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (result < 0)
        unlink(temporary); /* a full disk leaves a part of it; the older summary stays */
    buf_free(&text);
    return result;
}
