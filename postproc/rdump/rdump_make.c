/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rdump/rdump_make.h"

struct maker {
    const struct rdump_make_options *options;
    struct rdump_writer *writer;
};

static int put_trace(void *ctx, const struct rdump_trace *trace, struct err *err)
{
    struct maker *m = ctx;
    struct rdump_trace t = *trace;

    if (m->options->selection)
        t.selection = (struct bytes){ (const uint8_t *)m->options->selection,
                                      (uint32_t)strlen(m->options->selection) };
    return rdump_put(m->writer, RDUMP_TRACE, &t, err);
}

static int put_host(void *ctx, const struct rdump_host *host, struct err *err)
{
    return rdump_put(((struct maker *)ctx)->writer, RDUMP_HOST, host, err);
}

static int put_credential(void *ctx, const struct rdump_credential *credential, struct err *err)
{
    return rdump_put(((struct maker *)ctx)->writer, RDUMP_CREDENTIAL, credential, err);
}

static int put_object(void *ctx, const struct rdump_object *object, struct err *err)
{
    return rdump_put(((struct maker *)ctx)->writer, RDUMP_OBJECT, object, err);
}

static int put_entry(void *ctx, const struct rdump_entry *entry, struct err *err)
{
    return rdump_put(((struct maker *)ctx)->writer, RDUMP_ENTRY, entry, err);
}

static int put_operation(void *ctx, const struct rdump_operation *operation,
                         const struct plan_edges *edges, struct err *err)
{
    struct maker *m = ctx;
    struct rdump_operation o = *operation;

    (void)edges;
    if (m->options->time_scale > 0)
        o.time = (int64_t)((double)o.time / m->options->time_scale);
    return rdump_put(m->writer, RDUMP_OPERATION, &o, err);
}

static int make(struct maker *m, sqlite3 *db, struct plan_counts *counts, struct err *err)
{
    const struct plan_host host = { put_trace,     put_host, put_credential, put_object, put_entry,
                                    put_operation, m };
    const struct rdump_make_options *o = m->options;
    struct plan_options plan = { .filter = o->filter, .from = o->has_from ? o->from : BEGINNING };
    const struct rdump_end end = { 0 };

    plan.granularity[o->granularity] = true;
    if (plan_read(db, &plan, &host, counts, err) < 0)
        return -err->code;
    return rdump_put(m->writer, RDUMP_END, &end, err);
}

int rdump_make(sqlite3 *db, const struct rdump_make_options *options, const char *path,
               struct plan_counts *counts, struct err *err)
{
    struct maker m = { .options = options };
    struct output *out = output_open(path, err);
    int result;

    memset(counts, 0, sizeof(*counts));
    if (!out)
        return -err->code;
    m.writer = rdump_writer_new(output_write, out, err);
    result = m.writer ? make(&m, db, counts, err) : -err->code;
    rdump_writer_free(m.writer);
    if (result == 0)
        return output_commit(out, err);
    output_close(out);
    return result;
}
