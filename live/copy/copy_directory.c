/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy_directory.c
 *
 * A directory's names: first those that the SUT has, as hashes, so that most names of a new
 * directory need no look-up; then the reference's, a reply at a time, which are made so
 * (copy_name.c), several at once; then those that the SUT has in addition are removed.
 *
 * What a reply shows is used only after the ring was read up to it: so what the host knows of
 * objects is never older.
 */
#include "copy/copy_parts.h"

#include <stdlib.h>

enum { LIST_TRIES = 8, ENTRY_BYTES = 24 /* the least that an entry takes */ };

static int list_reference(struct job *job, struct err *err);
static int list_surplus(struct job *job, struct err *err);

/* --- one reply */

static void begin_list(struct job *job)
{
    job->cookie = 0;
    memset(job->cookie_verifier, 0, sizeof(job->cookie_verifier));
    job->list_ends = false;
}

int copy_directory_list(struct job *job, enum copy_side side, struct bytes directory, took_fn *took,
                        struct err *err)
{
    uint32_t bytes = job->copy->setup.list_bytes;
    struct READDIR3args names = { directory, job->cookie, .count = bytes };
    struct READDIRPLUS3args plus = { directory, job->cookie, .dircount = bytes, .maxcount = bytes };
    struct lane *lane = copy_job_lane(job);

    memcpy(names.cookieverf, job->cookie_verifier, sizeof(names.cookieverf));
    memcpy(plus.cookieverf, job->cookie_verifier, sizeof(plus.cookieverf));
    lane->busy = true;
    job->is_plus = side == REFERENCE && !job->copy->no_plus;
    if (side == SUT)
        return copy_lane_call(lane, SUT, COPY_READDIR, &names, took, err);
    return copy_lane_last_call(lane, job->is_plus ? COPY_READDIRPLUS : COPY_READDIR,
                               job->is_plus ? (const void *)&plus : &names, took, err);
}

/* READDIR's entries, as if they were READDIRPLUS's. */
static enum walk_result read_names(struct job *job, struct bytes body, uint32_t most,
                                   struct READDIRPLUS3res *to)
{
    struct entry3 *names = (struct entry3 *)(void *)job->entries;
    struct READDIR3res res = { .entries = { names, 0, most } };
    enum walk_result result = bind_read(nfs3_binding(COPY_READDIR)->result, body, &res);

    to->dir_attributes = res.dir_attributes;
    memcpy(to->cookieverf, res.cookieverf, sizeof(to->cookieverf));
    to->eof = res.eof;
    to->entries.count = res.entries.count;
    for (uint32_t i = res.entries.count; i-- > 0;) { /* from the end: they become longer */
        struct entry3 name = names[i];

        job->entries[i] =
            (struct entryplus3){ .fileid = name.fileid, .name = name.name, .cookie = name.cookie };
    }
    return result;
}

bool copy_directory_keep(struct job *job, struct bytes body, struct post_op_attr *attributes)
{
    uint32_t most = job->copy->setup.list_bytes / ENTRY_BYTES + 1;
    struct READDIRPLUS3res res = { 0 };
    struct bytes kept;
    enum walk_result read;

    if (!job->entries)
        job->entries = calloc(most, sizeof(*job->entries));
    job->list.len = 0;
    if (!job->entries || buf_append(&job->list, body.data, body.len) < 0) {
        copy_job_failed(job, COPY_BUSY, "no memory for a listing");
        return false;
    }
    kept = (struct bytes){ job->list.data, (uint32_t)job->list.len };
    res.entries = (struct bind_list){ job->entries, 0, most };
    read = job->is_plus ? bind_read(nfs3_binding(COPY_READDIRPLUS)->result, kept, &res)
                        : read_names(job, kept, most, &res);
    if (read != WALK_OK || (!res.entries.count && !res.eof)) {
        copy_job_failed(job, copy_job_lane(job)->side == REFERENCE ? COPY_REFERENCE : COPY_SUT,
                        "a listing of %u names that goes on", res.entries.count);
        return false;
    }
    job->entry_count = res.entries.count;
    job->entry_at = 0;
    job->list_ends = res.eof;
    memcpy(job->cookie_verifier, res.cookieverf, sizeof(res.cookieverf));
    if (res.entries.count)
        job->cookie = job->entries[res.entries.count - 1].cookie;
    if (attributes)
        *attributes = res.dir_attributes;
    return true;
}

/* True: the listing begins anew, as the directory changed too much for the cookie. */
static bool lost_place(struct job *job, uint32_t status)
{
    if ((status != NFS3ERR_BAD_COOKIE && status != NFS3ERR_NOT_SYNC) ||
        ++job->list_tries > LIST_TRIES)
        return false;
    begin_list(job);
    return true;
}

/* --- 1. what the SUT has */

