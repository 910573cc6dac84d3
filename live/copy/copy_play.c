/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_play.c
 *
 * The last part of an object's copy: a last look at the reference, the decision that copy and set
 * together are complete, the changes of the set, and the attributes.
 */
#include "copy/copy_parts.h"

enum { BEHIND_MAX = 3, LOOKS_MAX = 8 };

/* --- a last look at the reference */

void copy_job_saw_attributes(struct job *job, const struct fattr3 *attributes)
{
    job->attributes = *attributes;
    job->has_attributes = true;
    if (!job->has_first)
        job->first = *attributes;
    job->has_first = true;
}

int copy_job_looked(struct lane *lane, const struct fattr3 *attributes)
{
    struct job *job = lane->job;
    uint32_t type = job->object->type;

    copy_job_saw_attributes(job, attributes);
    lane->busy = false;
    mirror_set_type(job->object, attributes->type);
    if (job->object->type != type)
        return copy_job_begins_again(job);
    return copy_job_wait(job, STAGE_READ);
}

static int took_last(struct lane *lane, struct bytes body, struct err *err)
{
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    (void)err;
    return status ? copy_job_refused(lane, status) : copy_job_looked(lane, &res.obj_attributes);
}

int copy_job_look_at_attributes(struct job *job, struct err *err)
{
    struct GETATTR3args args = { mirror_handle(job->copy->setup.mirror, job->object) };

    return copy_lane_last_call(copy_job_lane(job), COPY_GETATTR, &args, took_last, err);
}

int copy_job_last_look(struct job *job, struct err *err)
{
    copy_job_lane(job)->busy = true;
    job->stage = STAGE_WORK;
    job->has_noted = false;
    return copy_acl_has(job) ? copy_acl_look(job, err) : copy_job_look_at_attributes(job, err);
}

/* --- it may be the same as before */

static int took_same(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    const struct copy_host *host = &job->copy->setup.host;
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status)
        return copy_job_refused(lane, status);
    lane->busy = false;
    if (!host->was_same(host->ctx, job->object, &res.obj_attributes)) {
        job->wants_position = job->has_position = false;
        return copy_job_work(job, err);
    }
    job->copy->counts.same++;
    copy_job_saw_attributes(job, &res.obj_attributes);
    return copy_job_wait(job, STAGE_READ);
}

int copy_same_begin(struct job *job, struct err *err)
{
    struct GETATTR3args args = { mirror_handle(job->copy->setup.mirror, job->object) };
    struct lane *lane = copy_job_lane(job);

    lane->busy = true;
    return copy_lane_last_call(lane, COPY_GETATTR, &args, took_same, err);
}

int copy_attributes_begin(struct job *job, struct err *err)
{
    return copy_job_last_look(job, err);
}

/* --- is it complete? */

static bool is_same_time(const struct nfstime3 *a, const struct nfstime3 *b)
{
    return a->seconds == b->seconds && a->nseconds == b->nseconds;
}

/* It changed while it was read, but nobody told us.  Not ctime: new names change it, too. */
static bool was_changed_behind(const struct job *job)
{
    return change_set_is_empty(copy_job_changes(job)) &&
           (job->is_short || job->first.size != job->attributes.size ||
            !is_same_time(&job->first.mtime, &job->attributes.mtime));
}

/* The set has a change that cannot be played without asking the reference. */
static bool set_lacks(const struct job *job)
{
    struct change_cursor cursor = { 0 };
    struct change change;

    while (change_set_next(copy_job_changes(job), &cursor, &change))
        if (change.kind == CHANGE_READ_AGAIN ||
            (change.kind == CHANGE_MAKE && !change.child.handle.len))
            return true;
    return false;
}

int copy_job_read_all(struct job *job, struct err *err)
{
    struct copy *copy = job->copy;
    const struct copy_host *host = &copy->setup.host;
    struct mirror_object *object = job->object;
    int result;

    if (change_set_state(mirror_changes(copy->setup.mirror, object)) != CHANGES_NOTED)
        return copy_job_begins_again(job);
    if (was_changed_behind(job))
        return ++job->behind > BEHIND_MAX
                   ? copy_job_failed(job, COPY_CHANGED_BEHIND,
                                     "it changes, but nobody changes it through the relay")
                   : copy_job_begins_again(job);
    if (set_lacks(job))
        return object->type == NF3REG ? copy_file_more(job, err) : copy_job_begins_again(job);
    if (job->has_noted && job->looks++ < LOOKS_MAX)
        return copy_job_last_look(job, err);
    job->stage = STAGE_PLAY;
    result = mirror_set_state(copy->setup.mirror, object, MIRROR_SYNCHRONIZED, err);
    if (result == 0)
        result = host->synchronized(host->ctx, object, err);
    return result == 0 ? copy_job_play(job, err) : result;
}

