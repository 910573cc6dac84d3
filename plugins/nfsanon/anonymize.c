/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tshark -z nfsanon,out=FILE,key=FILE[,...]. */
#include "anonymize.h"
#include "options.h"
#include "recorder.h"
#include "anon/anon.h"

#include <stdlib.h>

struct anonymizer {
    struct policy *policy;
    struct anon *anon;
};

static void close_anonymizer(void *state)
{
    struct anonymizer *a = state;
    anon_free(a->anon);
    policy_free(a->policy);
    free(a);
}

static struct output *open_file(const struct anon_options *options, struct err *err)
{
    const char *out = options->common.out;
    struct output *file = options->force ? output_open(out, err) : output_open_new(out, err);
    if (!file && err->code == ERR_USAGE)
        err_set(err, ERR_USAGE, "%s exists: \"force\" replaces it", out);
    return file;
}

/* The file last: nothing is to be left of a run that could not begin. */
static int open_parts(struct anonymizer *a, const struct anon_options *options, struct key *key,
                      struct output **file, struct err *err)
{
    if (key_load(key, options->key, err) < 0 ||
        policy_load(options->policy ? options->policy : "public", &a->policy, err) < 0)
        return -err->code;
    *file = open_file(options, err);
    if (*file)
        a->anon =
            anon_new(&options->common.engine.options, a->policy, key, output_write, *file, err);
    return a->anon ? 0 : -err->code;
}

static void *open_anonymizer(const struct options *common, struct output **file, struct err *err)
{
    struct anonymizer *a = calloc(1, sizeof *a);
    struct key key;
    if (!a) {
        err_memory(err, "an anonymizer");
        return NULL;
    }
    int result = open_parts(a, (const struct anon_options *)common, &key, file, err);
    key_forget(&key);
    if (!result)
        return a;
    close_anonymizer(a);
    return NULL;
}

static struct engine *engine_of(void *state)
{
    struct anonymizer *a = state;
    return anon_engine(a->anon);
}

static int flush(void *state, struct err *err)
{
    struct anonymizer *a = state;
    return anon_flush(a->anon, err);
}

static int end(void *state, bool input_cut, struct err *err)
{
    struct anonymizer *a = state;
    return anon_end(a->anon, input_cut, err);
}

static int show_counter(void *ctx, const char *name, uint64_t value, struct err *err)
{
    (void)err;
    fprintf(ctx, "%14llu  %s\n", (unsigned long long)value, name);
    return 0;
}

static void summary(void *state, const struct options *common)
{
    struct anonymizer *a = state;
    const struct anon_options *options = (const struct anon_options *)common;
    struct err err;
    if (options->stats)
        anon_counters(a->anon, show_counter, stderr, &err);
}

void anonymize_register(void)
{
    static const struct recorder_type type = {
        .options = &nfsanon_options,
        .elsewhere = "-z nfsanon,out=FILE,key=FILE anonymizes with tshark only.",
        .stream = "the capture",
        .open = open_anonymizer,
        .engine = engine_of,
        .flush = flush,
        .end = end,
        .summary = summary,
        .close = close_anonymizer,
    };
    recorder_register(&type);
}
