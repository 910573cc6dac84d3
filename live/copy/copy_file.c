/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_file.c
 *
 * A file's contents: a first piece, which is all of a small file; then the rest in pieces, several
 * at a time.  Each lane reads a piece and writes it before it reads another, so nothing is kept
 * here.  What the SUT's file had before is cut off behind the first piece, so that zeros need not
 * be written from there on.
 */
#include "base/grow.h"
#include "copy/copy_parts.h"

static const uint64_t long_file = 1 << 30;

static int read_piece(struct lane *lane, struct err *err);
static int commit(struct job *job, struct err *err);

/* --- pieces */

static bool is_zeros(struct bytes data)
{
    return data.len && !data.data[0] && memcmp(data.data, data.data + 1, data.len - 1) == 0;
}

static int feed_pieces(struct job *job, struct lane *lane, struct err *err)
{
    const struct range *range;
    uint64_t left;
    int result;

    while (job->range_at < job->range_count && job->range_offset >= job->ranges[job->range_at].to) {
        job->range_at++;
        if (job->range_at < job->range_count)
            job->range_offset = job->ranges[job->range_at].from;
    }
    if (job->range_at >= job->range_count || job->is_short)
        return 0;
    range = &job->ranges[job->range_at];
    left = range->to - job->range_offset;
    lane->offset = job->range_offset;
    lane->end = lane->offset + (left < job->copy->setup.piece ? left : job->copy->setup.piece);
    lane->empty = 0;
    job->range_offset = lane->end;
    result = copy_lane_pace(lane, (uint32_t)(lane->end - lane->offset), read_piece, err);
    return result < 0 ? result : 1;
}

static int begin_pieces(struct job *job, struct err *err)
{
    job->range_at = 0;
    job->range_offset = job->range_count ? job->ranges[0].from : 0;
    job->feed = feed_pieces;
    job->fed = commit;
    return copy_job_feed(job, err);
}

/* Another verifier: the SUT restarted, and what it had not written is lost. */
static bool is_lost(struct job *job, const uint8_t verifier[NFS3_WRITEVERFSIZE])
{
    bool lost = job->has_verifier && memcmp(job->verifier, verifier, NFS3_WRITEVERFSIZE) != 0;

    memcpy(job->verifier, verifier, NFS3_WRITEVERFSIZE);
    job->has_verifier = true;
    return lost;
}

static int go_on(struct lane *lane, uint32_t bytes, struct err *err)
{
    lane->offset += bytes;
    lane->empty = 0;
    if (lane->offset >= lane->end)
        return copy_lane_done(lane, err);
    return copy_lane_pace(lane, (uint32_t)(lane->end - lane->offset), read_piece, err);
}

static int took_piece_written(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct WRITE3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status)
        return copy_job_refused(lane, status);
    if (res.count > lane->end - lane->offset || (!res.count && ++lane->empty >= EMPTY_MAX))
        return copy_job_failed(job, COPY_SUT, "the SUT: WRITE says that it wrote %u bytes",
                               res.count);
    job->unstable |= res.committed != FILE_SYNC;
    if (is_lost(job, res.verf) && job->unstable)
        return copy_job_begins_again(job);
    job->copy->counts.bytes_written += res.count;
    return res.count ? go_on(lane, res.count, err) : read_piece(lane, err);
}

static int write_piece(struct lane *lane, struct bytes data, enum stable_how stable, took_fn *took,
                       struct err *err)
{
    struct WRITE3args args = { .file = handle_bytes(&lane->job->sut),
                               .offset = lane->offset,
                               .count = data.len,
                               .stable = stable,
                               .data = data };

    return copy_lane_call(lane, SUT, COPY_WRITE, &args, took, err);
}

static int took_piece(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct READ3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status)
        return copy_job_refused(lane, status);
    copy_lane_charge(lane, res.data.len);
    if (res.data.len > lane->end - lane->offset ||
        (!res.data.len && !res.eof && ++lane->empty >= EMPTY_MAX))
        return copy_job_failed(job, COPY_REFERENCE, "the reference: READ gives %u bytes",
                               res.data.len);
    if (!res.data.len && !res.eof)
        return read_piece(lane, err);
    if (!res.data.len) { /* shorter than it was: the set must know */
        job->is_short = true;
        return copy_lane_done(lane, err);
    }
    if (job->skips_zeros && is_zeros(res.data)) {
        job->copy->counts.holes += res.data.len;
        return go_on(lane, res.data.len, err);
    }
    return write_piece(lane, res.data, UNSTABLE, took_piece_written, err);
}

