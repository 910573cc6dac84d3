/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/session.c
 *
 * Opening dumps and their targets.  See session.h.
 */
#include "replay/session.h"
#include "recorder/recorder.h"
#include "replay/operands.h"
#include "replay/recording.h"
#include "show/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int64_t timeout_of_questions = INT64_C(10000000000);

/* --- which target stands for which server */

/* Lists the servers for a message. */
static const char *servers_text(const struct script *s, char text[256])
{
    size_t len = 0;

    text[0] = 0;
    for (uint32_t n = 1; n <= s->host_count && len < 256; n++)
        if (s->hosts[n].is_server)
            len += (size_t)snprintf(text + len, 256 - len, "%s%.*s", len ? ", " : "",
                                    (int)s->hosts[n].address.len,
                                    (const char *)s->hosts[n].address.data);
    return text;
}

/* The server of the dump that the target stands for; 0: none. */
static int find_server(const struct script *script, const struct replay_target *wanted,
                       uint32_t *server, struct err *err)
{
    uint32_t count = 0;
    char servers[256];

    *server = 0;
    for (uint32_t n = 1; n <= script->host_count; n++) {
        const struct script_host *h = &script->hosts[n];

        if (!h->is_server)
            continue;
        count++;
        if (!wanted->server || (h->address.len == wanted->server_len &&
                                memcmp(h->address.data, wanted->server, h->address.len) == 0))
            *server = n;
    }
    if (!count)
        return err_set(err, ERR_INPUT, "%s: there is no object in its tree", script->path);
    if (!wanted->server && count > 1)
        return err_set(err, ERR_USAGE, "%s has %u servers: say SERVER=TARGET for each of %s",
                       script->path, count, servers_text(script, servers));
    return 0;
}

/* Gives the dump its part of |s->targets|.  |used|: by target of the command line. */
static int assign(struct session *s, struct session_dump *d, bool *used, struct err *err)
{
    const struct replay_options *o = s->options;
    char servers[256];

    d->targets = &s->targets[s->target_count];
    for (uint32_t i = 0; i < o->target_count; i++) {
        struct session_target *t = &s->targets[s->target_count];
        uint32_t server;

        if (find_server(&d->script, &o->targets[i], &server, err) < 0)
            return -err->code;
        if (!server)
            continue;
        for (uint32_t k = 0; k < d->target_count; k++)
            if (d->targets[k].target.server == server)
                return err_set(err, ERR_USAGE, "%s and %s: each server needs a target of its own",
                               o->targets[d->targets[k].index].address, o->targets[i].address);
        *t = (struct session_target){ .dump = d, .index = i, .target = { .server = server } };
        s->target_count++;
        d->target_count++;
        used[i] = true;
    }
    if (!d->target_count)
        return err_set(err, ERR_USAGE, "no target is for a server of %s; it has %s", d->path,
                       servers_text(&d->script, servers));
    return 0;
}

static int assign_all(struct session *s, struct err *err)
{
    const struct replay_options *o = s->options;
    bool used[REPLAY_TARGETS_MAX] = { false };
    char servers[256];
    int result = 0;

    s->targets = calloc((size_t)s->dump_count * o->target_count, sizeof(*s->targets));
    if (!s->targets)
        return err_memory(err, "targets");
    for (uint32_t i = 0; i < s->dump_count && result == 0; i++)
        result = assign(s, &s->dumps[i], used, err);
    for (uint32_t i = 0; i < o->target_count && result == 0; i++)
        if (!used[i])
            result = err_set(err, ERR_USAGE, "%.*s is not a server of %s; it has %s",
                             (int)o->targets[i].server_len, o->targets[i].server,
                             s->dumps[s->dump_count - 1].path,
                             servers_text(&s->dumps[s->dump_count - 1].script, servers));
    return result;
}

/* --- dumps */

/* The name of the directory of a dump: its file's, without .rdump, and the copy's number. */
static void name_directory(const struct session *s, struct session_dump *d, uint32_t copy)
{
    static const char suffix[] = ".rdump";
    const struct replay_options *o = s->options;
    const char *slash = strrchr(d->path, '/'), *name = slash ? slash + 1 : d->path;
    size_t len = strlen(name), end = sizeof(suffix) - 1;
    char wanted[SESSION_DIRECTORY - 16];
    bool taken = o->dump_count > 1 || o->copies > 1;

    if (len > end && name[0] != '.' && strcmp(name + len - end, suffix) == 0)
        len -= end;
    len = len < 200 ? len : 200;
    if (o->dump_count == 1)
        len = 0;
    snprintf(wanted, sizeof(wanted), "%.*s", (int)len, name);
    if (o->copies > 1)
        snprintf(wanted + len, sizeof(wanted) - len, "%scopy-%u", len ? "-" : "", copy + 1);
    snprintf(d->directory, sizeof(d->directory), "%s", taken ? wanted : "");
    for (uint32_t n = 2; taken; n++) {
        taken = false;
        for (const struct session_dump *other = s->dumps; other < d; other++)
            taken |= strcmp(other->directory, d->directory) == 0;
        if (taken)
            snprintf(d->directory, sizeof(d->directory), "%s-%u", wanted, n);
    }
}

