/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_scratch.c
 *
 * The scratch directory in the SUT's root.  In it lie, under numbers, objects between an old name
 * and a new one (the stash), and directories to be removed with all that is in them (the trash).
 * It is made when it is needed, and removed when nothing is in it.
 *
 * The sweeper is a job without an object.  It removes the trash: the names in one directory, then
 * the directory.  A directory in it that is not empty is moved up into the scratch directory, so
 * there is no depth, and nothing to be remembered.
 */
#include "copy/copy_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static const int64_t rest = 20000000, wait_most = 1000000000;

static int sweep(struct job *job, struct err *err);
static int sweep_name(struct job *job, struct err *err);

void copy_scratch_init(struct copy *copy)
{
    struct scratch *s = &copy->scratch;
    uint64_t random = copy->seed;

    if (getrandom(&random, sizeof(random), 0) < 0)
        random ^= (uint64_t)loop_clock();
    s->state = SCRATCH_NONE;
    s->stash_count = 0;
    s->has_trash = false;
    s->handle.len = 0;
    snprintf(s->name, sizeof(s->name), ".nfstee-%016llx", (unsigned long long)random);
}

/* --- the stash */

uint32_t copy_scratch_number(struct copy *copy, char name[SCRATCH_NAME])
{
    struct scratch *s = &copy->scratch;

    s->wait = rest;
    s->sweep_at = loop_now(copy->setup.loop) + rest;
    snprintf(name, SCRATCH_NAME, "%u", ++s->last_number);
    return s->last_number;
}

static struct stash *stash_of(const struct copy *copy, uint32_t object)
{
    const struct scratch *s = &copy->scratch;

    for (uint32_t i = 0; i < s->stash_count; i++)
        if (s->stashes[i].object == object)
            return (struct stash *)&s->stashes[i];
    return NULL;
}

void copy_scratch_forget(struct copy *copy, uint32_t object)
{
    struct stash *stash = stash_of(copy, object);

    if (stash)
        *stash = copy->scratch.stashes[--copy->scratch.stash_count];
    copy_look_later(copy);
}

void copy_scratch_drop(struct copy *copy, uint32_t object)
{
    if (stash_of(copy, object))
        copy->scratch.has_trash = true;
    copy_scratch_forget(copy, object);
}

/* Before it is put there: the sweeper takes what it does not know for trash. */
void copy_scratch_put(struct copy *copy, uint32_t object, uint32_t number)
{
    struct scratch *s = &copy->scratch;

    if (stash_of(copy, object) || s->stash_count >= STASH_MAX)
        s->has_trash = true; /* it has another name already, or will be copied anew */
    else
        s->stashes[s->stash_count++] = (struct stash){ object, number, true };
}

void copy_scratch_settled(struct copy *copy, uint32_t number)
{
    struct scratch *s = &copy->scratch;

    for (uint32_t i = 0; number && i < s->stash_count; i++)
        if (s->stashes[i].number == number)
            s->stashes[i].is_pending = false;
}

bool copy_scratch_find(const struct copy *copy, uint32_t object, char name[SCRATCH_NAME])
{
    const struct stash *stash = stash_of(copy, object);

    if (stash && stash->is_pending)
        stash = NULL; /* on its way: it still has its old name */
    if (stash)
        snprintf(name, SCRATCH_NAME, "%u", stash->number);
    return stash;
}

static bool is_stashed(const struct scratch *s, struct bytes name)
{
    char text[SCRATCH_NAME];

    for (uint32_t i = 0; i < s->stash_count; i++) {
        snprintf(text, sizeof(text), "%u", s->stashes[i].number);
        if (bytes_equal(text_bytes(text), name))
            return true;
    }
    return false;
}

/* --- making and removing it */

int copy_scratch_wait(struct lane *lane, lane_fn *then, struct err *err)
{
    struct scratch *s = &lane->job->copy->scratch;

    if (s->state == SCRATCH_THERE)
        return then(lane, err);
    lane->work.scratch_then = then;
    lane->next = s->waiting;
    s->waiting = lane;
    copy_look_later(lane->job->copy);
    return 0;
}

