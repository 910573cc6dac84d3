/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_name.c
 *
 * One name of a directory on the SUT is to stand for one object of the reference: looks at what has
 * the name now, and takes it, or makes room for the right object (copy_remove.c, copy_make.c).
 */
#include "copy/copy_parts.h"

static int learn(struct lane *lane, struct err *err);

bool copy_name_is(struct lane *lane, struct bytes name)
{
    bool is_good = name.len <= MIRROR_NAME_MAX && bytes_are_name(name) && !bytes_are_dots(name);

    if (!is_good) {
        lane->job->copy->counts.refused_names++;
        return false;
    }
    lane->work.name_len = (uint8_t)name.len;
    memcpy(lane->work.name, name.data, name.len);
    return true;
}

struct mirror_object *copy_name_child(const struct lane *lane)
{
    return mirror_find(lane->job->copy->setup.mirror, handle_bytes(&lane->work.child));
}

struct diropargs3 copy_name_where(const struct lane *lane)
{
    const struct name_work *work = &lane->work;

    return (struct diropargs3){ handle_bytes(&work->directory), { work->name, work->name_len } };
}

/* --- what the reference has */

static int took_child(struct lane *lane, struct bytes body, struct err *err)
{
    struct LOOKUP3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status == NFS3ERR_NOENT) /* removed since; the set knows */
        return copy_lane_done(lane, err);
    if (status)
        return copy_job_refused(lane, status);
    handle_set(&lane->work.child, res.object);
    lane->work.has_attributes = res.obj_attributes.attributes_follow;
    lane->work.attributes = res.obj_attributes.attributes;
    if (!lane->work.child.len)
        return copy_job_failed(lane->job, COPY_REFERENCE, "the reference: LOOKUP gives no handle");
    return copy_name_begin(lane, err);
}

static int took_attributes(struct lane *lane, struct bytes body, struct err *err)
{
    struct name_work *work = &lane->work;
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status_is_gone(status) && !work->plays)
        return copy_lane_done(lane, err);
    if (status && !status_is_gone(status))
        return copy_job_refused(lane, status);
    if (!status)
        work->attributes = res.obj_attributes;
    else if (!work->attributes.type) /* played, and gone since: something has the name until then */
        work->attributes.type = NF3REG;
    work->has_attributes = true;
    return learn(lane, err);
}

/* The object's name: the reference's listing is right about directories, and files with one. */
static int learn_name(struct lane *lane, struct mirror_object *child, struct err *err)
{
    const struct name_work *work = &lane->work;
    struct mirror *m = lane->job->copy->setup.mirror;
    struct mirror_object *parent = mirror_at(m, child->parent);
    struct bytes name = { work->name, work->name_len };
    bool has_one =
        work->attributes.type == NF3DIR || (work->has_attributes && work->attributes.nlink == 1);

    if (child->name_len && (work->plays || !has_one || !parent))
        return 0;
    if (child->name_len &&
        (parent != lane->job->object || !bytes_equal(mirror_name(m, child), name)))
        mirror_remove_name(m, child, parent, mirror_name(m, child));
    return mirror_add_name(m, child, lane->job->object, name, err);
}

static int place(struct lane *lane, struct mirror_object *child, struct err *err)
{
    if (child->is_root || child == lane->job->object)
        return copy_job_failed(lane->job, COPY_REFERENCE, "a directory that contains itself");
    if (learn_name(lane, child, err) < 0)
        return -err->code;
    return lane->work.is_there ? copy_name_look(lane, err) : copy_name_make(lane, err);
}

static int took_gone(struct lane *lane, struct bytes body, struct err *err)
{
    struct copy *copy = lane->job->copy;
    struct mirror_object *child = copy_name_child(lane);
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status && !status_is_gone(status))
        return copy_job_refused(lane, status);
    if (!child) /* and forgotten */
        return lane->work.plays ? copy_name_look(lane, err) : copy_lane_done(lane, err);
    if (!status && child->state == MIRROR_GONE &&
        mirror_set_state(copy->setup.mirror, child, MIRROR_UNKNOWN, err) < 0)
        return -err->code;
    return !status || lane->work.plays ? place(lane, child, err) : copy_lane_done(lane, err);
}

static int learn(struct lane *lane, struct err *err)
{
    const struct name_work *work = &lane->work;
    struct copy *copy = lane->job->copy;
    struct mirror_object *child = mirror_add(copy->setup.mirror, handle_bytes(&work->child), err);
    struct GETATTR3args args = { handle_bytes(&work->child) };

    if (!child)
        return -err->code;
    mirror_set_type(child, work->attributes.type);
    if (work->has_attributes &&
        mirror_set_fileid(copy->setup.mirror, child, work->attributes.fileid, err) < 0)
        return -err->code;
    /* the host knows what it read; the listing may be older, or show another name of it */
    if (child->state == MIRROR_GONE)
        return copy_lane_call(lane, REFERENCE, COPY_GETATTR, &args, took_gone, err);
    return place(lane, child, err);
}

