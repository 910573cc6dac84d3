/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/shadow.c
 *
 * Puts the shadow's parts together, and answers what the copy and the log ask.  The contract is in
 * shadow.h.
 */
#include "shadow/paths.h"
#include "shadow/shadow.h"
#include "base/grow.h"
#include "shadow/scrub.h"
#include "wire/nfs3_structs.h"

#include <stdlib.h>

/* --- the ring */

static int on_ring_ended(void *ctx, struct err *err)
{
    struct shadow *s = ctx;

    return s->setup.ended ? s->setup.ended(s->setup.ctx, err) : 0;
}

/* The SUT has enough to do: what clients ask for further can wait in the ring.  What it has
 * answered waits for what comes from there. */
static bool is_full(void *ctx)
{
    const struct shadow *s = ctx;

    return s->counts.waiting >= s->limits.queue / 2 ||
           (s->counts.waiting_bytes >= s->limits.queue_bytes / 2 &&
            s->counts.waiting > s->limits.in_flight);
}

/* --- what the copy asks */

static uint64_t position(void *ctx)
{
    return ((struct shadow *)ctx)->position;
}

static bool is_quiet(void *ctx, const struct mirror_object *object, uint64_t before)
{
    return touches_quiet(ctx, object->id, before);
}

static bool is_wanted(void *ctx, struct mirror_object *object,
                      const struct mirror_object *directory, struct bytes name)
{
    struct err unseen; /* no memory: it stays excluded under other names, too */
    bool wants;

    paths_decide(ctx, object, directory, name, &wants, &unseen);
    return wants;
}

static int on_synchronized(void *ctx, struct mirror_object *object, struct err *err)
{
    struct shadow *s = ctx;
    struct known *k = known_get(s, object->id, err);

    if (!k)
        return -err->code;
    k->is_held = true;
    k->was_copied = true;
    k->copied = s->position;
    gaps_clear(s, object);
    teelog_remade(s->log, object->id);
    return 0;
}

static int on_played(void *ctx, struct mirror_object *object, struct err *err)
{
    struct shadow *s = ctx;

    (void)err;
    s->unsettled = loop_now(s->loop) + send_wall_clock_ahead(); /* until now it was */
    known_of(s, object->id)->played = known_played_at(s->unsettled);
    dispatch_unhold(s, object->id);
    return 0;
}

static int on_failed(void *ctx, struct mirror_object *object, enum copy_why why, uint32_t tries,
                     const char *text, struct err *err)
{
    struct shadow *s = ctx;
    struct known_rare *rare;

    (void)tries, (void)text;
    if (why == COPY_NO_POSITION && !s->counts.own && !s->counts.gaps)
        return err_set(err, ERR_USAGE,
                       "--relay: what is asked there does not pass the relay of --attach, so "
                       "nothing can be copied: give that relay's address");
    if (!known_get(s, object->id, err))
        return -err->code;
    gaps_clear(s, object);
    if (why == COPY_LOST) /* its directory makes it again */
        gaps_clear(s, mirror_at(s->mirror, object->parent));
    if (dispatch_unplayed(s, object->id, err) < 0)
        return -err->code;
    if (why == COPY_LOST && object->is_root)
        return send_check(s, err);
    if (why != COPY_GONE)
        return 0;
    rare = known_rare_get(s, object->id, err);
    if (!rare)
        return -err->code;
    rare->gone_early = true;
    if (GROW(s->gone, s->gone_count, s->gone_cap) < 0)
        return err_memory(err, "objects");
    s->gone[s->gone_count++] = (struct gone_early){ loop_now(s->loop), object->id };
    return 0;
}

static void on_copy_message(void *ctx, const struct rpc_client_message *message)
{
    struct shadow *s = ctx;

    if (!message->from_server)
        s->own = *message->own;
}

static void on_copy_sut_message(void *ctx, const struct rpc_client_message *message)
{
    struct shadow *s = ctx;

    if (!message->from_server)
        s->copy_sut_own = *message->own;
}

static int on_copy_room(void *ctx, struct err *err)
{
    struct shadow *s = ctx;

    (void)err;
    if (s->copy)
        copy_wake(s->copy);
    return 0;
}

/* --- what the log asks */

static uint32_t object_of(void *ctx, int side, struct bytes handle)
{
    const struct shadow *s = ctx;
    const struct mirror_object *object =
        side == REF ? mirror_find(s->mirror, handle) : mirror_find_sut(s->mirror, handle);

    return object && object->state == MIRROR_SYNCHRONIZED && s->judged &&
                   verdicts_steady(s, object->id) && verdicts_placed(s, object)
               ? object->id
               : 0;
}

static int path_of(void *ctx, uint32_t id, struct buf *to)
{
    const struct shadow *s = ctx;
    const struct mirror_object *object = id ? mirror_at(s->mirror, id) : NULL;

    return object ? mirror_path(s->mirror, object, to) : 0;
}

