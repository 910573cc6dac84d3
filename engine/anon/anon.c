/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/anon.c
 *
 * Writes an anonymized capture.  The engine's tap gives each message to the rewriter.  The result
 * waits in output_queue.c for its turn, and then goes into new frames.  For the program and the
 * plugin nfsanon.  The contract is in anon.h.
 */
#include "anon/anon.h"
#include "anon/datagram_id.h"
#include "anon/output_queue.h"
#include "flow/message.h"

#include <stdio.h>
#include <stdlib.h>

struct anon {
    const struct policy *policy;
    struct mapping *mapping;
    struct engine *engine;
    struct rewriter rewriter;
    struct output_queue queue;
    struct datagram_ids ids;
    struct frames *frames;
    anon_watch *watch;
    void *watcher;
    int64_t shift; /* ns */
    uint64_t outcomes[REWRITE_OUTCOMES];
    uint64_t problems[PROBLEM_UNDECIDED + 1];
};

static int write_message(void *ctx, const struct ready *ready, struct err *err)
{
    struct anon *a = ctx;
    int rc;

    if (ready->is_end)
        return frames_over(a->frames, &ready->flow, &ready->at, &ready->over, err);
    a->outcomes[ready->message.outcome]++;
    if (ready->message.outcome == REWRITE_DROPPED)
        return 0;
    rc = frames_message(a->frames, &ready->flow, &ready->at, &ready->message, err);
    if (rc < 0 || !a->watch)
        return rc;
    return a->watch(a->watcher,
                    &(struct anon_written){ ready->at.frame, ready->flow.transport,
                                            ready->procedure,
                                            ready->has_credential ? &ready->credential : NULL },
                    err);
}

static struct frames_flow frames_flow(struct anon *a, const struct flow *flow)
{
    struct frames_flow new = { .id = flow->id,
                               .transport = flow->transport,
                               .client = !flow->server };

    for (unsigned i = 0; i < 2; i++) {
        mapping_address(a->mapping, &flow->address[i], &new.address[i]);
        new.port[i] = (uint16_t)mapping_extra(a->mapping, EXTRA_PORT, flow->port[i]);
    }
    return new;
}

static int64_t shifted(const struct anon *a, int64_t time)
{
    return time == TIME_NONE ? TIME_NONE : time + a->shift;
}

static int on_over(struct anon *a, const struct flow_over *o, struct err *err)
{
    struct ready ready = {
        .flow = frames_flow(a, o->flow),
        .at = { .side = o->side, .frame = o->frame, .time = shifted(a, o->time) },
        .is_end = true,
        .over = { o->kind, o->acked }
    };

    return output_queue_put(&a->queue, 0, &ready, err);
}

static int on_tapped(void *ctx, const struct engine_tapped *t, struct err *err)
{
    struct anon *a = ctx;
    const struct message *m = t->message;
    struct ready ready;
    int rc;

    if (t->event == TAP_OVER)
        return on_over(a, t->over, err);
    if (t->event == TAP_UNREAD) {
        a->outcomes[REWRITE_DROPPED]++;
        return 0;
    }
    ready = (struct ready){
        .flow = frames_flow(a, m->flow),
        .at = { m->side, 0, m->frame, shifted(a, m->time) },
        .procedure = t->procedure,
        .has_credential = t->credential != NULL,
    };
    if (t->credential)
        ready.credential = *t->credential;
    if ((rc = rewrite_message(&a->rewriter, t, &ready.message, err)) < 0)
        return rc;
    if (t->event == TAP_MESSAGE && t->ticket) /* it has its identification since it was held */
        return output_queue_resolve(&a->queue, t->ticket, &ready, err);
    ready.at.ip_id = datagram_id(&a->ids, m);
    return output_queue_put(&a->queue, t->event == TAP_HELD ? t->ticket : 0, &ready, err);
}

/* Records are for others; what could not be used is counted. */
static int on_record(void *ctx, const struct record *record, struct err *err)
{
    struct anon *a = ctx;

    (void)err;
    if (record->kind == RECORD_PROBLEM && record->problem.problem <= PROBLEM_UNDECIDED)
        a->problems[record->problem.problem] += record->problem.length;
    return 0;
}