static int open_dump(struct session *s, const struct replay_dump *dump, uint32_t copy,
                     struct err *err)
{
    uint32_t index = s->dump_count++;
    struct session_dump *d = &s->dumps[index];

    d->path = dump->path;
    d->delay = operands_delay(s->options, dump, index);
    name_directory(s, d, copy);
    if (script_open(&d->script, d->path, err) < 0)
        return -err->code;
    if (s->options->rules && !d->script.trace.results)
        return err_set(err, ERR_USAGE,
                       "%s has no results, so rules cannot be applied: \"nfsdigest rdump "
                       "--with-results\" makes a dump that has them",
                       d->path);
    if (index)
        d->first_copy =
            d[-1].first_copy + (d[-1].script.trace.copies ? d[-1].script.trace.copies : 1);
    if (d->script.is_pipe && (s->options->copies > 1 || s->options->rounds > 1))
        return err_set(err, ERR_USAGE, "%s is a pipe, and %s read the dump several times", d->path,
                       s->options->copies > 1 ? "copies" : "rounds");
    return 0;
}

static int open_dumps(struct session *s, struct err *err)
{
    const struct replay_options *o = s->options;
    int result = 0;

    s->dumps = calloc(o->dump_count * o->copies, sizeof(*s->dumps));
    if (!s->dumps)
        return err_memory(err, "dumps");
    for (uint32_t i = 0; i < o->dump_count; i++)
        for (uint32_t copy = 0; copy < o->copies && result == 0; copy++)
            result = open_dump(s, &o->dumps[i], copy, err);
    return result;
}

int session_survey(struct session *s, bool whole, struct err *err)
{
    for (uint32_t i = 0; i < s->dump_count; i++) {
        struct session_dump *d = &s->dumps[i];

        if (i % s->options->copies)
            d->survey = s->dumps[i - 1].survey;
        else if (survey_dump(&d->script, &d->survey, err) < 0)
            return -err->code;
        if (whole && d->survey.damaged)
            return err_set(err, ERR_INPUT, "%s: --partial plays what stands before",
                           d->survey.damage);
    }
    return 0;
}

/* --- targets */

static int open_server(struct session *s, uint32_t index, struct err *err)
{
    const struct replay_options *o = s->options;
    struct session_server *server = &s->servers[index];
    struct target_setup setup = { .text = o->targets[index].address,
                                  .udp = o->udp,
                                  .ports = o->privileged ? SOURCE_PORT_PRIVILEGED : SOURCE_PORT_ANY,
                                  .timeout = timeout_of_questions,
                                  .message = s->recorder ? recording_put_rpc : NULL,
                                  .message_ctx = s->recorder };
    struct pipeline_setup pipeline = { .loop = s->loop,
                                       .target = &server->target,
                                       .connections = 1 };
    int result = target_open(s->loop, &setup, &server->target, err);

    if (result == 0 && !(server->pipeline = pipeline_new(&pipeline, err)))
        result = -err->code;
    return result;
}

static int find_directory(struct session_target *t, struct err *err)
{
    char text[32];
    int result;

    t->directory.len = 0;
    if (!t->directory.name[0])
        return 0;
    t->target.root_len = 0;
    result = marker_look_up(t->pipeline, &t->directory, err);
    if (result > 0 && result != NFS3ERR_NOENT)
        return err_set(err, ERR_INPUT, "looking for it: %s",
                       pipeline_status((uint32_t)result, text));
    if (result == 0) {
        memcpy(t->target.root, t->directory.handle, t->directory.len);
        t->target.root_len = t->directory.len;
    }
    return result < 0 ? result : 0;
}

int session_look(struct session_target *t, struct err *err)
{
    int result = find_directory(t, err);

    t->place = (struct marker_place){ .marker = { .state = MARKER_NONE } };
    if (result == 0 && t->target.root_len)
        result = marker_find(t->pipeline, &t->target, &t->place, err);
    return result < 0 ? err_prefix(err, "%s", t->where) : 0;
}

static bool is_same_export(const struct session_target *a, const struct session_target *b)
{
    return net_address_equal(&a->target.nfs, &b->target.nfs) &&
           strcmp(a->target.address.path, b->target.address.path) == 0;
}

/* What a marker says of the tree: which dump it is of, and which server if the dump has several. */
static uint64_t tree_identity(const struct script *script, uint32_t server)
{
    uint32_t servers = 0;

    for (uint32_t n = 1; n <= script->host_count; n++)
        servers += script->hosts[n].is_server;
    return script->identity ^ (servers > 1 ? server * UINT64_C(0x9e3779b97f4a7c15) : 0);
}