/* --- the attributes, at last */

static int end_play(struct job *job, struct err *err)
{
    struct copy *copy = job->copy;
    struct mirror_object *object = job->object;
    const struct copy_host *host = &copy->setup.host;
    uint64_t *count = object->type == NF3REG   ? &copy->counts.files
                      : object->type == NF3DIR ? &copy->counts.directories
                      : object->type == NF3LNK ? &copy->counts.links
                                               : &copy->counts.others;

    (*count)++;
    copy_job_close_set(job);
    copy_job_ends(job, JOB_DONE);
    return host->played(host->ctx, object, err);
}

static void overlay(struct sattr3 *to, const struct sattr3 *set)
{
    if (set->set_mode) {
        to->set_mode = true;
        to->mode = set->mode;
    }
    if (set->set_uid) {
        to->set_uid = true;
        to->uid = set->uid;
    }
    if (set->set_gid) {
        to->set_gid = true;
        to->gid = set->gid;
    }
    if (set->set_atime != DONT_CHANGE) {
        to->set_atime = set->set_atime;
        to->atime = set->atime;
    }
    if (set->set_mtime != DONT_CHANGE) {
        to->set_mtime = set->set_mtime;
        to->mtime = set->mtime;
    }
}

static struct sattr3 wanted_attributes(const struct job *job)
{
    const struct fattr3 *a = &job->attributes;
    bool is_current = !job->has_noted || change_set_is_empty(copy_job_changes(job));
    struct sattr3 to = { .set_mode = a->type != NF3LNK,
                         .set_uid = true,
                         .set_gid = true,
                         .set_size = a->type == NF3REG && is_current,
                         .set_atime = SET_TO_CLIENT_TIME,
                         .set_mtime = SET_TO_CLIENT_TIME,
                         .mode = a->mode & MODE_ALL,
                         .uid = a->uid,
                         .gid = a->gid,
                         .size = a->size,
                         .atime = a->atime,
                         .mtime = a->mtime };

    if (!is_current && job->has_overlay)
        overlay(&to, &job->overlay);
    if (job->owner_refused)
        to.set_uid = to.set_gid = false;
    return to;
}

static int took_mode(struct lane *lane, struct bytes body, struct err *err)
{
    struct SETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status)
        return copy_job_refused(lane, status);
    lane->busy = false;
    return end_play(lane->job, err);
}

/* Servers take the set-id bits away when the owner is set, also if the mode is set with it. */
static int set_mode(struct lane *lane, uint32_t mode, struct err *err)
{
    struct SETATTR3args args = { .object = handle_bytes(&lane->job->sut),
                                 .new_attributes = { .set_mode = true, .mode = mode } };

    return copy_lane_call(lane, SUT, COPY_SETATTR, &args, took_mode, err);
}

static int took_attributes(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct SETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);
    const struct post_op_attr *after;
    struct sattr3 wanted;

    if ((status == NFS3ERR_PERM || status == NFS3ERR_ACCES || status == NFS3ERR_INVAL) &&
        !job->owner_refused) {
        job->owner_refused = true;
        return copy_job_set_attributes(job, err);
    }
    /* not every server has attributes of symbolic links */
    if (status && !(job->object->type == NF3LNK && !status_is_gone(status)))
        return copy_job_refused(lane, status);
    job->copy->counts.refused_owners += job->owner_refused;
    wanted = wanted_attributes(job);
    after = &res.obj_wcc.after;
    if (wanted.set_mode && wanted.mode & (MODE_SETUID | MODE_SETGID) &&
        !(after->attributes_follow && (after->attributes.mode & MODE_ALL) == wanted.mode))
        return set_mode(lane, wanted.mode, err);
    lane->busy = false;
    return end_play(job, err);
}