static int end_sweep(struct job *job)
{
    copy_job_ends(job, JOB_DONE);
    return 0;
}

static int let_go_on(struct copy *copy, struct err *err)
{
    struct scratch *s = &copy->scratch;
    int result = 0;

    while (s->waiting && result == 0) {
        struct lane *lane = s->waiting;

        s->waiting = lane->next;
        result = lane->work.scratch_then(lane, err);
    }
    return result;
}

static int took_handle(struct lane *lane, struct err *err)
{
    struct scratch *s = &lane->job->copy->scratch;

    if (!lane->work.found.len)
        return copy_job_failed(lane->job, COPY_SUT, "the SUT does not have %s", s->name);
    s->handle = lane->work.found;
    s->state = SCRATCH_THERE;
    end_sweep(lane->job);
    return let_go_on(lane->job->copy, err);
}

static int took_mkdir(struct lane *lane, struct bytes body, struct err *err)
{
    struct CREATE3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status && status != NFS3ERR_EXIST)
        return copy_job_refused(lane, status);
    if (status || !res.obj_follows || !res.obj.len)
        return copy_name_find(lane, took_handle, err);
    handle_set(&lane->work.found, res.obj);
    return took_handle(lane, err);
}

static int make(struct job *job, struct err *err)
{
    struct copy *copy = job->copy;
    struct lane *lane = copy_job_lane(job);
    struct MKDIR3args args;

    copy->scratch.state = SCRATCH_MAKING;
    lane->work = (struct name_work){ .directory = copy->root };
    copy_name_is(lane, text_bytes(copy->scratch.name));
    args = (struct MKDIR3args){ copy_name_where(lane), { .set_mode = true, .mode = 0700 } };
    return copy_lane_call(lane, SUT, COPY_MKDIR, &args, took_mkdir, err);
}

static int took_gone(struct lane *lane, struct bytes body, struct err *err)
{
    struct copy *copy = lane->job->copy;
    struct mirror *m = copy->setup.mirror;
    struct mirror_object *root = mirror_find_sut(m, handle_bytes(&copy->root));
    struct REMOVE3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status && status != NFS3ERR_NOENT) {
        copy->scratch.state = SCRATCH_THERE;
        return copy_job_refused(lane, status);
    }
    copy->scratch.state = SCRATCH_NONE;
    end_sweep(lane->job);
    /* its times are now's */
    return root && root->state == MIRROR_SYNCHRONIZED
               ? copy_leaves(copy, root, MIRROR_QUEUED, "its times are new", err)
               : 0;
}

static int remove_scratch(struct job *job, struct err *err)
{
    struct copy *copy = job->copy;
    struct REMOVE3args args = { { handle_bytes(&copy->root), text_bytes(copy->scratch.name) } };

    copy->scratch.state = SCRATCH_REMOVING;
    return copy_lane_call(copy_job_lane(job), SUT, COPY_RMDIR, &args, took_gone, err);
}

/* --- the trash */

static int feed_swept(struct job *job, struct lane *lane, struct err *err)
{
    while (job->entry_at < job->entry_count) {
        struct bytes name = job->entries[job->entry_at++].name;
        int result;

        lane->work = (struct name_work){ .directory = job->copy->scratch.swept };
        if (bytes_are_dots(name) || !copy_name_is(lane, name))
            continue;
        result = copy_name_remove(lane, err);
        return result < 0 ? result : 1;
    }
    return 0;
}

static int took_swept(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    uint32_t status = load_be32(body.data);

    lane->busy = false;
    if (status)
        return copy_job_refused(lane, status);
    if (!copy_directory_keep(job, body, NULL))
        return 0;
    job->feed = feed_swept;
    job->fed = sweep_name;
    return copy_job_feed(job, err);
}

