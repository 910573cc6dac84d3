/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/session.c
 *
 * Opening a dump and its targets.  See session.h.
 */
#include "replay/session.h"

#include <stdio.h>
#include <unistd.h>

static const int64_t timeout_of_questions = INT64_C(10000000000);

/* --- which target stands for which server */

/* Lists the servers for a message. */
static void servers_text(const struct script *s, char *text, size_t size)
{
    size_t len = 0;

    text[0] = 0;
    for (uint32_t n = 1; n <= s->host_count && len < size; n++)
        if (s->hosts[n].is_server)
            len += (size_t)snprintf(text + len, size - len, "%s%.*s", len ? ", " : "",
                                    (int)s->hosts[n].address.len,
                                    (const char *)s->hosts[n].address.data);
}

static int find_server(const struct session *s, const struct replay_target *wanted,
                       uint32_t *server, struct err *err)
{
    const struct script *script = &s->script;
    uint32_t found = 0, count = 0;
    char servers[256];

    for (uint32_t n = 1; n <= script->host_count; n++) {
        const struct script_host *h = &script->hosts[n];

        if (!h->is_server)
            continue;
        count++;
        if (!wanted->server || (h->address.len == wanted->server_len &&
                                memcmp(h->address.data, wanted->server, h->address.len) == 0))
            found = n;
    }
    *server = found;
    servers_text(script, servers, sizeof(servers));
    if (!wanted->server && count > 1)
        return err_set(err, ERR_USAGE, "the dump has %u servers: say SERVER=TARGET for each of %s",
                       count, servers);
    if (!found && wanted->server)
        return err_set(err, ERR_USAGE, "%.*s is not a server of the dump; it has %s",
                       (int)wanted->server_len, wanted->server, servers);
    if (!found)
        return err_set(err, ERR_INPUT, "%s: there is no object in its tree", script->path);
    return 0;
}

static bool is_same_export(const struct session_target *a, const struct session_target *b)
{
    return net_address_equal(&a->target.nfs, &b->target.nfs) &&
           strcmp(a->target.address.path, b->target.address.path) == 0;
}

static int open_target(struct session *s, const struct replay_target *wanted, struct err *err)
{
    const struct replay_options *o = s->options;
    struct session_target *t = &s->targets[s->target_count];
    struct target_setup setup = { .text = wanted->address,
                                  .udp = o->udp,
                                  .ports = o->privileged ? SOURCE_PORT_PRIVILEGED : SOURCE_PORT_ANY,
                                  .timeout = timeout_of_questions };
    struct pipeline_setup pipeline = { .loop = s->loop, .target = &t->target, .connections = 1 };
    int result = find_server(s, wanted, &t->target.server, err);

    t->text = wanted->address;
    if (result == 0)
        result = target_open(s->loop, &setup, &t->target, err);
    if (result < 0)
        return result;
    s->target_count++;
    for (uint32_t i = 0; i + 1 < s->target_count; i++)
        if (s->targets[i].target.server == t->target.server || is_same_export(&s->targets[i], t))
            return err_set(err, ERR_USAGE, "%s and %s: each server needs a target of its own",
                           s->targets[i].text, t->text);
    result = plan_make(&t->plan, &s->script, t->target.server, err);
    if (result == 0 && !(t->pipeline = pipeline_new(&pipeline, err)))
        result = -err->code;
    if (result == 0)
        result = marker_find(t->pipeline, &t->target, &t->place, err);
    return result < 0 ? err_prefix(err, "%s", t->target.address.path) : 0;
}

int session_open(struct session *s, const struct replay_options *options, struct err *err)
{
    int result;

    *s = (struct session){ .options = options };
    s->terminal = !options->quiet && isatty(STDERR_FILENO);
    s->begun = loop_clock();
    s->loop = loop_new(err);
    result = s->loop ? script_open(&s->script, options->dump, err) : -err->code;
    if (result == 0)
        result = loop_take_signals(s->loop, err);
    for (uint32_t i = 0; i < options->target_count && result == 0; i++)
        result = open_target(s, &options->targets[i], err);
    return result;
}

void session_close(struct session *s)
{
    for (uint32_t i = 0; i < REPLAY_TARGETS_MAX; i++) {
        pipeline_free(s->targets[i].pipeline);
        plan_free(&s->targets[i].plan);
    }
    script_close(&s->script);
    loop_free(s->loop);
}

bool session_interrupted(const struct session *s)
{
    return s->loop && loop_signal(s->loop) != 0;
}

void session_progress(const struct session *s, const char *text)
{
    if (!s->terminal)
        return;
    fprintf(stderr, "\r\033[K%s", text ? text : "");
    fflush(stderr);
}

bool session_is_ours(const struct session *s, const struct session_target *t)
{
    const struct marker *m = &t->place.marker;

    /* a marker that was made, and not written, is of a run that had just begun */
    return m->state != MARKER_NONE &&
           (m->identity == s->script.identity || (m->state == MARKER_MAKING && !m->contents[0]));
}