/* What the file says of its origin: this and the counters at its end, nothing else. */
static void provenance(const struct policy *policy, char *text, size_t size)
{
    size_t len = (size_t)snprintf(
        text, size, "anonymized by nfsdigest " NFSDIGEST_VERSION "\npolicy %s, SHA-256 ",
        policy->name);

    for (size_t i = 0; i < sizeof(policy->digest) && len + 3 < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%02x", policy->digest[i]);
}

struct anon *anon_new(const struct engine_options *options, const struct policy *policy,
                      const struct key *key, output_writer *write, void *ctx, struct err *err)
{
    struct anon *a = calloc(1, sizeof(*a));
    struct engine_options engine = { 0 };
    struct sink sink = { on_record, a };
    char comment[1024];

    if (!a) {
        err_memory(err, "an engine");
        return NULL;
    }
    if (options)
        engine = *options;
    engine.messages_only = true;
    provenance(policy, comment, sizeof(comment));
    a->policy = policy;
    a->mapping = mapping_new(key, policy, err);
    output_queue_init(&a->queue, write_message, a);
    if (a->mapping)
        a->engine = engine_new(&engine, &sink, NULL, err);
    if (a->engine)
        a->frames = frames_new(write, ctx, comment, err);
    if (!a->frames) {
        anon_free(a);
        return NULL;
    }
    a->shift = mapping_shift(a->mapping) * 1000000000;
    rewriter_init(&a->rewriter, a->mapping, policy);
    engine_set_tap(a->engine, on_tapped, a);
    return a;
}

void anon_free(struct anon *a)
{
    if (!a)
        return;
    engine_free(a->engine);
    output_queue_free(&a->queue);
    frames_free(a->frames);
    rewriter_free(&a->rewriter);
    mapping_free(a->mapping);
    free(a);
}

struct engine *anon_engine(struct anon *a)
{
    return a->engine;
}

void anon_set_watch(struct anon *a, anon_watch *watch, void *ctx)
{
    a->watch = watch;
    a->watcher = ctx;
}

int anon_flush(struct anon *a, struct err *err)
{
    return frames_flush(a->frames, err);
}

int anon_counters(const struct anon *a, anon_counter *show, void *ctx, struct err *err)
{
    static const char *const outcomes[REWRITE_OUTCOMES] = {
        [REWRITE_WHOLE] = "messages.whole",         [REWRITE_PARTIAL] = "messages.partial",
        [REWRITE_MALFORMED] = "messages.malformed", [REWRITE_UNREAD] = "messages.unread",
        [REWRITE_DROPPED] = "messages.dropped",
    };
    static const char *const problems[] = {
        [PROBLEM_HOLE] = "lost.hole_bytes",           [PROBLEM_SKIPPED] = "lost.skipped_bytes",
        [PROBLEM_NOT_RPC] = "lost.not_rpc_bytes",     [PROBLEM_EVICTED] = "lost.evicted_bytes",
        [PROBLEM_UNDECIDED] = "lost.undecided_bytes",
    };
    const struct frames_counts *frames = frames_counts(a->frames);
    /* clang-format off */
    const struct {
        const char *name;
        uint64_t value;
    } written[] = {
        { "written.frames", frames->frames },       { "written.connections", frames->connections },
        { "written.message_bytes", frames->bytes }, { "written.too_long", frames->too_long },
        { "held.overflows", a->queue.overflows },
        { "path.overflows", mapping_overflows(a->mapping) },
    };
    /* clang-format on */
    char name[64];
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < REWRITE_OUTCOMES; i++)
        if (a->outcomes[i])
            rc = show(ctx, outcomes[i], a->outcomes[i], err);
    for (unsigned i = 0; rc == 0 && i < sizeof(written) / sizeof(*written); i++)
        if (written[i].value)
            rc = show(ctx, written[i].name, written[i].value, err);
    for (unsigned i = 0; rc == 0 && i < sizeof(problems) / sizeof(*problems); i++)
        if (problems[i] && a->problems[i])
            rc = show(ctx, problems[i], a->problems[i], err);
    for (unsigned i = 0; rc == 0 && i < CLASS_MAX; i++) {
        snprintf(name, sizeof(name), "changed.%s", class_name(i));
        if (a->rewriter.changed[i])
            rc = show(ctx, name, a->rewriter.changed[i], err);
        snprintf(name, sizeof(name), "kept.%s", class_name(i));
        if (rc == 0 && a->rewriter.kept[i])
            rc = show(ctx, name, a->rewriter.kept[i], err);
    }
    return rc;
}

static int add_counter(void *ctx, const char *name, uint64_t value, struct err *err)
{
    struct buf *text = ctx;
    char line[128];
    int len = snprintf(line, sizeof(line), "%s %llu\n", name, (unsigned long long)value);

    return buf_append(text, line, (size_t)len) < 0 ? err_memory(err, "counters") : 0;
}

int anon_end(struct anon *a, bool input_cut, struct err *err)
{
    struct buf text = { 0 };
    int rc = engine_end(a->engine, input_cut, err);

    if (rc == 0)
        rc = output_queue_end(&a->queue, err);
    if (rc == 0)
        rc = anon_counters(a, add_counter, &text, err);
    if (rc == 0 && input_cut)
        rc = add_counter(&text, "input.cut", 1, err);
    if (rc == 0 && buf_append(&text, "", 1) < 0)
        rc = err_memory(err, "counters");
    if (rc == 0)
        rc = frames_end(a->frames, (const char *)text.data, err);
    buf_free(&text);
    return rc;
}
