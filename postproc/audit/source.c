/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/source.c
 *
 * The capture is read and decoded in a thread of its own.  It puts what it finds into a row
 * (ahead.h): notes on frames, messages, counters, ends of connections.  Hooks are called where the
 * row is taken from, but for those that look.  For audit_align.c and leak.c.  The contract is in
 * source.h.
 */
#include "audit/ahead.h"
#include "audit/slab.h"
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
    struct err why; /* why the file was cut */
    struct ahead *ahead;
    struct slab *slab; /* of messages */
    struct buf noting; /* in the thread */
    void *note;        /* on the message that was taken last */
    size_t note_len;
};

enum { PROGRESS_FRAMES = 1 << 12 };
enum event { EVENT_FRAME, EVENT_MESSAGE, EVENT_COUNTER, EVENT_OVER };

struct counted {
    uint64_t value;
    char name[128];
};

struct over {
    struct flow_over over;
    struct flow flow; /* of it, as it is then */
};

/* --- in the thread --- */

static int put_over(struct source *s, const struct flow_over *over, struct err *err)
{
    const struct iovec pieces[] = { { (void *)over, sizeof(*over) },
                                    { (void *)over->flow, sizeof(*over->flow) } };

    return ahead_put(s->ahead, EVENT_OVER, pieces, 2, 0, err);
}

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

static int put_message(struct source *s, struct audit_message *m, struct err *err)
{
    struct iovec pieces[] = { { &m, sizeof(m) }, { NULL, 0 } };

    s->noting.len = 0;
    if (s->hooks.look_at_message && s->hooks.look_at_message(s->hooks.look, m, &s->noting, err) < 0)
        return -err->code;
    pieces[1] = (struct iovec){ s->noting.data, s->noting.len };
    return ahead_put(s->ahead, EVENT_MESSAGE, pieces, 2, sizeof(*m) + m->cap_len, err);
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
        return put_over(s, t->over, err);
    if (t->event != TAP_MESSAGE)
        return 0;
    m = slab_get(s->slab, sizeof(*m) + from->cap_len + MESSAGE_TAIL);
    if (!m)
        return err_memory(err, "a message");
    memset(m, 0, sizeof(*m));
    m->frame = from->frame;
    m->first_frame = from->first_frame;
    m->time = from->time;
    m->cap_len = from->cap_len;
    m->wire_len = from->wire_len;
    m->transport = from->flow->transport;
    memcpy(m->data, from->data, from->cap_len);
    memset(m->data + m->cap_len, 0, MESSAGE_TAIL);
    read_header(m, t);
    client = m->is_call ? from->side : !from->side;
    for (unsigned i = 0; i < 2; i++) {
        m->address[i] = from->flow->address[i ? !client : client];
        m->port[i] = from->flow->port[i ? !client : client];
    }
    *(m->is_call ? &s->counts.calls : &s->counts.replies) += 1;
    if (put_message(s, m, err) == 0)
        return 0;
    slab_put(m);
    return -err->code;
}

static int on_record(void *ctx, const struct record *record, struct err *err)
{
    struct source *s = ctx;
    struct counted counted = { 0 };
    const struct iovec piece = { &counted, sizeof(counted) };
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
    if (record->kind != RECORD_COUNTER || !s->hooks.counter || len >= sizeof(counted.name))
        return 0;
    memcpy(counted.name, record->counter.name.data, len);
    counted.value = record->counter.value;
    return ahead_put(s->ahead, EVENT_COUNTER, &piece, 1, 0, err);
}

static int put_frame(struct source *s, const struct frame *frame, struct err *err)
{
    struct iovec pieces[] = { { (void *)&frame->number, sizeof(frame->number) }, { NULL, 0 } };

    s->noting.len = 0;
    if (s->hooks.look_at_frame(s->hooks.look, frame, &s->noting, err) < 0)
        return -err->code;
    pieces[1] = (struct iovec){ s->noting.data, s->noting.len };
    return ahead_put(s->ahead, EVENT_FRAME, pieces, 2, 0, err);
}