static int read_piece(struct lane *lane, struct err *err)
{
    struct job *job = lane->job;
    struct READ3args args = { .file = mirror_handle(job->copy->setup.mirror, job->object),
                              .offset = lane->offset,
                              .count = (uint32_t)(lane->end - lane->offset) };

    return copy_lane_call(lane, REFERENCE, COPY_READ, &args, took_piece, err);
}

/* --- all pieces are written */

static int took_commit(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct COMMIT3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status)
        return copy_job_refused(lane, status);
    return is_lost(job, res.verf) ? copy_job_begins_again(job) : copy_job_last_look(job, err);
}

static int commit(struct job *job, struct err *err)
{
    struct COMMIT3args args = { .file = handle_bytes(&job->sut) };

    if (!job->unstable)
        return copy_job_last_look(job, err);
    copy_job_lane(job)->busy = true;
    return copy_lane_call(copy_job_lane(job), SUT, COPY_COMMIT, &args, took_commit, err);
}

/* --- cut off what was there before, then go on with the ranges */

static int took_cut(struct lane *lane, struct bytes body, struct err *err)
{
    struct SETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status)
        return copy_job_refused(lane, status);
    lane->busy = false;
    return begin_pieces(lane->job, err);
}

static int cut(struct job *job, uint64_t size, struct err *err)
{
    struct SETATTR3args args = { .object = handle_bytes(&job->sut),
                                 .new_attributes = { .set_size = true, .size = size } };

    job->needs_cut = false;
    copy_job_lane(job)->busy = true;
    return copy_lane_call(copy_job_lane(job), SUT, COPY_SETATTR, &args, took_cut, err);
}

static int add_range(struct job *job, uint64_t from, uint64_t to, struct err *err)
{
    if (GROW(job->ranges, job->range_count, job->range_cap) < 0)
        return err_memory(err, "what is to be read of a file");
    job->ranges[job->range_count++] = (struct range){ from, to };
    return 0;
}

int copy_file_more(struct job *job, struct err *err)
{
    struct change_set *set = copy_job_changes(job);
    struct change_cursor cursor = { 0 };
    struct change change;
    uint64_t lowest = UINT64_MAX;
    int result = 0;

    if (++job->rounds > ROUNDS_MAX)
        return copy_job_failed(job, COPY_BUSY, "its changes are too many to be kept");
    job->copy->counts.again++;
    job->range_count = 0;
    while (result == 0 && change_set_next(set, &cursor, &change)) {
        if (change.kind == CHANGE_SIZE && lowest == UINT64_MAX)
            lowest = change.size; /* the first of them is the lowest end */
        if (change.kind == CHANGE_WRITE || change.kind == CHANGE_READ_AGAIN)
            result = add_range(job, change.offset, change.offset + change.length, err);
    }
    if (result < 0)
        return result;
    change_set_restart(set);
    if (job->needs_cut && job->written < lowest)
        lowest = job->written;
    job->needs_cut = false;
    job->stage = STAGE_WORK;
    job->skips_zeros = job->is_short = job->has_first = job->unstable = job->has_verifier = false;
    return lowest == UINT64_MAX ? begin_pieces(job, err) : cut(job, lowest, err);
}

/* --- the first piece */

/* The file has been read by one call: its reply has all but an ACL. */
static int end_first(struct job *job, struct err *err)
{
    return copy_acl_has(job) ? copy_job_last_look(job, err) : copy_job_wait(job, STAGE_READ);
}