static int open_target(struct session *s, struct session_target *t, struct err *err)
{
    const struct session_server *server = &s->servers[t->index];
    const char *address = s->options->targets[t->index].address, *directory = t->dump->directory;
    uint32_t number = t->target.server;

    t->target = server->target;
    t->target.server = number;
    t->pipeline = server->pipeline;
    t->identity = tree_identity(&t->dump->script, number);
    t->directory = (struct marker_directory){
        .parent = { server->target.root, server->target.root_len }, .name = directory, .mode = 0755
    };
    snprintf(t->text, sizeof(t->text), "%s%s%s%s", address, directory[0] ? " (" : "", directory,
             directory[0] ? ")" : "");
    snprintf(t->where, sizeof(t->where), "%s%s%s", server->target.address.path,
             directory[0] ? "/" : "", directory);
    for (const struct session_target *other = t->dump->targets; other < t; other++)
        if (is_same_export(other, t))
            return err_set(err, ERR_USAGE, "%s and %s: each server needs a target of its own",
                           other->text, t->text);
    if (plan_make(&t->plan, &t->dump->script, number, err) < 0)
        return err_prefix(err, "%s", t->where);
    return session_look(t, err);
}

/* --- directories of dumps */

int session_make_directory(struct session_target *t, struct err *err)
{
    int result = 0;

    if (!t->directory.name[0] || t->target.root_len)
        return 0;
    result = marker_make_directory(t->pipeline, &t->directory, err);
    if (result == 0) {
        memcpy(t->target.root, t->directory.handle, t->directory.len);
        t->target.root_len = t->directory.len;
    }
    return result;
}

int session_remove_directory(struct session_target *t, struct err *err)
{
    const char *name = t->directory.name;
    struct REMOVE3args args = { { t->directory.parent,
                                  { (const uint8_t *)name, (uint32_t)strlen(name) } } };
    struct REMOVE3res res;
    char text[32];
    int result;

    if (!name[0] || !t->target.root_len)
        return 0;
    result = pipeline_ask(t->pipeline, NFS3_RMDIR, &args, &res, err);
    if (result == NFS3ERR_NOTEMPTY || result == NFS3ERR_EXIST)
        return 0;
    if (result > 0 && result != NFS3ERR_NOENT)
        return err_set(err, ERR_INPUT, "RMDIR of \"%s\": %s", name,
                       pipeline_status((uint32_t)result, text));
    if (result >= 0)
        t->target.root_len = 0;
    return result < 0 ? result : 0;
}

/* --- all of it */

int session_open(struct session *s, const struct replay_options *options, struct err *err)
{
    int result;

    *s = (struct session){ .options = options };
    s->terminal = !options->quiet && isatty(STDERR_FILENO);
    s->begun = loop_clock();
    s->loop = loop_new(err);
    if (options->record && !(s->recorder = recorder_new(options->record, err)))
        return -err->code;
    result = s->loop ? open_dumps(s, err) : -err->code;
    if (result == 0)
        result = assign_all(s, err);
    if (result == 0)
        result = loop_take_signals(s->loop, err);
    for (uint32_t i = 0; i < options->target_count && result == 0; i++)
        result = open_server(s, i, err);
    for (uint32_t i = 0; i < s->target_count && result == 0; i++)
        result = open_target(s, &s->targets[i], err);
    return result;
}

void session_close(struct session *s)
{
    for (uint32_t i = 0; i < s->target_count; i++)
        plan_free(&s->targets[i].plan);
    for (uint32_t i = 0; i < REPLAY_TARGETS_MAX; i++)
        pipeline_free(s->servers[i].pipeline);
    for (uint32_t i = 0; i < s->dump_count; i++)
        script_close(&s->dumps[i].script);
    free(s->targets);
    free(s->dumps);
    loop_free(s->loop);
    recorder_free(s->recorder);
}

int session_end_recording(struct session *s, struct err *err)
{
    struct recorder *recorder = s->recorder;

    s->recorder = NULL;
    return recorder_end(recorder, err);
}

bool session_interrupted(const struct session *s)
{
    return s->loop && loop_signal(s->loop) != 0;
}

bool session_cut_off(const struct session *s, int result)
{
    return result == -ERR_SYSTEM && session_interrupted(s);
}

void session_progress(const struct session *s, const char *text)
{
    if (!s->terminal)
        return;
    lines_again(stderr, 0);
    lines_cut(stderr, true);
    fputs(text ? text : "", stderr);
    lines_cut(stderr, false);
    fflush(stderr);
}

bool session_is_ours(const struct session_target *t)
{
    const struct marker *m = &t->place.marker;

    /* a marker that was made, and not written, is of a run that had just begun */
    return m->state != MARKER_NONE &&
           (m->identity == t->identity || (m->state == MARKER_MAKING && !m->contents[0]));
}
