/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/rdump_make.c
 *
 * Puts the records of a plan on a shelf (rdump_shelf.h) and writes them when all are known.  Times
 * are scaled on the way.  Several copies are made from a dump of one, in a temporary file.  For
 * cmd_rdump_make.c and packages.  The contract is in rdump_make.h.
 */
#include "plan/rdump_make.h"
#include "base/cleanup.h"
#include "rdump/rdump_copies.h"
#include "rdump/rdump_shelf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct maker {
    sqlite3 *db;
    const struct rdump_make_options *options;
    struct plan_counts *counts;
    const char *copied; /* path of a dump */
    struct rdump_writer *writer;
    struct rdump_shelf *shelf;
};

static int put_trace(void *ctx, const struct rdump_trace *trace, struct err *err)
{
    struct maker *m = ctx;
    struct rdump_trace t = *trace;

    if (m->options->selection)
        t.selection = (struct bytes){ (const uint8_t *)m->options->selection,
                                      (uint32_t)strlen(m->options->selection) };
    return rdump_shelf_put(m->shelf, RDUMP_TRACE, &t, err);
}

static int put_host(void *ctx, const struct rdump_host *host, struct err *err)
{
    return rdump_shelf_put(((struct maker *)ctx)->shelf, RDUMP_HOST, host, err);
}

static int put_credential(void *ctx, const struct rdump_credential *credential, struct err *err)
{
    return rdump_shelf_put(((struct maker *)ctx)->shelf, RDUMP_CREDENTIAL, credential, err);
}

static int put_object(void *ctx, const struct rdump_object *object, struct err *err)
{
    return rdump_shelf_put(((struct maker *)ctx)->shelf, RDUMP_OBJECT, object, err);
}

static int put_entry(void *ctx, const struct rdump_entry *entry, struct err *err)
{
    return rdump_shelf_put(((struct maker *)ctx)->shelf, RDUMP_ENTRY, entry, err);
}

/* Of both ends, so that what came behind what still does. */
static void scale(struct rdump_operation *o, double by)
{
    int64_t end = o->time + (o->latency > 0 ? o->latency : 0);

    o->time = (int64_t)((double)o->time / by);
    if (o->latency >= 0)
        o->latency = (int64_t)((double)end / by) - o->time;
}

static int put_operation(void *ctx, const struct rdump_operation *operation,
                         const struct plan_edges *edges, struct err *err)
{
    struct maker *m = ctx;
    struct rdump_operation o = *operation;

    (void)edges;
    if (m->options->time_scale > 0)
        scale(&o, m->options->time_scale);
    return rdump_shelf_put(m->shelf, RDUMP_OPERATION, &o, err);
}

static int put_plan(struct maker *m, struct err *err)
{
    const struct plan_host host = { .trace = put_trace,
                                    .host = put_host,
                                    .credential = put_credential,
                                    .object = put_object,
                                    .entry = put_entry,
                                    .operation = put_operation,
                                    .ctx = m };
    const struct rdump_make_options *o = m->options;
    struct plan_options plan = { .filter = o->filter, .from = o->has_from ? o->from : BEGINNING };
    int result = 0;

    plan.granularity[o->granularity] = true;
    plan.with_results = o->with_results;
    m->shelf = rdump_shelf_new(err);
    if (!m->shelf || plan_read(m->db, &plan, &host, m->counts, err) < 0 ||
        rdump_shelf_write(m->shelf, m->writer, err) < 0)
        result = -err->code;
    rdump_shelf_free(m->shelf);
    return result;
}

/* Writes to |out| what |put| puts, and the end. */
static int write_dump(struct maker *m, struct output *out,
                      int (*put)(struct maker *m, struct err *err), struct err *err)
{
    const struct rdump_end end = { 0 };
    int result = -ERR_SYSTEM;

    m->writer = rdump_writer_new(output_write, out, err);
    if (m->writer && put(m, err) == 0)
        result = rdump_put(m->writer, RDUMP_END, &end, err);
    else
        result = -err->code;
    rdump_writer_free(m->writer);
    return result;
}

static int put_copies(struct maker *m, struct err *err)
{
    return rdump_copy(m->copied, m->options->copies, m->options->delay, m->options->seed, m->writer,
                      err);
}

/* A dump of one copy goes to a temporary file first. */
static int make_copies(struct maker *m, struct output *out, struct err *err)
{
    const char *folder = getenv("TMPDIR") && *getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char path[4096];
    struct cleanup cleanup;
    struct output *one;
    int fd, result;

    if ((size_t)snprintf(path, sizeof(path), "%s/nfsdigest.XXXXXX", folder) >= sizeof(path))
        return err_set(err, ERR_SYSTEM, "TMPDIR is too long");
    fd = mkstemp(path);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    close(fd);
    cleanup_enter(&cleanup, cleanup_unlink, path);
    m->copied = path;
    one = output_open(path, err);
    result = one ? write_dump(m, one, put_plan, err) : -err->code;
    if (result == 0)
        result = output_commit(one, err);
    output_close(one);
    if (result == 0)
        result = write_dump(m, out, put_copies, err);
    unlink(path);
    cleanup_drop(&cleanup);
    return result;
}

int rdump_make(sqlite3 *db, const struct rdump_make_options *options, const char *path,
               struct plan_counts *counts, struct err *err)
{
    struct maker m = { .db = db, .options = options, .counts = counts };
    struct output *out = output_open(path, err);
    int result;

    memset(counts, 0, sizeof(*counts));
    if (!out)
        return -err->code;
    result = options->copies > 1 ? make_copies(&m, out, err) : write_dump(&m, out, put_plan, err);
    if (result == 0 && !counts->operations)
        result = err_set(err, ERR_INPUT, "%s",
                         options->filter || options->has_from
                             ? "none of its operations of NFS version 3 was selected"
                             : "it has no operation of NFS version 3");
    if (result == 0)
        result = output_commit(out, err);
    output_close(out);
    return result;
}
