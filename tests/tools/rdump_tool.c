/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/rdump_tool.c
 *
 * Replay dumps for tests of their format:
 *     rdump_tool layout               the table as text
 *     rdump_tool example              the dump that schemas/rdump.md shows
 *     rdump_tool random SEED RECORDS  any records
 */
#include "rdump/rdump_format.h"
#include "rdump_samples.h"

#include <stdio.h>

static int layout(struct err *err)
{
    struct buf text = { 0 };

    if (layout_text(&rdump_format, &text) < 0)
        return err_set(err, ERR_SYSTEM, "no memory");
    fwrite(text.data, 1, text.len, stdout);
    buf_free(&text);
    return 0;
}

static int example(struct rdump_writer *w, struct err *err)
{
    union rdump_record records[16];
    enum rdump_kind kinds[16];
    size_t count = sample_small(records, kinds);
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++)
        result = rdump_put(w, kinds[i], &records[i], err);
    return result;
}

static int random_records(struct rdump_writer *w, uint64_t seed, uint64_t count, struct err *err)
{
    static struct samples samples;
    static uint32_t list[SAMPLE_LISTS];
    union rdump_record record;
    int result = 0;

    samples_init(&samples, seed);
    for (uint64_t i = 0; i <= count && result == 0; i++) {
        enum rdump_kind kind =
            i < count ? 1 + (enum rdump_kind)(sample_u64(&samples) % (RDUMP_END - 1)) : RDUMP_END;

        sample_rdump(&samples, kind, &record, list);
        result = rdump_put(w, kind, &record, err);
    }
    return result;
}

static int to_stdout(void *ctx, const void *data, size_t len, struct err *err)
{
    (void)ctx;
    return fwrite(data, 1, len, stdout) == len ? 0 : err_set(err, ERR_SYSTEM, "cannot write");
}

static int run(int argc, char **argv, struct err *err)
{
    struct rdump_writer *w;
    int result;

    if (argc == 2 && !strcmp(argv[1], "layout"))
        return layout(err);
    if (!(argc == 2 && !strcmp(argv[1], "example")) && !(argc == 4 && !strcmp(argv[1], "random")))
        return err_set(err, ERR_USAGE, "layout, example or random SEED RECORDS");
    w = rdump_writer_new(to_stdout, NULL, err);
    if (!w)
        return -err->code;
    result = argc == 2
                 ? example(w, err)
                 : random_records(w, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), err);
    rdump_writer_free(w);
    return result;
}

int main(int argc, char **argv)
{
    struct err err = { 0 };

    if (run(argc, argv, &err) < 0) {
        fprintf(stderr, "rdump_tool: %s\n", err.text);
        return err.code;
    }
    return fflush(stdout) == 0 ? 0 : ERR_SYSTEM;
}