static int took_swept_name(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct REMOVE3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status == NFS3ERR_NOTEMPTY || status == NFS3ERR_EXIST) {
        job->copy->scratch.swept = lane->work.found;
        if (++job->list_tries > 1u << 20)
            return copy_job_failed(job, COPY_SUT, "the SUT: a directory does not become empty");
        job->cookie = 0;
        memset(job->cookie_verifier, 0, sizeof(job->cookie_verifier));
        return copy_directory_list(job, SUT, handle_bytes(&lane->work.found), took_swept, err);
    }
    if (status && status != NFS3ERR_NOENT)
        return copy_job_refused(lane, status);
    job->copy->counts.removed++;
    return sweep(job, err);
}

static int found_swept(struct lane *lane, struct err *err)
{
    struct REMOVE3args args = { copy_name_where(lane) };

    if (!lane->work.found.len)
        return sweep(lane->job, err);
    return copy_lane_call(lane, SUT, lane->work.found_type == NF3DIR ? COPY_RMDIR : COPY_REMOVE,
                          &args, took_swept_name, err);
}

/* Removes the name |swept_name| of the scratch directory. */
static int sweep_name(struct job *job, struct err *err)
{
    struct scratch *s = &job->copy->scratch;
    struct lane *lane = copy_job_lane(job);

    lane->busy = true;
    lane->work = (struct name_work){ .directory = s->handle };
    copy_name_is(lane, text_bytes(s->swept_name));
    return copy_name_find(lane, found_swept, err);
}

static int took_scratch(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct scratch *s = &job->copy->scratch;
    uint32_t status = load_be32(body.data);

    if (status_is_gone(status)) {
        copy_scratch_init(job->copy);
        return end_sweep(job);
    }
    if (status)
        return copy_job_refused(lane, status);
    if (!copy_directory_keep(job, body, NULL))
        return 0;
    for (uint32_t i = 0; i < job->entry_count; i++) {
        struct bytes name = job->entries[i].name;

        if (bytes_are_dots(name))
            continue;
        if (is_stashed(s, name) || name.len >= SCRATCH_NAME) {
            job->matched++;
            continue;
        }
        memcpy(s->swept_name, name.data, name.len);
        s->swept_name[name.len] = 0;
        return sweep_name(job, err);
    }
    if (!job->list_ends)
        return copy_directory_list(job, SUT, handle_bytes(&s->handle), took_scratch, err);
    if (!job->matched && !s->stash_count && !s->waiting && !s->has_trash)
        return remove_scratch(job, err);
    return end_sweep(job);
}

static int sweep(struct job *job, struct err *err)
{
    struct scratch *s = &job->copy->scratch;

    s->has_trash = false; /* until more comes */
    job->matched = 0;
    job->cookie = 0;
    memset(job->cookie_verifier, 0, sizeof(job->cookie_verifier));
    return copy_directory_list(job, SUT, handle_bytes(&s->handle), took_scratch, err);
}

/* --- what is in the stash longer than it should: objects that are gone, or that got their name
 * while they were stashed */

static int look_at_stash(struct job *job, struct err *err);

static int took_stash_reference(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct scratch *s = &job->copy->scratch;
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);
    uint32_t nlink = lane->work.found_nlink;

    if (status && !status_is_gone(status))
        return copy_job_refused(lane, status);
    if (s->looked < s->stash_count && s->stashes[s->looked].number == lane->work.number &&
        (status ||
         (res.obj_attributes.type != NF3DIR && nlink > 1 && nlink > res.obj_attributes.nlink)))
        copy_scratch_drop(job->copy, s->stashes[s->looked].object);
    else
        s->looked++;
    return look_at_stash(job, err);
}

static int found_stashed(struct lane *lane, struct err *err)
{
    struct scratch *s = &lane->job->copy->scratch;
    struct GETATTR3args args = { handle_bytes(&lane->work.child) };

    if (lane->work.found.len)
        return copy_lane_call(lane, REFERENCE, COPY_GETATTR, &args, took_stash_reference, err);
    if (s->looked < s->stash_count && s->stashes[s->looked].number == lane->work.number)
        copy_scratch_forget(lane->job->copy, s->stashes[s->looked].object);
    return look_at_stash(lane->job, err);
}