static int took_there(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    uint32_t status = load_be32(body.data);

    lane->busy = false;
    if (lost_place(job, status))
        return copy_directory_list(job, SUT, handle_bytes(&job->sut), took_there, err);
    if (status)
        return copy_job_refused(lane, status);
    if (!copy_directory_keep(job, body, NULL))
        return 0;
    for (uint32_t i = 0; i < job->entry_count; i++)
        if (!bytes_are_dots(job->entries[i].name) &&
            copy_name_set_add(&job->there, copy_name_hash(job->copy, job->entries[i].name)) < 0)
            return err_memory(err, "the names of a directory");
    if (job->there.count > job->copy->setup.names_max)
        return copy_job_failed(job, COPY_SUT, "the SUT: a directory of more than %llu names",
                               (unsigned long long)job->copy->setup.names_max);
    if (!job->list_ends)
        return copy_directory_list(job, SUT, handle_bytes(&job->sut), took_there, err);
    begin_list(job);
    return list_reference(job, err);
}

int copy_directory_begin(struct job *job, struct err *err)
{
    job->matched = 0;
    job->list_tries = 0;
    begin_list(job);
    return copy_directory_list(job, SUT, handle_bytes(&job->sut), took_there, err);
}

/* --- 2. what the reference has */

static int feed_names(struct job *job, struct lane *lane, struct err *err)
{
    while (job->entry_at < job->entry_count) {
        const struct entryplus3 *entry = &job->entries[job->entry_at++];
        uint64_t hash = copy_name_hash(job->copy, entry->name);
        int result;

        if (bytes_are_dots(entry->name))
            continue;
        lane->work = (struct name_work){ .directory = job->sut,
                                         .is_there = copy_name_set_has(&job->there, hash) };
        if (!copy_name_is(lane, entry->name))
            continue;
        result = copy_name_set_add(&job->wanted, hash);
        if (result < 0)
            return err_memory(err, "the names of a directory");
        if (result > 0)
            continue; /* seen before: the listing began anew */
        job->matched += lane->work.is_there;
        if (entry->name_handle_follows)
            handle_set(&lane->work.child, entry->name_handle);
        lane->work.has_attributes = entry->name_attributes.attributes_follow;
        lane->work.attributes = entry->name_attributes.attributes;
        result = copy_name_begin(lane, err);
        return result < 0 ? result : 1;
    }
    return 0;
}

static int names_made(struct job *job, struct err *err)
{
    if (job->wanted.count > job->copy->setup.names_max)
        return copy_job_failed(job, COPY_REFERENCE, "a directory of more than %llu names",
                               (unsigned long long)job->copy->setup.names_max);
    if (!job->list_ends)
        return list_reference(job, err);
    if (job->there.count <= job->matched)
        return copy_job_last_look(job, err);
    begin_list(job);
    return list_surplus(job, err);
}

int copy_directory_listed(struct job *job, struct err *err)
{
    job->feed = feed_names;
    job->fed = names_made;
    return copy_job_feed(job, err);
}

static int took_listing(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    uint32_t status = load_be32(body.data);
    struct post_op_attr attributes;

    lane->busy = false;
    if (status == NFS3ERR_NOTSUPP && job->is_plus) {
        job->copy->no_plus = true;
        begin_list(job);
        return list_reference(job, err);
    }
    if (lost_place(job, status))
        return list_reference(job, err);
    if (status)
        return copy_job_refused(lane, status);
    if (!copy_directory_keep(job, body, &attributes))
        return 0;
    if (attributes.attributes_follow)
        copy_job_saw_attributes(job, &attributes.attributes);
    return copy_job_wait(job, STAGE_LISTED);
}

static int list_reference(struct job *job, struct err *err)
{
    return copy_directory_list(job, REFERENCE, mirror_handle(job->copy->setup.mirror, job->object),
                               took_listing, err);
}

/* --- 3. what the SUT has in addition */

static bool is_scratch(const struct job *job, struct bytes name)
{
    const struct scratch *scratch = &job->copy->scratch;

    return job->object->is_root && scratch->state != SCRATCH_NONE &&
           bytes_equal(name, text_bytes(scratch->name));
}

static int feed_surplus(struct job *job, struct lane *lane, struct err *err)
{
    while (job->entry_at < job->entry_count) {
        struct bytes name = job->entries[job->entry_at++].name;
        int result;

        if (bytes_are_dots(name) || is_scratch(job, name) ||
            copy_name_set_has(&job->wanted, copy_name_hash(job->copy, name)))
            continue;
        lane->work = (struct name_work){ .directory = job->sut };
        if (!copy_name_is(lane, name))
            continue;
        result = copy_name_remove(lane, err);
        return result < 0 ? result : 1;
    }
    return 0;
}

static int surplus_gone(struct job *job, struct err *err)
{
    return job->list_ends ? copy_job_last_look(job, err) : list_surplus(job, err);
}

static int took_surplus(struct lane *lane, struct bytes body, struct err *err)
{
    struct job *job = lane->job;
    uint32_t status = load_be32(body.data);

    lane->busy = false;
    if (lost_place(job, status))
        return list_surplus(job, err);
    if (status)
        return copy_job_refused(lane, status);
    if (!copy_directory_keep(job, body, NULL))
        return 0;
    job->feed = feed_surplus;
    job->fed = surplus_gone;
    return copy_job_feed(job, err);
}

static int list_surplus(struct job *job, struct err *err)
{
    return copy_directory_list(job, SUT, handle_bytes(&job->sut), took_surplus, err);
}
