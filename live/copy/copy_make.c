/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_make.c
 *
 * Makes a name on the SUT that nothing has: a further link to an object that the SUT has already, a
 * directory that waits in the scratch directory, or a new object.
 */
#include "copy/copy_parts.h"

static int create(struct lane *lane, struct err *err);

/* Another one has the name by now, or it is our own call that was sent twice. */
static int exists(struct lane *lane, struct err *err)
{
    if (++lane->work.tries > NAME_TRIES)
        return copy_job_failed(lane->job, COPY_SUT, "the SUT: a name is there, and is not there");
    return copy_name_look(lane, err);
}

/* --- new objects */

/* The SUT cannot have it; the directory goes on. */
static int is_unable(const struct name_work *work, uint32_t status)
{
    bool is_usual = work->attributes.type == NF3REG || work->attributes.type == NF3DIR;

    if (status == NFS3ERR_NAMETOOLONG || status == NFS3ERR_INVAL)
        return true;
    return !is_usual && (status == NFS3ERR_PERM || status == NFS3ERR_NOTSUPP ||
                         status == NFS3ERR_BADTYPE || status == NFS3ERR_ACCES);
}

static int unable(struct lane *lane, uint32_t status, struct err *err)
{
    struct copy *copy = lane->job->copy;
    const struct copy_host *host = &copy->setup.host;
    struct mirror_object *child = copy_name_child(lane);
    char text[BOUND_CALL_TEXT];
    int result;

    if (!child)
        return copy_lane_done(lane, err);
    copy->counts.failed[COPY_UNABLE]++;
    bound_call_status(&lane->call, status, text);
    result = mirror_set_state(copy->setup.mirror, child, MIRROR_EXCLUDED, err);
    if (result == 0)
        result = host->failed(host->ctx, child, COPY_UNABLE, 1, text, err);
    return result == 0 ? copy_lane_done(lane, err) : result;
}

static int took_make(struct lane *lane, struct bytes body, struct err *err)
{
    struct name_work *work = &lane->work;
    struct copy *copy = lane->job->copy;
    struct mirror_object *child = copy_name_child(lane);
    struct CREATE3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status == NFS3ERR_EXIST)
        return exists(lane, err);
    if (is_unable(work, status))
        return unable(lane, status, err);
    if (status)
        return copy_job_refused(lane, status);
    copy->counts.made++;
    work->was_made = true;
    if (!child)
        return copy_lane_done(lane, err);
    if (!res.obj_follows || !res.obj.len || child->sut_handle_len)
        return copy_name_look(lane, err); /* the last: another name of it was made meanwhile */
    work->is_new = true;
    if (mirror_set_sut_handle(copy->setup.mirror, child, res.obj, err) < 0)
        return -err->code;
    return copy_name_stands(lane, err);
}

static struct sattr3 first_attributes(const struct name_work *work)
{
    uint32_t mode = work->attributes.type == NF3DIR ? 0700 : 0600;

    if (work->has_attributes)
        mode = work->attributes.mode & 0777;
    return (struct sattr3){ .set_mode = work->attributes.type != NF3LNK, .mode = mode };
}

static int make_link(struct lane *lane, struct bytes text, struct err *err)
{
    struct SYMLINK3args args = { copy_name_where(lane), { first_attributes(&lane->work), text } };

    return copy_lane_call(lane, SUT, COPY_SYMLINK, &args, took_make, err);
}

static int took_text(struct lane *lane, struct bytes body, struct err *err)
{
    struct READLINK3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status_is_gone(status) && !lane->work.plays)
        return copy_lane_done(lane, err);
    if (status_is_gone(status)) /* the name goes soon */
        return make_link(lane, text_bytes("gone"), err);
    return status ? copy_job_refused(lane, status) : make_link(lane, res.data, err);
}

static int create(struct lane *lane, struct err *err)
{
    struct name_work *work = &lane->work;
    struct diropargs3 where = copy_name_where(lane);
    struct sattr3 first = first_attributes(work);
    struct CREATE3args file = { where, { .mode = GUARDED, .obj_attributes = first } };
    struct MKDIR3args directory = { where, first };
    struct MKNOD3args node = { where, { work->attributes.type, first, work->attributes.rdev } };
    struct READLINK3args link = { handle_bytes(&work->child) };

    switch (work->attributes.type) {
    case NF3REG:
        return copy_lane_call(lane, SUT, COPY_CREATE, &file, took_make, err);
    case NF3DIR:
        return copy_lane_call(lane, SUT, COPY_MKDIR, &directory, took_make, err);
    case NF3LNK:
        return work->link_text.len
                   ? make_link(lane, work->link_text, err)
                   : copy_lane_call(lane, REFERENCE, COPY_READLINK, &link, took_text, err);
    case NF3BLK:
    case NF3CHR:
    case NF3SOCK:
    case NF3FIFO:
        return copy_lane_call(lane, SUT, COPY_MKNOD, &node, took_make, err);
    default:
        return copy_job_failed(lane->job, COPY_REFERENCE, "an object of type %u",
                               work->attributes.type);
    }
}

