/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy.c
 *
 * Which objects are copied, and when each goes on: copy_look, at the end of a round in which
 * something happened, or every few milliseconds while a job waits for the ring.
 */
#include "copy/copy_parts.h"
#include "wire/nfsacl_structs.h"

#include <stdlib.h>
#include <sys/random.h>

enum { OBJECTS = 16, PIECE = 64 << 10, LIST_BYTES = 16 << 10, PIECE_MAX = 1 << 20 };

static const int64_t look_each = 2000000, position_most = 10000000000, second = 1000000000;
static const uint64_t names_max = 16 << 20;

void copy_look_later(struct copy *copy)
{
    if (!copy->ended)
        loop_idle(copy->setup.loop, &copy->idle);
}

/* --- lanes */

struct lane *copy_job_lane(struct job *job)
{
    return &job->lanes[0];
}

static struct lane *idle_lane(struct job *job)
{
    for (int i = 0; i < COPY_LANES; i++)
        if (!job->lanes[i].busy)
            return &job->lanes[i];
    return NULL;
}

static bool is_busy(const struct job *job)
{
    for (int i = 0; i < COPY_LANES; i++)
        if (job->lanes[i].busy)
            return true;
    return false;
}

int copy_job_feed(struct job *job, struct err *err)
{
    struct lane *lane;
    int result = 1;

    if (job->feeding)
        return 0;
    job->feeding = true;
    while (result > 0 && job->end == JOB_GOES_ON && (lane = idle_lane(job))) {
        lane->busy = true;
        result = job->feed(job, lane, err);
        if (result <= 0)
            lane->busy = false;
    }
    job->feeding = false;
    if (result < 0 || job->end != JOB_GOES_ON || is_busy(job))
        return result < 0 ? result : 0;
    return job->fed(job, err);
}

int copy_lane_done(struct lane *lane, struct err *err)
{
    lane->busy = false;
    return copy_job_feed(lane->job, err);
}

static bool takes_the_same(const struct job *job, const struct lane *lane)
{
    for (int i = 0; i < COPY_LANES; i++) {
        const struct lane *other = &job->lanes[i];

        if (other != lane && other->busy && other->work.takes &&
            bytes_equal(handle_bytes(&other->work.found), handle_bytes(&lane->work.found)))
            return true;
    }
    return false;
}

bool copy_is_taken(const struct copy *copy, const struct lane *lane)
{
    for (uint32_t i = 0; i < copy->setup.objects; i++)
        if (copy->jobs[i].used && takes_the_same(&copy->jobs[i], lane))
            return true;
    return copy->sweeper.used && takes_the_same(&copy->sweeper, lane);
}

/* --- jobs */

struct job *copy_job_of(struct copy *copy, const struct mirror_object *object)
{
    for (uint32_t i = 0; i < copy->setup.objects; i++)
        if (copy->jobs[i].used && copy->jobs[i].object == object)
            return &copy->jobs[i];
    return NULL;
}

bool copy_job_is_ours(const struct job *job)
{
    if (job->is_sweeper)
        return true;
    return job->object &&
           job->object->state == (job->stage == STAGE_PLAY ? MIRROR_SYNCHRONIZED : MIRROR_COPYING);
}

int copy_job_wait(struct job *job, enum job_stage stage)
{
    job->stage = (uint8_t)stage;
    job->waits_since = loop_now(job->copy->setup.loop);
    copy_look_later(job->copy);
    return 0;
}

int copy_job_start(struct job *job, struct mirror_object *object, struct err *err)
{
    struct copy *copy = job->copy;
    const struct copy_host *host = &copy->setup.host;
    struct change_set *changes;

    *job = (struct job){ .copy = copy, .object = object, .used = true };
    for (int i = 0; i < COPY_LANES; i++)
        job->lanes[i].job = job;
    copy_job_wait(job, STAGE_SINCE);
    handle_set(&job->sut, mirror_sut_handle(copy->setup.mirror, object));
    if (!job->sut.len)
        return copy_job_failed(job, COPY_LOST, "the SUT does not have it");
    job->since = host->position(host->ctx);
    changes = change_set_open(copy->setup.pool, object->type == NF3DIR, job->since, err);
    if (changes && mirror_set_changes(copy->setup.mirror, object, changes, err) < 0) {
        change_set_close(changes);
        changes = NULL;
    }
    return changes ? 0 : -ERR_SYSTEM;
}