int copy_job_set_attributes(struct job *job, struct err *err)
{
    struct SETATTR3args args = { .object = handle_bytes(&job->sut),
                                 .new_attributes = wanted_attributes(job) };
    struct lane *lane = copy_job_lane(job);

    lane->busy = true;
    return copy_lane_call(lane, SUT, COPY_SETATTR, &args, took_attributes, err);
}

/* --- the changes: one after the other */

static int took_size(struct lane *lane, struct bytes body, struct err *err)
{
    struct SETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    return status ? copy_job_refused(lane, status) : copy_lane_done(lane, err);
}

static int play_size(struct lane *lane, uint64_t size, struct err *err)
{
    struct SETATTR3args args = { .object = handle_bytes(&lane->job->sut),
                                 .new_attributes = { .set_size = true, .size = size } };

    return copy_lane_call(lane, SUT, COPY_SETATTR, &args, took_size, err);
}

static int play_write(struct lane *lane, struct err *err);

static int took_write(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct WRITE3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status)
        return copy_job_refused(lane, status);
    if (!res.count && ++lane->empty < EMPTY_MAX)
        return play_write(lane, err);
    if (!res.count || res.count > job->change.length - job->play_offset)
        return copy_job_failed(job, COPY_SUT, "the SUT: WRITE says that it wrote %u bytes",
                               res.count);
    lane->empty = 0;
    job->play_offset += res.count;
    job->copy->counts.bytes_written += res.count;
    return job->play_offset < job->change.length ? play_write(lane, err)
                                                 : copy_lane_done(lane, err);
}

static int play_write(struct lane *lane, struct err *err)
{
    struct job *job = lane->job;
    uint64_t left = job->change.length - job->play_offset;
    uint32_t most = job->copy->setup.piece, count = left < most ? (uint32_t)left : most;
    struct WRITE3args args = { .file = handle_bytes(&job->sut),
                               .offset = job->change.offset + job->play_offset,
                               .count = count,
                               .stable = FILE_SYNC,
                               .data = { job->change.data.data + job->play_offset, count } };

    return copy_lane_call(lane, SUT, COPY_WRITE, &args, took_write, err);
}

static int play_name(struct lane *lane, struct err *err)
{
    struct job *job = lane->job;
    const struct change *change = &job->change;

    lane->work = (struct name_work){ .directory = job->sut, .is_there = true };
    if (!copy_name_is(lane, change->name))
        return copy_lane_done(lane, err);
    if (change->kind == CHANGE_REMOVE)
        return copy_name_remove(lane, err);
    handle_set(&lane->work.child, change->child.handle);
    lane->work.plays = true;
    lane->work.attributes.type = change->child.type;
    lane->work.attributes.rdev = change->child.device;
    lane->work.link_text = change->child.link_text;
    return copy_name_begin(lane, err);
}

static int feed_play(struct job *job, struct lane *lane, struct err *err)
{
    int result = 0;

    if (lane != copy_job_lane(job))
        return 0;
    if (!job->is_sized) { /* zeros at the end were not written, and what was there before was not
                             cut */
        job->is_sized = true;
        result = play_size(lane, job->needs_cut ? job->written : job->attributes.size, err);
        return result < 0 ? result : 1;
    }
    if (!change_set_next(copy_job_changes(job), &job->cursor, &job->change))
        return 0;
    job->copy->counts.played++;
    job->play_offset = 0;
    lane->empty = 0;
    switch (job->change.kind) {
    case CHANGE_SIZE:
        result = play_size(lane, job->change.size, err);
        break;
    case CHANGE_WRITE:
        result = play_write(lane, err);
        break;
    case CHANGE_REMOVE:
    case CHANGE_MAKE:
        result = play_name(lane, err);
        break;
    case CHANGE_ATTRIBUTES: /* with the others, at last */
        job->overlay = job->change.attributes;
        job->has_overlay = true;
        result = copy_lane_done(lane, err);
        break;
    case CHANGE_READ_AGAIN: /* set_lacks has seen to it */
        result = copy_job_failed(job, COPY_BUSY, "its changes are too many");
        break;
    }
    return result < 0 ? result : 1;
}

int copy_job_play(struct job *job, struct err *err)
{
    job->cursor = (struct change_cursor){ 0 };
    job->has_overlay = false;
    job->is_sized = job->object->type != NF3REG || change_set_is_empty(copy_job_changes(job));
    job->feed = feed_play;
    job->fed = copy_acl_set;
    return copy_job_feed(job, err);
}