/* --- objects that the SUT has: a handle that does not work any more is forgotten */

static int make_anew(struct lane *lane, struct err *err)
{
    struct copy *copy = lane->job->copy;
    struct mirror_object *child = copy_name_child(lane);

    if (!child)
        return copy_name_make(lane, err);
    copy_scratch_drop(copy, child->id);
    if (copy_lose(copy, child, err) < 0)
        return -err->code;
    return create(lane, err);
}

/* LINK failed because something is not there: the file, or the directory. */
static int took_twin(struct lane *lane, struct bytes body, struct err *err)
{
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status_is_gone(status))
        return make_anew(lane, err);
    return status ? copy_job_refused(lane, status)
                  : copy_job_failed(lane->job, COPY_LOST, "the SUT does not have the directory");
}

static int look_for_twin(struct lane *lane, struct err *err)
{
    struct copy *copy = lane->job->copy;
    struct mirror_object *child = copy_name_child(lane);
    struct GETATTR3args args;

    if (!child || !child->sut_handle_len)
        return make_anew(lane, err);
    args.object = mirror_sut_handle(copy->setup.mirror, child);
    return copy_lane_call(lane, SUT, COPY_GETATTR, &args, took_twin, err);
}

static int took_link(struct lane *lane, struct bytes body, struct err *err)
{
    struct copy *copy = lane->job->copy;
    struct LINK3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status == NFS3ERR_EXIST)
        return exists(lane, err);
    if (status_is_gone(status))
        return look_for_twin(lane, err);
    if (status)
        return copy_job_refused(lane, status);
    copy->counts.linked++;
    return copy_name_stands(lane, err);
}

static int took_move(struct lane *lane, struct bytes body, struct err *err)
{
    struct copy *copy = lane->job->copy;
    struct mirror_object *child = copy_name_child(lane);
    struct RENAME3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status == NFS3ERR_EXIST || status == NFS3ERR_NOTEMPTY || status == NFS3ERR_NOTDIR)
        return exists(lane, err);
    if (status && status != NFS3ERR_NOENT) /* STALE: one of the directories, not what is moved */
        return copy_job_refused(lane, status);
    copy->counts.moved += !status;
    if (child)
        copy_scratch_forget(copy, child->id);
    return status ? copy_name_make(lane, err) : copy_name_stands(lane, err);
}

/* Some servers have several handles of one object. */
static bool is_child(const struct lane *lane, const struct LOOKUP3res *found)
{
    const struct mirror_object *child = copy_name_child(lane);

    return bytes_equal(found->object, handle_bytes(&lane->work.child)) ||
           (child && found->obj_attributes.attributes_follow &&
            mirror_has_fileid(lane->job->copy->setup.mirror, child,
                              found->obj_attributes.attributes.fileid));
}

/* A directory that stands elsewhere on the SUT was moved: here, as the listing says; or from here
 * since, and another job has given it its new name already, which must keep it. */
static int took_place(struct lane *lane, struct bytes body, struct err *err)
{
    struct LOOKUP3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status && !status_is_gone(status))
        return copy_job_refused(lane, status);
    return !status && is_child(lane, &res) ? make_anew(lane, err)
                                           : copy_lane_done(lane, err); /* the set knows */
}

static int look_for_place(struct lane *lane, struct err *err)
{
    struct mirror *m = lane->job->copy->setup.mirror;
    struct LOOKUP3args args = { { mirror_handle(m, lane->job->object),
                                  { lane->work.name, lane->work.name_len } } };

    return copy_lane_call(lane, REFERENCE, COPY_LOOKUP, &args, took_place, err);
}

/* A directory that is neither here nor in the scratch directory stands where it was until that
 * directory is copied: it is made anew, and its children move over when it is copied. */
int copy_name_make(struct lane *lane, struct err *err)
{
    struct copy *copy = lane->job->copy;
    struct mirror_object *child = copy_name_child(lane);
    char name[SCRATCH_NAME];

    if (!child && !lane->work.plays)
        return copy_lane_done(lane, err);
    /* what is gone since, and forgotten: a duplicate that waits will remove the name */
    if (!child || !child->sut_handle_len)
        return create(lane, err);
    if (copy_scratch_find(copy, child->id, name)) {
        struct RENAME3args args = { { handle_bytes(&copy->scratch.handle), text_bytes(name) },
                                    copy_name_where(lane) };

        return copy_lane_call(lane, SUT, COPY_RENAME, &args, took_move, err);
    }
    if (child->type != NF3DIR) {
        struct LINK3args args = { mirror_sut_handle(copy->setup.mirror, child),
                                  copy_name_where(lane) };

        return copy_lane_call(lane, SUT, COPY_LINK, &args, took_link, err);
    }
    return lane->work.plays ? make_anew(lane, err) : look_for_place(lane, err);
}