/* What DIR/summary.json has of the shadow. */
static int append_summary(void *ctx, struct buf *to)
{
    struct json j = { .to = to };

    if (buf_append(to, ",\"shadow\":", 10) < 0)
        return -ERR_SYSTEM;
    json_object(&j, NULL);
    shadow_json(ctx, &j);
    json_object_end(&j);
    return j.failed ? -ERR_SYSTEM : 0;
}

static void on_sut_message(void *ctx, const struct rpc_client_message *message)
{
    struct shadow *s = ctx;

    if (!message->from_server)
        s->sut_own = *message->own;
}

static void on_log_failed(void *ctx, const char *why)
{
    struct shadow *s = ctx;

    if (s->setup.log_failed)
        s->setup.log_failed(s->setup.ctx, why);
}

/* --- owners */

static void set_limits(struct shadow *s)
{
    enum { MIB = 1 << 20 };
    static const struct shadow_limits defaults = { .in_flight = 128,
                                                   .queue = 8192,
                                                   .queue_bytes = 64 * MIB,
                                                   .timeout = INT64_C(10000000000),
                                                   .contents = 64 * MIB,
                                                   .notes = 32 * MIB,
                                                   .sync_at_once = 16,
                                                   .half_life = INT64_C(60000000000) };
    struct shadow_limits *l = &s->limits;

    *l = s->setup.limits;
    l->in_flight = l->in_flight ? l->in_flight : defaults.in_flight;
    l->queue = l->queue ? l->queue : defaults.queue;
    l->queue_bytes = l->queue_bytes ? l->queue_bytes : defaults.queue_bytes;
    l->timeout = l->timeout ? l->timeout : defaults.timeout;
    l->contents = l->contents ? l->contents : defaults.contents;
    l->notes = l->notes ? l->notes : defaults.notes;
    l->sync_at_once = l->sync_at_once ? l->sync_at_once : defaults.sync_at_once;
    l->half_life = l->half_life ? l->half_life : defaults.half_life;
}

static struct rpc_client *open_client(struct shadow *s, const struct shadow_place *place,
                                      const struct rpc_client_host *host, uint32_t calls,
                                      struct err *err)
{
    enum { ROOM = 4 << 20 };
    struct rpc_client_setup setup = { .server = place->nfs,
                                      .from = place->from,
                                      .limits = rpc_client_defaults };

    setup.limits.calls = calls;
    setup.limits.call_bytes = host->event ? s->limits.queue_bytes + ROOM : (uint64_t)calls * 69632;
    setup.limits.timeout = s->limits.timeout;
    return rpc_client_new(s->loop, &setup, host, err);
}

static int open_clients(struct shadow *s, struct err *err)
{
    const struct rpc_client_host of_reference = { .room = on_copy_room,
                                                  .message = on_copy_message,
                                                  .ctx = s };
    const struct rpc_client_host of_copy = { .room = on_copy_room,
                                             .message = on_copy_sut_message,
                                             .ctx = s };
    const struct rpc_client_host of_sut = { send_room, send_event, s, on_sut_message };
    uint32_t calls = s->limits.sync_at_once * COPY_LANES + SCRUB_CALLS;

    s->copy_reference = open_client(s, &s->setup.reference, &of_reference, calls, err);
    if (s->copy_reference)
        s->copy_sut = open_client(s, &s->setup.sut, &of_copy, calls, err);
    if (s->copy_sut)
        s->sut = open_client(s, &s->setup.sut, &of_sut, s->limits.in_flight + 1, err);
    return s->sut ? 0 : -err->code;
}

static int open_copy(struct shadow *s, struct err *err)
{
    const struct copy_setup setup = {
        .loop = s->loop,
        .mirror = s->mirror,
        .pool = s->pool,
        .reference = s->copy_reference,
        .sut = s->copy_sut,
        .credential = s->setup.credential,
        .objects = s->limits.sync_at_once,
        .bytes_per_second = s->limits.sync_bytes,
        .objects_per_second = s->limits.sync_objects,
        .burst = s->limits.sync_burst,
        .host = { position, is_quiet, is_wanted, on_synchronized, on_played, on_failed, s,
                  gaps_was_same },
    };

    s->copy = copy_new(&setup, err);
    return s->copy ? 0 : -err->code;
}

#define RING_BURST INT64_C(10000000)   /* ns: a reader looks at the ring more often */
#define RING_FAST UINT64_C(1000000000) /* bytes a second that no copy reaches */

/* What the copy reads passes through the ring, too: it must not overrun that by itself, and copy
 * everything again for that reason. */
static void limit_to_ring(struct shadow *s)
{
    const uint64_t each = COPY_LANES * 65536, size = tap_ring_size(s->ring);
    uint64_t most = size / 4 * (1000000000 / RING_BURST);

    if (s->limits.sync_at_once > size / 2 / each)
        s->limits.sync_at_once = size / 2 / each ? (uint32_t)(size / 2 / each) : 1;
    if (most < RING_FAST && (!s->limits.sync_bytes || s->limits.sync_bytes > most))
        s->limits.sync_bytes = most;
    if (most < RING_FAST)
        s->limits.sync_burst = RING_BURST;
}