int copy_job_work(struct job *job, struct err *err)
{
    if (job->object->type == NF3REG)
        return copy_file_begin(job, err);
    return job->object->type == NF3DIR ? copy_directory_begin(job, err)
                                       : copy_attributes_begin(job, err);
}

/* No call is outstanding that the set would not know. */
static int work(struct job *job, struct err *err)
{
    const struct copy_host *host = &job->copy->setup.host;

    if (change_set_state(copy_job_changes(job)) != CHANGES_NOTED)
        change_set_restart(copy_job_changes(job));
    job->stage = STAGE_WORK;
    job->has_first = job->has_attributes = job->has_noted = false;
    job->acl.len = 0;
    job->wants_position = job->has_position = false;
    job->looks = 0;
    for (int i = 0; i < COPY_LANES; i++)
        job->lanes[i].busy = false;
    if (host->was_same && host->was_same(host->ctx, job->object, NULL))
        return copy_same_begin(job, err);
    return copy_job_work(job, err);
}

static bool is_quiet(const struct job *job, uint64_t before)
{
    const struct copy_host *host = &job->copy->setup.host;

    return host->is_quiet(host->ctx, job->object, before);
}

/* What the job waits for may have come. */
static int look_at(struct job *job, struct err *err)
{
    int64_t now = loop_now(job->copy->setup.loop);

    if (job->stage == STAGE_SINCE)
        return is_quiet(job, job->since) ? work(job, err) : 0;
    if (job->stage != STAGE_LISTED && job->stage != STAGE_READ)
        return 0;
    if (!job->has_position)
        return now - job->waits_since < position_most
                   ? 0
                   : copy_job_failed(job, COPY_NO_POSITION, "the ring did not show its own calls");
    if (job->stage == STAGE_LISTED) {
        job->stage = STAGE_WORK;
        return copy_directory_listed(job, err);
    }
    return is_quiet(job, job->position) ? copy_job_read_all(job, err) : 0;
}

static bool copy_job_waits(const struct job *job)
{
    return job->used && job->end == JOB_GOES_ON &&
           (job->stage == STAGE_SINCE || job->stage == STAGE_LISTED || job->stage == STAGE_READ);
}

static int look_at_job(struct job *job, struct err *err)
{
    if (!job->used)
        return 0;
    if (job->end == JOB_GOES_ON && !copy_job_is_ours(job))
        copy_job_ends(job, JOB_DROPPED);
    if (job->end == JOB_GOES_ON) {
        int result = look_at(job, err);

        if (result < 0)
            return result;
    }
    return job->end != JOB_GOES_ON && job->calls == 0 ? copy_job_settle(job, err) : 0;
}

/* --- the queue */

static struct job *free_job(struct copy *copy)
{
    for (uint32_t i = 0; i < copy->setup.objects; i++)
        if (!copy->jobs[i].used)
            return &copy->jobs[i];
    return NULL;
}

static void charge_object(struct copy *copy, int64_t now)
{
    if (!copy->setup.objects_per_second)
        return;
    if (copy->next_object < now - second / 10)
        copy->next_object = now - second / 10;
    copy->next_object += (int64_t)((uint64_t)second / copy->setup.objects_per_second);
}

static int take(struct copy *copy, int64_t now, struct err *err)
{
    struct mirror_object *object;
    struct job *job = NULL;
    int result = 0;

    while (result == 0 && now >= copy->hold_until && now >= copy->next_object &&
           (object = mirror_first(copy->setup.mirror)) &&
           ((job = copy_job_of(copy, object)) || (job = free_job(copy)))) {
        mirror_take_first(copy->setup.mirror);
        charge_object(copy, now);
        if (job->used) {
            job->retaken = true;
            copy_job_ends(job, JOB_DROPPED);
        } else {
            result = copy_job_start(job, object, err);
        }
    }
    return result;
}

