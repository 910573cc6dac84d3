/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/source.h"
#include "capture/capture.h"
#include "flow/message.h"

#include <stdlib.h>

struct source {
    struct input *input;
    struct capture *capture;
    struct engine *engine;
    struct source_hooks hooks;
    struct source_counts counts;
    struct audit_message *first, **last; /* found, not yet asked for */
    bool ended;
    struct err note; /* why the file was cut */
};

static void read_header(struct audit_message *m, const struct engine_tapped *t)
{
    enum rpc_result result = rpc_parse(m->data, m->cap_len, m->wire_len, &m->header);

    m->header_cut = result != RPC_OK;
    m->is_call = m->header.direction == RPC_CALL;
    m->procedure = m->header_cut ? NULL : t->procedure;
    if (!m->header_cut && !m->is_call && t->credential)
        rpc_reply_in_clear(m->data, m->cap_len, t->credential, &m->header);
    if (m->header.body_protected)
        m->procedure = NULL;
}

static int on_tapped(void *ctx, const struct engine_tapped *t, struct err *err)
{
    struct source *s = ctx;
    const struct message *from = t->message;
    struct audit_message *m;
    unsigned client;

    if (t->event == TAP_UNREAD)
        s->counts.unread++;
    if (t->event == TAP_OVER && s->hooks.over)
        return s->hooks.over(s->hooks.ctx, t->over, err);
    if (t->event != TAP_MESSAGE)
        return 0;
    m = calloc(1, sizeof(*m) + from->cap_len);
    if (!m)
        return err_set(err, ERR_SYSTEM, "out of memory for a message");
    m->frame = from->frame;
    m->first_frame = from->first_frame;
    m->time = from->time;
    m->cap_len = from->cap_len;
    m->wire_len = from->wire_len;
    m->transport = from->flow->transport;
    memcpy(m->data, from->data, from->cap_len);
    read_header(m, t);
    client = m->is_call ? from->side : !from->side;
    for (unsigned i = 0; i < 2; i++) {
        m->address[i] = from->flow->address[i ? !client : client];
        m->port[i] = from->flow->port[i ? !client : client];
    }
    *(m->is_call ? &s->counts.calls : &s->counts.replies) += 1;
    *s->last = m;
    s->last = &m->next;
    return 0;
}

static int on_record(void *ctx, const struct record *record, struct err *err)
{
    struct source *s = ctx;
    char name[128];
    uint32_t len;

    if (record->kind == RECORD_PROBLEM) {
        s->counts.not_rpc += record->problem.problem == PROBLEM_NOT_RPC;
        s->counts.skipped += record->problem.problem == PROBLEM_SKIPPED ||
                                     record->problem.problem == PROBLEM_UNDECIDED
                                 ? record->problem.length
                                 : 0;
        s->counts.lost += record->problem.problem == PROBLEM_HOLE ? record->problem.length : 0;
    }
    len = record->kind == RECORD_COUNTER ? record->counter.name.len : 0;
    if (record->kind != RECORD_COUNTER || !s->hooks.counter || len >= sizeof(name))
        return 0;
    memcpy(name, record->counter.name.data, len);
    name[len] = '\0';
    return s->hooks.counter(s->hooks.ctx, name, record->counter.value, err);
}

struct source *source_open(const char *path, const struct engine_options *options,
                           const struct source_hooks *hooks, struct err *err)
{
    struct source *s = calloc(1, sizeof(*s));
    struct engine_options engine = { 0 };
    struct sink sink = { on_record, s };

    if (!s) {
        err_set(err, ERR_SYSTEM, "out of memory");
        return NULL;
    }
    if (options)
        engine = *options;
    engine.messages_only = true;
    if (hooks)
        s->hooks = *hooks;
    s->last = &s->first;
    s->input = input_open(path, false, err);
    s->capture = s->input ? capture_open(s->input, err) : NULL;
    s->engine = s->capture ? engine_new(&engine, &sink, NULL, err) : NULL;
    if (!s->engine) {
        source_close(s);
        return NULL;
    }
    engine_set_tap(s->engine, on_tapped, s);
    return s;
}

void source_close(struct source *s)
{
    if (!s)
        return;
    while (s->first) {
        struct audit_message *m = s->first;

        s->first = m->next;
        free(m);
    }
    engine_free(s->engine);
    capture_close(s->capture);
    input_close(s->input);
    free(s);
}

static int read_frame(struct source *s, struct err *err)
{
    struct frame frame;
    int rc = capture_next(s->capture, &frame, &s->note);

    if (rc == 1) {
        s->counts.frames++;
        if (s->hooks.frame && (rc = s->hooks.frame(s->hooks.ctx, &frame, err)) < 0)
            return rc;
        return engine_frame(s->engine, &frame, err);
    }
    if (rc < 0 && rc != -ERR_INPUT) {
        *err = s->note;
        return rc;
    }
    s->counts.cut = rc < 0;
    s->ended = true;
    return engine_end(s->engine, s->counts.cut, err);
}

int source_next(struct source *s, struct audit_message **message, struct err *err)
{
    while (!s->first && !s->ended)
        if (read_frame(s, err) < 0)
            return -err->code;
    if (!s->first)
        return 0;
    *message = s->first;
    s->first = s->first->next;
    if (!s->first)
        s->last = &s->first;
    (*message)->next = NULL;
    return 1;
}

const struct source_counts *source_counts(const struct source *s)
{
    return &s->counts;
}