static int open_parts(struct shadow *s, struct err *err)
{
    const struct tap_host tap = { intake_record, intake_gap, intake_message, s, others_mark };
    const struct tap_ring_host ring = {
        .ended = on_ring_ended, .is_full = is_full, .ctx = s, .mark = s->setup.mark
    };
    const struct teelog_host log = { object_of, path_of, s, on_log_failed };

    if (nfs3_structs_init(err) < 0)
        return -err->code;
    s->mirror = mirror_open((uint64_t)s->limits.half_life, err);
    if (s->mirror)
        mirror_set_order(s->mirror, !s->limits.tree_order);
    if (s->mirror)
        s->pool = change_pool_open(s->limits.contents, s->limits.notes, err);
    if (s->pool)
        s->tap = tap_new(&tap, err);
    if (!s->tap)
        return -err->code;
    mirror_share(s->mirror, tap_texts(s->tap));
    s->ring = tap_ring_new(s->loop, s->setup.attach, s->tap, &ring, err);
    if (!s->ring)
        return err_prefix(err, "--attach");
    limit_to_ring(s);
    if (open_clients(s, err) < 0 || open_copy(s, err) < 0)
        return -err->code;
    s->log = teelog_open(s->loop, s->setup.log, &s->setup.logging, &log, err);
    if (!s->log)
        return err_prefix(err, "--log");
    teelog_set_summary(s->log, append_summary, s);
    if (scrub_begin(s, err) < 0)
        return -err->code;
    return shadow_sut_root(s, (struct bytes){ s->setup.sut.root, s->setup.sut.root_len }, err);
}

struct shadow *shadow_new(const struct shadow_setup *setup, struct err *err)
{
    struct shadow *s = calloc(1, sizeof(*s));

    if (!s) {
        err_memory(err, "a shadow");
        return NULL;
    }
    s->setup = *setup;
    s->loop = setup->loop;
    s->send = (struct idle){ .run = send_run, .ctx = s };
    s->judge = (struct idle){ .run = verdicts_run, .ctx = s };
    s->look = (struct timer){ .due = verdicts_look, .ctx = s };
    set_limits(s);
    latencies_begin(s);
    if (requests_begin(s, err) < 0 || open_parts(s, err) < 0 ||
        loop_set(s->loop, &s->look, loop_clock(), err) < 0) {
        shadow_free(s);
        return NULL;
    }
    return s;
}

int shadow_sut_root(struct shadow *s, struct bytes root, struct err *err)
{
    struct shadow_place *reference = &s->setup.reference, *sut = &s->setup.sut;
    int result;

    if (!root.len || root.len > sizeof(sut->root))
        return err_set(err, ERR_INPUT, "the SUT's root handle has %u bytes", root.len);
    if (sut->root != root.data)
        memcpy(sut->root, root.data, root.len);
    sut->root_len = root.len;
    s->is_checking = false;
    gaps_forget(s);
    listings_free(&s->listings);
    result = copy_begin(s->copy, (struct bytes){ reference->root, reference->root_len }, root, err);
    loop_idle(s->loop, &s->send);
    loop_idle(s->loop, &s->judge);
    copy_wake(s->copy);
    return result;
}

static int keep_groups(struct shadow *s, const struct teelog *log, struct err *err)
{
    const struct teelog_group *groups = teelog_groups(log, &s->group_count, &s->further);

    s->groups = calloc(s->group_count + 1, sizeof(*groups));
    if (!s->groups) {
        s->group_count = 0;
        return err_memory(err, "differences");
    }
    memcpy(s->groups, groups, s->group_count * sizeof(*groups));
    return 0;
}

int shadow_end(struct shadow *s, struct err *err)
{
    int result = tap_ring_drain(s->ring, err);
    struct teelog *log = s->log;
    struct err memory = { 0 };

    if (result == 0)
        result = verdicts_all(s, err);
    s->verdicts = *teelog_counts(log);
    if (keep_groups(s, log, &memory) < 0 && result == 0)
        result = err_set(err, memory.code, "%s", memory.text);
    s->log = NULL;
    if (result == 0)
        return teelog_end(log, err);
    teelog_free(log);
    return result;
}

void shadow_free(struct shadow *s)
{
    if (!s)
        return;
    s->is_ending = true;
    loop_unset(s->loop, &s->look);
    loop_unidle(s->loop, &s->send);
    loop_unidle(s->loop, &s->judge);
    tap_ring_free(s->ring);
    rpc_client_free(s->copy_reference);
    rpc_client_free(s->copy_sut);
    rpc_client_free(s->sut);
    copy_free(s->copy);
    scrub_free(s);
    requests_free_all(s);
    teelog_free(s->log);
    if (s->mirror)
        mirror_close(s->mirror);
    tap_free(s->tap); /* the mirror shares its strings */
    if (s->pool)
        change_pool_close(s->pool);
    listings_free(&s->listings);
    buf_free(&s->reply);
    free(s->groups);
    known_free_all(s);
    free(s->gone);
    free(s->open_times);
    free(s);
}