static int set_timer(struct copy *copy, int64_t now, struct err *err)
{
    int64_t at = copy->next_pause;

    for (uint32_t i = 0; i < copy->setup.objects; i++)
        if (copy_job_waits(&copy->jobs[i]) && at > now + look_each)
            at = now + look_each;
    if (copy->paced && copy->next_byte < at)
        at = copy->next_byte;
    if (mirror_first(copy->setup.mirror)) {
        if (now < copy->hold_until && copy->hold_until < at)
            at = copy->hold_until;
        if (now < copy->next_object && copy->next_object < at)
            at = copy->next_object;
    }
    if (copy->scratch.sweep_at > now && copy->scratch.sweep_at < at)
        at = copy->scratch.sweep_at;
    if (at == INT64_MAX)
        return 0;
    return loop_set(copy->setup.loop, &copy->timer, at > now ? at : now + 1, err);
}

static int copy_look(void *ctx, struct err *err)
{
    struct copy *copy = ctx;
    int64_t now = loop_now(copy->setup.loop);
    int result = copy_end_pauses(copy, now, err);

    for (uint32_t i = 0; i < copy->setup.objects && result == 0; i++)
        result = look_at_job(&copy->jobs[i], err);
    if (result == 0)
        result = look_at_job(&copy->sweeper, err);
    if (result == 0)
        result = copy_run_paced(copy, err);
    if (result == 0)
        result = take(copy, now, err);
    if (result == 0)
        result = copy_scratch_look(copy, err);
    return result == 0 ? set_timer(copy, now, err) : result;
}

static int on_timer(void *ctx, struct err *err)
{
    (void)err;
    copy_look_later(ctx);
    return 0;
}

/* --- the host's side */

static int check_setup(struct copy_setup *s, struct err *err)
{
    s->objects = s->objects ? s->objects : OBJECTS;
    s->piece = s->piece ? s->piece : PIECE;
    s->burst = s->burst ? s->burst : second / 10;
    s->list_bytes = s->list_bytes ? s->list_bytes : LIST_BYTES;
    s->names_max = s->names_max ? s->names_max : names_max;
    if (s->objects > COPY_OBJECTS_MAX)
        return err_set(err, ERR_USAGE, "%u objects at once, at most %d are possible", s->objects,
                       COPY_OBJECTS_MAX);
    if (s->piece < 512 || s->piece > PIECE_MAX || s->list_bytes < 1024 || s->list_bytes > PIECE_MAX)
        return err_set(err, ERR_USAGE,
                       "pieces of %u bytes, listings of %u: 512 to %d and 1024 to %d are possible",
                       s->piece, s->list_bytes, PIECE_MAX, PIECE_MAX);
    return 0;
}

struct copy *copy_new(const struct copy_setup *setup, struct err *err)
{
    struct copy *copy = calloc(1, sizeof(*copy));

    if (!copy) {
        err_memory(err, "the synchronizer");
        return NULL;
    }
    copy->setup = *setup;
    copy->idle = (struct idle){ .run = copy_look, .ctx = copy };
    copy->timer = (struct timer){ .due = on_timer, .ctx = copy };
    copy->next_pause = INT64_MAX;
    copy->paced_end = &copy->paced;
    if (check_setup(&copy->setup, err) < 0 || nfs3_structs_init(err) < 0 ||
        nfsacl_structs_init(err) < 0) {
        free(copy);
        return NULL;
    }
    copy->jobs = calloc(copy->setup.objects, sizeof(*copy->jobs));
    if (!copy->jobs || getrandom(&copy->seed, sizeof(copy->seed), 0) != sizeof(copy->seed)) {
        err_memory(err, "the synchronizer");
        free(copy->jobs);
        free(copy);
        return NULL;
    }
    for (uint32_t i = 0; i < copy->setup.objects; i++)
        copy->jobs[i].copy = copy;
    copy->sweeper = (struct job){ .copy = copy, .is_sweeper = true };
    copy_scratch_init(copy);
    return copy;
}