int copy_name_begin(struct lane *lane, struct err *err)
{
    struct name_work *work = &lane->work;
    struct mirror *m = lane->job->copy->setup.mirror;
    struct mirror_object *child;

    if (!work->child.len) {
        struct LOOKUP3args args = { { mirror_handle(m, lane->job->object),
                                      { work->name, work->name_len } } };

        return copy_lane_call(lane, REFERENCE, COPY_LOOKUP, &args, took_child, err);
    }
    child = copy_name_child(lane);
    if (!work->attributes.type && child)
        work->attributes.type = child->type;
    if (!work->attributes.type || (!work->has_attributes && (work->attributes.type == NF3BLK ||
                                                             work->attributes.type == NF3CHR))) {
        struct GETATTR3args args = { handle_bytes(&work->child) };

        return copy_lane_call(lane, REFERENCE, COPY_GETATTR, &args, took_attributes, err);
    }
    return learn(lane, err);
}

/* --- what the SUT has */

static int took_found_attributes(struct lane *lane, struct bytes body, struct err *err)
{
    struct name_work *work = &lane->work;
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status_is_gone(status)) {
        work->found.len = 0;
        return work->found_then(lane, err);
    }
    if (status)
        return copy_job_refused(lane, status);
    work->found_type = res.obj_attributes.type;
    work->found_nlink = res.obj_attributes.nlink;
    work->found_device = res.obj_attributes.rdev;
    return work->found_then(lane, err);
}

static int took_find(struct lane *lane, struct bytes body, struct err *err)
{
    struct name_work *work = &lane->work;
    struct LOOKUP3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    work->found.len = 0;
    if (status == NFS3ERR_NOENT)
        return work->found_then(lane, err);
    if (status)
        return copy_job_refused(lane, status);
    handle_set(&work->found, res.object);
    if (!work->found.len)
        return copy_job_failed(lane->job, COPY_SUT, "the SUT: LOOKUP gives no handle");
    if (!res.obj_attributes.attributes_follow) {
        struct GETATTR3args args = { handle_bytes(&work->found) };

        return copy_lane_call(lane, SUT, COPY_GETATTR, &args, took_found_attributes, err);
    }
    work->found_type = res.obj_attributes.attributes.type;
    work->found_nlink = res.obj_attributes.attributes.nlink;
    work->found_device = res.obj_attributes.attributes.rdev;
    return work->found_then(lane, err);
}

int copy_name_find(struct lane *lane, lane_fn *then, struct err *err)
{
    struct LOOKUP3args args = { copy_name_where(lane) };

    lane->work.found_then = then;
    return copy_lane_call(lane, SUT, COPY_LOOKUP, &args, took_find, err);
}

/* What the SUT has can become the object: nobody else is it, and what no call changes is right. */
static bool can_be_taken(const struct name_work *work)
{
    const struct specdata3 *a = &work->found_device, *b = &work->attributes.rdev;

    if (work->found_type != work->attributes.type)
        return false;
    switch (work->found_type) {
    case NF3LNK:
        return work->was_made;
    case NF3BLK:
    case NF3CHR:
        return a->specdata1 == b->specdata1 && a->specdata2 == b->specdata2;
    default:
        return true;
    }
}

static int compare(struct lane *lane, struct err *err)
{
    struct name_work *work = &lane->work;
    struct mirror *m = lane->job->copy->setup.mirror;
    struct mirror_object *child = copy_name_child(lane);
    struct bytes found = handle_bytes(&work->found);

    if (!found.len)
        return copy_name_make(lane, err);
    if (!child)
        return copy_lane_done(lane, err); /* forgotten: gone on the reference */
    if (bytes_equal(found, mirror_sut_handle(m, child))) {
        if (work->found_type == work->attributes.type)
            return copy_name_stands(lane, err);
        /* the host took it for the child's, by a name that another request made first */
        if (mirror_set_sut_handle(m, child, (struct bytes){ 0 }, err) < 0)
            return -err->code;
        work->is_new = true;
    }
    if (!mirror_find_sut(m, found) && !child->sut_handle_len && can_be_taken(work)) {
        work->is_new = true;
        if (mirror_set_sut_handle(m, child, found, err) < 0)
            return -err->code;
        return copy_name_stands(lane, err);
    }
    if (++work->tries > NAME_TRIES)
        return copy_job_failed(lane->job, COPY_SUT,
                               "the SUT: a name stands for something else again");
    return copy_name_displace(lane, copy_name_make, err);
}

int copy_name_look(struct lane *lane, struct err *err)
{
    return copy_name_find(lane, compare, err);
}

/* --- it stands */

int copy_name_stands(struct lane *lane, struct err *err)
{
    struct copy *copy = lane->job->copy;
    const struct copy_host *host = &copy->setup.host;
    struct mirror_object *child = copy_name_child(lane);
    const struct bytes name = { lane->work.name, lane->work.name_len };
    enum mirror_state state;
    bool wants;

    if (!child || child->state == MIRROR_GONE)
        return copy_lane_done(lane, err);
    wants = host->is_wanted(host->ctx, child, lane->job->object, name);
    state = child->state; /* which the host may have changed */
    if (!wants)
        state = MIRROR_EXCLUDED;
    else if (lane->work.is_new || (state == MIRROR_UNKNOWN && !copy_is_pausing(copy, child)))
        state = MIRROR_QUEUED;
    if (copy_leaves(copy, child, state, "the SUT has it anew", err) < 0)
        return -err->code;
    copy_look_later(copy);
    return copy_lane_done(lane, err);
}
