/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_remove.c
 *
 * One name on the SUT has to go.  What has it may live on under another name: if the reference
 * still has the object, it is not removed by its last name, but put into the scratch directory.
 * A directory that is not empty goes there, too, and is removed by and by.
 * What the host does not want under its new name is removed.
 */
#include "copy/copy_parts.h"

#include <stdio.h>

static int finished(struct lane *lane, struct err *err)
{
    lane->work.takes = false;
    copy_scratch_settled(lane->job->copy, lane->work.number);
    return lane->work.then ? lane->work.then(lane, err) : copy_lane_done(lane, err);
}

/* Others may have removed another of its names at the same time. */
static int took_rest(struct lane *lane, struct bytes body, struct err *err)
{
    struct copy *copy = lane->job->copy;
    struct mirror_object *object =
        mirror_find_sut(copy->setup.mirror, handle_bytes(&lane->work.found));
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status && !status_is_gone(status))
        return copy_job_refused(lane, status);
    if (status && object && copy_make_again(copy, object, err) < 0)
        return -err->code;
    return finished(lane, err);
}

static int took_remove(struct lane *lane, struct bytes body, struct err *err)
{
    struct GETATTR3args args = { handle_bytes(&lane->work.found) };
    struct REMOVE3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status && status != NFS3ERR_NOENT)
        return copy_job_refused(lane, status);
    lane->job->copy->counts.removed++;
    return lane->work.is_alive ? copy_lane_call(lane, SUT, COPY_GETATTR, &args, took_rest, err)
                               : finished(lane, err);
}

static int remove_file(struct lane *lane, struct err *err)
{
    struct REMOVE3args args = { copy_name_where(lane) };

    return copy_lane_call(lane, SUT, COPY_REMOVE, &args, took_remove, err);
}

/* --- into the scratch directory */

/* What is put there; 0: nobody knows it. */
static uint32_t found_object(const struct lane *lane)
{
    const struct mirror_object *object =
        mirror_find_sut(lane->job->copy->setup.mirror, handle_bytes(&lane->work.found));

    return object ? object->id : 0;
}

/* A new name there; what lives on is known by it from now on. */
static struct diropargs3 new_place(struct lane *lane, char name[SCRATCH_NAME])
{
    struct copy *copy = lane->job->copy;
    uint32_t object = found_object(lane);

    lane->work.number = copy_scratch_number(copy, name);
    if (lane->work.is_alive && object)
        copy_scratch_put(copy, object, lane->work.number);
    return (struct diropargs3){ handle_bytes(&copy->scratch.handle), text_bytes(name) };
}

static int took_away(struct lane *lane, struct bytes body, struct err *err)
{
    struct copy *copy = lane->job->copy;
    struct RENAME3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status && status != NFS3ERR_NOENT)
        return copy_job_refused(lane, status);
    copy->counts.moved++;
    copy->scratch.has_trash = true; /* if nobody knows it, or it got a name meanwhile */
    return finished(lane, err);
}

static int move_away(struct lane *lane, struct err *err)
{
    char name[SCRATCH_NAME];
    struct RENAME3args args = { copy_name_where(lane), new_place(lane, name) };

    return copy_lane_call(lane, SUT, COPY_RENAME, &args, took_away, err);
}

/* --- the two ways */

static int took_rmdir(struct lane *lane, struct bytes body, struct err *err)
{
    struct REMOVE3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status == NFS3ERR_NOTEMPTY || status == NFS3ERR_EXIST)
        return copy_scratch_wait(lane, move_away, err);
    if (status && status != NFS3ERR_NOENT)
        return copy_job_refused(lane, status);
    lane->job->copy->counts.removed++;
    return finished(lane, err);
}

static int remove_dead(struct lane *lane, struct err *err)
{
    struct mirror *m = lane->job->copy->setup.mirror;
    struct mirror_object *object = mirror_find_sut(m, handle_bytes(&lane->work.found));
    struct REMOVE3args args = { copy_name_where(lane) };

    lane->work.is_alive = false;
    if (object && lane->work.found_nlink <= 1 && lane->work.found_type != NF3DIR &&
        copy_lose(lane->job->copy, object, err) < 0)
        return -err->code;
    if (lane->work.found_type != NF3DIR)
        return remove_file(lane, err);
    return copy_lane_call(lane, SUT, COPY_RMDIR, &args, took_rmdir, err);
}

static int took_links(struct lane *lane, struct bytes body, struct err *err)
{
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status && !status_is_gone(status))
        return copy_job_refused(lane, status);
    if (!status && res.obj_attributes.nlink > 1)
        return remove_file(lane, err);
    lane->work.takes = false;
    return copy_scratch_wait(lane, move_away, err);
}

/* One of several names can be removed, but only one at a time: the last one must stay. */
static int keep_alive(struct lane *lane, struct err *err)
{
    struct name_work *work = &lane->work;
    struct GETATTR3args args = { handle_bytes(&work->found) };

    work->is_alive = true;
    if (work->found_type == NF3DIR || work->found_nlink <= 1 ||
        copy_is_taken(lane->job->copy, lane))
        return copy_scratch_wait(lane, move_away, err);
    work->takes = true;
    return copy_lane_call(lane, SUT, COPY_GETATTR, &args, took_links, err);
}

static int took_alive(struct lane *lane, struct bytes body, struct err *err)
{
    struct copy *copy = lane->job->copy;
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);
    struct mirror_object *object =
        mirror_find_sut(copy->setup.mirror, handle_bytes(&lane->work.found));
    bool is_last_name = lane->work.found_type == NF3DIR || lane->work.found_nlink <= 1;
    int left = 0;

    if (status && !status_is_gone(status))
        return copy_job_refused(lane, status);
    if (!status && object && is_last_name)
        left = copy_leave_out(copy, object, err);
    if (left < 0)
        return left;
    return status || left || copy->scratch.stash_count >= STASH_MAX ? remove_dead(lane, err)
                                                                    : keep_alive(lane, err);
}

int copy_name_displace(struct lane *lane, lane_fn *then, struct err *err)
{
    struct mirror *m = lane->job->copy->setup.mirror;
    struct mirror_object *object = mirror_find_sut(m, handle_bytes(&lane->work.found));

    lane->work.then = then;
    if (object && object->state != MIRROR_GONE) {
        struct GETATTR3args args = { mirror_handle(m, object) };

        return copy_lane_call(lane, REFERENCE, COPY_GETATTR, &args, took_alive, err);
    }
    return remove_dead(lane, err);
}

static int found(struct lane *lane, struct err *err)
{
    return lane->work.found.len ? copy_name_displace(lane, NULL, err) : copy_lane_done(lane, err);
}

int copy_name_remove(struct lane *lane, struct err *err)
{
    return copy_name_find(lane, found, err);
}
