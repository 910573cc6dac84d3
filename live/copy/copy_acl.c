/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_acl.c
 *
 * Access control lists of files and directories, by NFSACL version 3 (Sun's nfs_acl.x).  A server
 * without it is asked once.  GETACL has the attributes, too: so it is the last look at the
 * reference.  SETACL comes before the attributes, as it changes the mode.
 */
#include "copy/copy_parts.h"
#include "wire/nfsacl_structs.h"

enum { ENTRIES_MAX = 1024 /* of a list, on the wire */, TRIVIAL = 4 /* as the mode says */ };

struct lists {
    struct aclent entries[2][ENTRIES_MAX];
};

bool copy_acl_has(const struct job *job)
{
    uint8_t type = job->object->type;

    return !job->copy->no_acl[REFERENCE] && (type == NF3REG || type == NF3DIR);
}

static uint32_t mask_of(const struct job *job)
{
    const uint32_t access = NA_ACL | NA_ACLCNT;

    return job->object->type == NF3DIR ? access | NA_DFACL | NA_DFACLCNT : access;
}

static bool read_lists(struct bytes body, struct lists *lists, struct GETACL3res *res)
{
    *res = (struct GETACL3res){ .acl = { .aclent = { lists->entries[0], 0, ENTRIES_MAX },
                                         .dfaclent = { lists->entries[1], 0, ENTRIES_MAX } } };
    return bind_read(nfsacl3_binding(COPY_GETACL)->result, body, res) == WALK_OK;
}

static bool is_trivial(const struct secattr *acl)
{
    return acl->aclent.count <= TRIVIAL && !acl->dfaclent.count;
}

/* --- the reference's */

static int took_acl(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct GETACL3res res;
    struct lists lists;
    uint32_t status = load_be32(body.data);

    if (status == NFS3ERR_NOTSUPP)
        return copy_acl_unavailable(lane, err);
    if (status)
        return copy_job_refused(lane, status);
    job->acl.len = 0;
    if (!read_lists(body, &lists, &res))
        job->copy->counts.refused_acls++;
    else if (buf_append(&job->acl, body.data, body.len) < 0)
        return err_memory(err, "an access control list");
    return res.attr.attributes_follow ? copy_job_looked(lane, &res.attr.attributes)
                                      : copy_job_look_at_attributes(job, err);
}

int copy_acl_look(struct job *job, struct err *err)
{
    struct GETACL3args args = { mirror_handle(job->copy->setup.mirror, job->object), mask_of(job) };

    return copy_lane_last_acl_call(copy_job_lane(job), &args, took_acl, err);
}

int copy_acl_unavailable(struct lane *lane, struct err *err)
{
    lane->job->copy->no_acl[lane->side] = true;
    if (lane->side == REFERENCE)
        return copy_job_look_at_attributes(lane->job, err);
    lane->busy = false;
    return copy_acl_set(lane->job, err); /* counts it, and goes on */
}

/* --- the SUT's */

static int took_set(struct lane *lane, struct bytes body, struct err *err)
{
    uint32_t status = load_be32(body.data);

    if (status_is_gone(status) || status == NFS3ERR_NOSPC || status == NFS3ERR_DQUOT)
        return copy_job_refused(lane, status);
    if (status == NFS3ERR_NOTSUPP)
        return copy_acl_unavailable(lane, err);
    *(status ? &lane->job->copy->counts.refused_acls : &lane->job->copy->counts.acls) += 1;
    lane->busy = false;
    return copy_job_set_attributes(lane->job, err);
}

int copy_acl_set(struct job *job, struct err *err)
{
    struct copy *copy = job->copy;
    struct lane *lane = copy_job_lane(job);
    struct SETACL3args args = { .fh = handle_bytes(&job->sut) };
    struct lists lists;
    struct GETACL3res res;

    if (!job->acl.len)
        return copy_job_set_attributes(job, err);
    read_lists((struct bytes){ job->acl.data, (uint32_t)job->acl.len }, &lists, &res);
    if (copy->no_acl[SUT]) {
        copy->counts.refused_acls += !is_trivial(&res.acl);
        return copy_job_set_attributes(job, err);
    }
    args.acl = res.acl;
    lane->busy = true;
    return copy_lane_acl_call(lane, SUT, COPY_SETACL, &args, took_set, err);
}