void copy_free(struct copy *copy)
{
    if (!copy)
        return;
    copy->ended = true;
    loop_unidle(copy->setup.loop, &copy->idle);
    loop_unset(copy->setup.loop, &copy->timer);
    for (uint32_t i = 0; i < copy->setup.objects; i++) {
        if (copy->jobs[i].used)
            copy_job_close_set(&copy->jobs[i]);
        copy_job_clear(&copy->jobs[i]);
    }
    copy_job_clear(&copy->sweeper);
    free(copy->jobs);
    free(copy);
}

/* Whatever was made on a SUT that is empty now. */
static int forget_sut(struct copy *copy, struct err *err)
{
    struct mirror *m = copy->setup.mirror;
    struct mirror_object *object = NULL;
    int result = 0;

    while (result == 0 && (object = mirror_next(m, object))) {
        result = mirror_set_sut_handle(m, object, (struct bytes){ 0 }, err);
        if (result == 0 && object->state != MIRROR_EXCLUDED && object->state != MIRROR_GONE)
            result = mirror_set_state(m, object, MIRROR_UNKNOWN, err);
    }
    copy->pause_count = 0;
    copy->next_pause = INT64_MAX;
    copy->hold = copy->hold_until = 0;
    copy->no_acl[SUT] = false;
    copy_scratch_init(copy);
    if (copy->sweeper.used)
        copy_job_ends(&copy->sweeper, JOB_DROPPED);
    return result;
}

int copy_begin(struct copy *copy, struct bytes reference_root, struct bytes sut_root,
               struct err *err)
{
    struct mirror *m = copy->setup.mirror;
    struct mirror_object *root;
    int result = copy->root.len ? forget_sut(copy, err) : 0;

    root = result == 0 ? mirror_add(m, reference_root, err) : NULL;
    if (!root)
        return result < 0 ? result : -err->code;
    root->is_root = true;
    mirror_set_type(root, NF3DIR);
    handle_set(&copy->root, sut_root);
    result = mirror_set_sut_handle(m, root, sut_root, err);
    if (result == 0)
        result = mirror_set_state(m, root, MIRROR_QUEUED, err);
    copy_look_later(copy);
    return result;
}

void copy_wake(struct copy *copy)
{
    copy_look_later(copy);
}

void copy_replied(struct copy *copy, uint32_t xid, uint64_t position)
{
    for (uint32_t i = 0; i < copy->setup.objects; i++) {
        struct job *job = &copy->jobs[i];

        if (job->used && job->wants_position && job->xid == xid) {
            job->wants_position = false;
            job->has_position = true;
            job->position = position;
            copy_look_later(copy);
        }
    }
}

void copy_noted(struct copy *copy, const struct mirror_object *object, enum changes result)
{
    struct job *job = copy_job_of(copy, object);

    if (!job)
        return;
    job->has_noted = true;
    if (result != CHANGES_NOTED && job->stage != STAGE_SINCE && job->stage != STAGE_PLAY)
        copy_job_begins_again(job);
}

void copy_again(struct copy *copy, const struct mirror_object *object)
{
    struct job *job = copy_job_of(copy, object);

    if (job && object->state == MIRROR_COPYING && job->stage != STAGE_SINCE)
        copy_job_begins_again(job);
}

void copy_leave(struct copy *copy, struct mirror_object *object)
{
    struct job *job = copy_job_of(copy, object);

    copy_forget_pause(copy, object);
    copy_scratch_drop(copy, object->id);
    if (!job)
        return;
    copy_job_close_set(job);
    job->object = NULL;
    copy_job_ends(job, JOB_DROPPED);
}

struct copy_counts copy_counts(const struct copy *copy)
{
    struct copy_counts counts = copy->counts;

    counts.at_work = counts.pausing = 0;
    for (uint32_t i = 0; i < copy->setup.objects; i++)
        counts.at_work += copy->jobs[i].used;
    for (uint32_t i = 0; i < copy->pause_count; i++)
        counts.pausing += copy->pauses[i].until != 0;
    counts.has_scratch = copy->scratch.state != SCRATCH_NONE;
    return counts;
}

const char *copy_scratch_name(const struct copy *copy)
{
    return copy->scratch.name;
}