static int read_frame(void *ctx, struct err *err)
{
    struct source *s = ctx;
    struct frame frame;
    int rc = capture_next(s->capture, &frame, &s->why);

    if (rc == 1) {
        if (++s->counts.frames % PROGRESS_FRAMES == 0)
            progress_show(s->hooks.progress, s->hooks.step, s->input);
        if ((s->hooks.frame && put_frame(s, &frame, err) < 0) ||
            engine_frame(s->engine, &frame, err) < 0)
            return -err->code;
        return 1;
    }
    if (rc < 0 && rc != -ERR_INPUT) {
        *err = s->why;
        return rc;
    }
    s->counts.cut = rc < 0;
    return engine_end(s->engine, s->counts.cut, err);
}

/* --- for who asks --- */

struct source *source_open(const char *path, const struct engine_options *options,
                           const struct source_hooks *hooks, struct err *err)
{
    struct source *s = calloc(1, sizeof(*s));
    struct engine_options engine = { 0 };
    struct sink sink = { on_record, s };

    if (!s) {
        err_memory(err, "a capture");
        return NULL;
    }
    if (options)
        engine = *options;
    engine.messages_only = true;
    if (hooks)
        s->hooks = *hooks;
    s->input = input_open(path, false, err);
    s->capture = s->input ? capture_open(s->input, err) : NULL;
    s->engine = s->capture ? engine_new(&engine, &sink, NULL, err) : NULL;
    s->slab = s->engine ? slab_new(err) : NULL;
    s->ahead = s->slab ? ahead_new(read_frame, s, err) : NULL;
    if (!s->ahead) {
        source_close(s);
        return NULL;
    }
    engine_set_tap(s->engine, on_tapped, s);
    return s;
}

/* Messages that nobody took. */
static void drop_rest(struct source *s)
{
    struct audit_message *m;
    struct err ignored;
    unsigned kind;
    void *data;
    size_t len;

    ahead_stop(s->ahead);
    while (ahead_next(s->ahead, &kind, &data, &len, &ignored) == 1) {
        if (kind != EVENT_MESSAGE)
            continue;
        memcpy(&m, data, sizeof(m));
        slab_put(m);
    }
}

void source_close(struct source *s)
{
    if (!s)
        return;
    if (s->ahead)
        drop_rest(s);
    ahead_free(s->ahead);
    slab_free(s->slab);
    buf_free(&s->noting);
    engine_free(s->engine);
    capture_close(s->capture);
    input_close(s->input);
    free(s);
}

static int take_frame(const struct source *s, uint8_t *data, size_t len, struct err *err)
{
    uint64_t number;

    memcpy(&number, data, sizeof(number));
    return s->hooks.frame(s->hooks.ctx, number, data + sizeof(number), len - sizeof(number), err);
}

static int take(const struct source *s, unsigned kind, void *data, size_t len, struct err *err)
{
    const struct counted *counted = data;
    struct over *over = data;

    switch (kind) {
    case EVENT_FRAME:
        return take_frame(s, data, len, err);
    case EVENT_COUNTER:
        return s->hooks.counter(s->hooks.ctx, counted->name, counted->value, err);
    default:
        over->over.flow = &over->flow;
        return s->hooks.over(s->hooks.ctx, &over->over, err);
    }
}

int source_next(struct source *s, struct audit_message **message, struct err *err)
{
    unsigned kind;
    void *data;
    size_t len;
    int rc;

    while ((rc = ahead_next(s->ahead, &kind, &data, &len, err)) == 1) {
        if (kind == EVENT_MESSAGE) {
            memcpy(message, data, sizeof(*message));
            s->note = (uint8_t *)data + sizeof(*message);
            s->note_len = len - sizeof(*message);
            return 1;
        }
        rc = take(s, kind, data, len, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

void *source_note(const struct source *s, size_t *len)
{
    *len = s->note_len;
    return s->note;
}

const struct source_counts *source_counts(const struct source *s)
{
    return &s->counts;
}
