/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_end.c
 *
 * How the copy of an object ends: it begins again, it failed, it was dropped, or it is done.  What
 * failed has a pause that grows; pauses are kept in a list of fixed length, as few objects fail.
 */
#include "copy/copy_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAUSE_DOUBLES = 9 };

static const int64_t pause_first = 100000000, hold_first = 100000000, hold_most = 10000000000;

void copy_job_ends(struct job *job, enum job_end end)
{
    if (job->end == JOB_GOES_ON || end == JOB_DROPPED)
        job->end = (uint8_t)end;
    copy_drop_waiting(job);
    copy_look_later(job->copy);
}

int copy_job_begins_again(struct job *job)
{
    copy_job_ends(job, JOB_BEGINS_AGAIN);
    return 0;
}

int copy_job_failed(struct job *job, enum copy_why why, const char *format, ...)
{
    va_list args;

    if (job->end != JOB_GOES_ON)
        return 0;
    va_start(args, format);
    vsnprintf(job->text, sizeof(job->text), format, args);
    va_end(args);
    job->why = why;
    copy_job_ends(job, JOB_FAILED);
    return 0;
}

static enum copy_why why_refused(const struct lane *lane, uint32_t status)
{
    if (lane->side == REFERENCE)
        return status_is_gone(status) ? COPY_GONE : COPY_REFERENCE;
    if (status == NFS3ERR_NOSPC || status == NFS3ERR_DQUOT)
        return COPY_NO_SPACE;
    return status_is_gone(status) ? COPY_LOST : COPY_SUT;
}

int copy_job_refused(struct lane *lane, uint32_t status)
{
    char text[BOUND_CALL_TEXT];

    bound_call_status(&lane->call, status, text);
    return copy_job_failed(lane->job, why_refused(lane, status), "%s: %s",
                           lane->side == REFERENCE ? "the reference" : "the SUT", text);
}

/* --- pauses */

static struct pause *pause_of(const struct copy *copy, uint32_t id)
{
    for (uint32_t i = 0; i < copy->pause_count; i++)
        if (copy->pauses[i].object == id)
            return (struct pause *)&copy->pauses[i];
    return NULL;
}

bool copy_is_pausing(const struct copy *copy, const struct mirror_object *object)
{
    const struct pause *pause = pause_of(copy, object->id);

    return pause && pause->until;
}

void copy_forget_pause(struct copy *copy, const struct mirror_object *object)
{
    struct pause *pause = pause_of(copy, object->id);

    if (pause)
        *pause = copy->pauses[--copy->pause_count];
}

/* A free entry; one that is over counts as free when all are taken.  NULL: there is none. */
static struct pause *new_pause(struct copy *copy)
{
    if (copy->pause_count < PAUSES_MAX)
        return &copy->pauses[copy->pause_count++];
    for (uint32_t i = 0; i < PAUSES_MAX; i++)
        if (!copy->pauses[i].until)
            return &copy->pauses[i];
    return NULL;
}

/* Returns how often the object failed in a row. */
static int pause_object(struct copy *copy, struct mirror_object *object, uint32_t *tries,
                        struct err *err)
{
    int64_t now = loop_now(copy->setup.loop);
    struct pause *pause = pause_of(copy, object->id);

    *tries = 1;
    if (!pause && (pause = new_pause(copy)))
        *pause = (struct pause){ .object = object->id };
    if (!pause)
        return mirror_set_state(copy->setup.mirror, object, MIRROR_QUEUED, err);
    *tries = ++pause->tries;
    pause->until = now + (pause_first << (*tries <= PAUSE_DOUBLES ? *tries - 1 : PAUSE_DOUBLES));
    if (pause->until < copy->next_pause)
        copy->next_pause = pause->until;
    return mirror_set_state(copy->setup.mirror, object, MIRROR_UNKNOWN, err);
}

int copy_end_pauses(struct copy *copy, int64_t now, struct err *err)
{
    int result = 0;

    if (now < copy->next_pause)
        return 0;
    copy->next_pause = INT64_MAX;
    for (uint32_t i = 0; i < copy->pause_count && result == 0; i++) {
        struct pause *pause = &copy->pauses[i];
        struct mirror_object *object = mirror_at(copy->setup.mirror, pause->object);

        if (pause->until && pause->until <= now) {
            pause->until = 0;
            if (object && object->state == MIRROR_UNKNOWN)
                result = mirror_set_state(copy->setup.mirror, object, MIRROR_QUEUED, err);
        }
        if (pause->until && pause->until < copy->next_pause)
            copy->next_pause = pause->until;
    }
    return result;
}

/* --- the end of a job */

void copy_job_close_set(struct job *job)
{
    if (!job->object)
        return;
    change_set_close(copy_job_changes(job));
    mirror_set_changes(job->copy->setup.mirror, job->object, NULL, NULL);
}

void copy_job_clear(struct job *job)
{
    copy_name_set_free(&job->wanted);
    copy_name_set_free(&job->there);
    buf_free(&job->list);
    buf_free(&job->acl);
    free(job->entries);
    free(job->ranges);
    job->entries = NULL;
    job->ranges = NULL;
    job->range_count = job->range_cap = job->range_at = 0;
}