static int took_first_written(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct WRITE3res res;
    uint32_t status = copy_lane_result(lane, body, &res);

    if (status)
        return copy_job_refused(lane, status);
    if (res.count > lane->end)
        return copy_job_failed(job, COPY_SUT, "the SUT: WRITE says that it wrote %u bytes",
                               res.count);
    job->copy->counts.bytes_written += res.count;
    if (res.count == lane->end && !job->range_count && res.committed == FILE_SYNC) {
        job->needs_cut = true;
        job->written = lane->end;
        lane->busy = false;
        return end_first(job, err);
    }
    /* the rest, from what was written on, which may be nothing */
    is_lost(job, res.verf);
    job->unstable = res.committed != FILE_SYNC;
    if (!job->range_count && add_range(job, 0, lane->end, err) < 0)
        return -err->code;
    job->ranges[0].from = res.count;
    job->skips_zeros = true;
    return cut(job, res.count, err);
}

/* Nothing is stored of it, and it would take minutes to read.  Some servers count the space of
 * small files, or of new ones, later: so only long ones are taken for holes. */
static bool is_a_hole(const struct job *job)
{
    const struct fattr3 *a = &job->attributes;

    return !a->used && a->size > long_file && job->begins_with_zeros;
}

/* Attributes are known, and the first |bytes| are about to be written: what is left to be read?
 * Returns 1 if the file can be copied. */
static int plan(struct job *job, uint32_t bytes, struct err *err)
{
    const struct copy_setup *setup = &job->copy->setup;
    uint64_t size = job->attributes.size;

    if (setup->file_max && size > setup->file_max)
        return copy_job_failed(job, COPY_UNABLE, "a file of %llu bytes, at most %llu are copied",
                               (unsigned long long)size, (unsigned long long)setup->file_max);
    if (is_a_hole(job))
        job->copy->counts.holes += size - bytes;
    else if (size > bytes && add_range(job, bytes, size, err) < 0)
        return -err->code;
    return 1;
}

/* READ gave none. */
static int took_first_attributes(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct GETATTR3res res;
    uint32_t status = copy_lane_result(lane, body, &res);
    int result;

    if (status)
        return copy_job_refused(lane, status);
    copy_job_saw_attributes(job, &res.obj_attributes);
    result = plan(job, 0, err);
    if (result <= 0)
        return result;
    job->skips_zeros = true;
    return cut(job, 0, err);
}

/* The first piece is all of it, or there are ranges. */
static int took_first(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    struct READ3res res;
    uint32_t status = copy_lane_result(lane, body, &res);
    int result;

    if (status)
        return copy_job_refused(lane, status);
    copy_lane_charge(lane, res.data.len);
    if (res.data.len > job->copy->setup.piece)
        return copy_job_failed(job, COPY_REFERENCE, "the reference: READ gives %u bytes",
                               res.data.len);
    job->begins_with_zeros = is_zeros(res.data);
    if (!res.file_attributes.attributes_follow) {
        struct GETATTR3args args = { mirror_handle(job->copy->setup.mirror, job->object) };

        return copy_lane_call(lane, REFERENCE, COPY_GETATTR, &args, took_first_attributes, err);
    }
    copy_job_saw_attributes(job, &res.file_attributes.attributes);
    result = plan(job, res.data.len, err);
    if (result <= 0)
        return result;
    if (res.data.len) {
        lane->end = res.data.len;
        return write_piece(lane, res.data,
                           job->attributes.size > res.data.len ? UNSTABLE : FILE_SYNC,
                           took_first_written, err);
    }
    lane->busy = false;
    job->skips_zeros = job->needs_cut = true;
    job->written = 0;
    return job->attributes.size ? cut(job, 0, err) : end_first(job, err);
}

static int read_first(struct lane *lane, struct err *err)
{
    struct job *job = lane->job;
    struct READ3args args = { .file = mirror_handle(job->copy->setup.mirror, job->object),
                              .count = job->copy->setup.piece };

    job->has_noted = false;
    return copy_lane_last_call(lane, COPY_READ, &args, took_first, err);
}

int copy_file_begin(struct job *job, struct err *err)
{
    struct lane *lane = copy_job_lane(job);

    job->unstable = job->has_verifier = job->is_short = job->skips_zeros = job->needs_cut = false;
    job->range_count = 0;
    lane->offset = 0;
    lane->busy = true;
    return copy_lane_pace(lane, job->copy->setup.piece, read_first, err);
}