/* No directory is copied, or waits for that: so none makes the name that a stashed object has on
 * the reference.  It may be a name that the host does not want, or one that it does not know. */
static bool is_left(const struct copy *copy)
{
    const struct mirror *m = copy->setup.mirror;

    return copy->scratch.wait >= wait_most && !copy->pause_count &&
           !mirror_count_state(m, MIRROR_QUEUED) && !mirror_count_state(m, MIRROR_COPYING);
}

/* What does not wait for a name any more is to be dropped: it has no handle then. */
static int let_go(struct copy *copy, struct mirror_object *object, struct err *err)
{
    int result = copy_leave_out(copy, object, err);

    return result || !is_left(copy) ? result : copy_make_again(copy, object, err);
}

static int look_at_stash(struct job *job, struct err *err)
{
    struct mirror *m = job->copy->setup.mirror;
    struct scratch *s = &job->copy->scratch;
    struct lane *lane = copy_job_lane(job);

    while (s->looked < s->stash_count) {
        struct mirror_object *object = mirror_at(m, s->stashes[s->looked].object);
        char name[SCRATCH_NAME];

        if (s->stashes[s->looked].is_pending) {
            s->looked++;
            continue;
        }
        if (object && object->state != MIRROR_GONE && let_go(job->copy, object, err) < 0)
            return -err->code;
        if (!object || object->state == MIRROR_GONE || !object->sut_handle_len) {
            copy_scratch_drop(job->copy, s->stashes[s->looked].object);
            continue;
        }
        lane->work =
            (struct name_work){ .directory = s->handle, .number = s->stashes[s->looked].number };
        snprintf(name, sizeof(name), "%u", lane->work.number);
        copy_name_is(lane, text_bytes(name));
        handle_set(&lane->work.child, mirror_handle(m, object));
        return copy_name_find(lane, found_stashed, err);
    }
    return s->has_trash || !s->stash_count ? sweep(job, err) : end_sweep(job);
}

/* --- when */

void copy_scratch_sweeper_failed(struct copy *copy)
{
    struct scratch *s = &copy->scratch;
    const struct job *sweeper = &copy->sweeper;

    if (s->state == SCRATCH_MAKING)
        s->state = SCRATCH_NONE;
    if (s->state == SCRATCH_REMOVING)
        s->state = SCRATCH_THERE;
    s->has_trash = true;
    s->sweep_at = loop_now(copy->setup.loop) + wait_most;
    while (s->waiting) {
        struct lane *lane = s->waiting;

        s->waiting = lane->next;
        copy_job_failed(lane->job, sweeper->why, "%s", sweeper->text);
    }
}

int copy_scratch_look(struct copy *copy, struct err *err)
{
    struct scratch *s = &copy->scratch;
    int64_t now = loop_now(copy->setup.loop);
    struct job *job = &copy->sweeper;
    bool makes = s->waiting && s->state == SCRATCH_NONE;

    if (job->used || copy->ended || now < copy->hold_until)
        return 0;
    if (!makes && (s->state != SCRATCH_THERE || now < s->sweep_at))
        return 0;
    s->wait = s->wait < rest ? rest : s->wait * 2 < wait_most ? s->wait * 2 : wait_most;
    s->sweep_at = now + s->wait;
    s->looked = 0;
    *job = (struct job){ .copy = copy, .is_sweeper = true, .used = true, .stage = STAGE_WORK };
    for (int i = 0; i < COPY_LANES; i++)
        job->lanes[i].job = job;
    copy_job_lane(job)->busy = true;
    if (makes)
        return make(job, err);
    /* trash first: while it has further names of what is stashed, links cannot be counted */
    return s->has_trash ? sweep(job, err) : look_at_stash(job, err);
}