/* Nothing is begun for some time when a server does not answer. */
static void hold(struct copy *copy)
{
    copy->hold = copy->hold ? copy->hold * 2 : hold_first;
    if (copy->hold > hold_most)
        copy->hold = hold_most;
    copy->hold_until = loop_now(copy->setup.loop) + copy->hold;
}

int copy_leaves(struct copy *copy, struct mirror_object *object, enum mirror_state state,
                const char *text, struct err *err)
{
    const struct copy_host *host = &copy->setup.host;
    bool leaves = object->state == MIRROR_SYNCHRONIZED && state != MIRROR_SYNCHRONIZED;
    int result = mirror_set_state(copy->setup.mirror, object, state, err);

    /* the host may hold requests back until it is played, which it will not be */
    return result == 0 && leaves ? host->failed(host->ctx, object, COPY_LOST, 1, text, err)
                                 : result;
}

int copy_lose(struct copy *copy, struct mirror_object *object, struct err *err)
{
    struct mirror *m = copy->setup.mirror;

    if (mirror_set_sut_handle(m, object, (struct bytes){ 0 }, err) < 0)
        return -ERR_SYSTEM;
    return object->state == MIRROR_GONE || object->state == MIRROR_EXCLUDED
               ? 0
               : copy_leaves(copy, object, MIRROR_UNKNOWN, "the SUT does not have it", err);
}

int copy_make_again(struct copy *copy, struct mirror_object *object, struct err *err)
{
    struct mirror *m = copy->setup.mirror;
    struct mirror_object *parent = mirror_at(m, object->parent);
    int result = copy_lose(copy, object, err);

    if (result < 0 || !parent)
        return result;
    if (parent->state == MIRROR_COPYING)
        copy_again(copy, parent);
    return parent->state == MIRROR_SYNCHRONIZED
               ? copy_leaves(copy, parent, MIRROR_QUEUED, "the SUT lost an object in it", err)
               : 0;
}

int copy_leave_out(struct copy *copy, struct mirror_object *object, struct err *err)
{
    const struct copy_host *host = &copy->setup.host;

    if (host->is_wanted(host->ctx, object, NULL, (struct bytes){ 0 }))
        return 0;
    if (mirror_set_sut_handle(copy->setup.mirror, object, (struct bytes){ 0 }, err) < 0)
        return -ERR_SYSTEM;
    return copy_leaves(copy, object, MIRROR_EXCLUDED, "its new name is excluded", err) < 0
               ? -err->code
               : 1;
}

static int tell_failure(struct job *job, struct err *err)
{
    struct copy *copy = job->copy;
    struct mirror_object *object = job->object;
    const struct copy_host *host = &copy->setup.host;
    uint32_t tries = 1;
    int result;

    copy->counts.failed[job->why]++;
    if (job->why == COPY_NO_REFERENCE || job->why == COPY_NO_SUT)
        hold(copy);
    if (job->why == COPY_GONE || job->why == COPY_UNABLE)
        result = mirror_set_state(copy->setup.mirror, object,
                                  job->why == COPY_GONE ? MIRROR_GONE : MIRROR_EXCLUDED, err);
    else if (job->why == COPY_LOST && !object->is_root)
        result = copy_make_again(copy, object, err);
    else
        result = pause_object(copy, object, &tries, err);
    return result == 0 ? host->failed(host->ctx, object, job->why, tries, job->text, err) : result;
}

static int begin_again(struct job *job, struct err *err)
{
    job->end = JOB_GOES_ON;
    if (++job->rounds > ROUNDS_MAX) {
        copy_job_failed(job, COPY_BUSY, "it changed %d times while it was copied", ROUNDS_MAX);
        return copy_job_settle(job, err);
    }
    job->copy->counts.again++;
    for (int i = 0; i < COPY_LANES; i++)
        copy_scratch_settled(job->copy, job->lanes[i].work.number);
    copy_job_clear(job);
    if (copy_job_changes(job))
        change_set_restart(copy_job_changes(job));
    /* what is under way now may still have an ambiguous order with what was dropped */
    job->since = job->copy->setup.host.position(job->copy->setup.host.ctx);
    return copy_job_wait(job, STAGE_SINCE);
}

int copy_job_settle(struct job *job, struct err *err)
{
    struct mirror_object *object = job->object;
    int result = 0;

    if (job->end == JOB_BEGINS_AGAIN && copy_job_is_ours(job) && !job->is_sweeper)
        return begin_again(job, err);
    for (int i = 0; i < COPY_LANES; i++)
        copy_scratch_settled(job->copy, job->lanes[i].work.number);
    copy_job_clear(job);
    copy_job_close_set(job);
    job->used = false;
    if (job->is_sweeper) {
        if (job->end == JOB_FAILED)
            copy_scratch_sweeper_failed(job->copy);
        return 0;
    }
    if (job->end == JOB_FAILED && copy_job_is_ours(job))
        result = tell_failure(job, err);
    if (job->end == JOB_DONE)
        copy_forget_pause(job->copy, object);
    if (result == 0 && job->retaken && object && object->state == MIRROR_COPYING)
        return copy_job_start(job, object, err);
    return result;
}
