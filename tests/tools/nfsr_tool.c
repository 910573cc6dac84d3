/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/nfsr_tool.c
 *
 * Streams for tests of the .nfsr format, and what the C reader makes of them:
 *     nfsr_tool layout               the table as text
 *     nfsr_tool example              the stream that schemas/nfsr.md shows
 *     nfsr_tool random SEED RECORDS  any records
 *     nfsr_tool dump                 standard input as JSON lines
 */
#include "record/format.h"
#include "record/nfsr.h"
#include "nfsr_samples.h"

#include <stdio.h>
#include <unistd.h>

static int fail(const struct err *err)
{
    fprintf(stderr, "nfsr_tool: %s\n", err->text);
    return err->code;
}

static int layout(struct err *err)
{
    struct buf text = { 0 };

    if (layout_text(&nfsr_format, &text) < 0)
        return err_set(err, ERR_SYSTEM, "no memory");
    fwrite(text.data, 1, text.len, stdout);
    buf_free(&text);
    return 0;
}

static struct bytes text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

/* A client looks a file up: a path, a flow, a credential, an object, the operation, in two blocks.
 */
static int example(struct nfsr_writer *w, struct err *err)
{
    static const uint8_t arguments[] = { 0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 2, 'h', 'i', 0, 0 };
    static const uint8_t result[] = { 0, 0, 0, 2, 0, 0, 0, 0 };
    const struct address client = { 4, { 192, 0, 2, 1 } };
    const struct address server = { 4, { 192, 0, 2, 2 } };
    const int64_t t = INT64_C(1700000000000000000);
    struct sink sink = nfsr_writer_sink(w);
    struct record records[] = {
        { .kind = RECORD_FLOW, .flow = { 1, 6, client, server, 871, 2049, .frame = 1, .time = t } },
        { .kind = RECORD_CREDENTIAL,
          .credential = { .id = 1,
                          .flavor = 1,
                          .valid = true,
                          .uid = 1000,
                          .gid = 100,
                          .machine = text("pc") } },
        { .kind = RECORD_OBJECT,
          .object = { .id = 1,
                      .server = server,
                      .handle = { arguments + 4, 4 },
                      .type = OBJECT_DIR,
                      .frame = 4,
                      .time = t + 1000 } },
        { .kind = RECORD_PATH, .path = { .id = 1, .object = 1 } },
        { .kind = RECORD_PATH, .path = { .id = 2, .parent = 1, .name = text("hi") } },
        { .kind = RECORD_OPERATION,
          .operation = { .id = 1,
                         .flow = 1,
                         .xid = 0x80000001,
                         .program = 100003,
                         .version = 3,
                         .procedure = 3,
                         .call = { 4, 3, t + 1000, 84, 0 },
                         .reply = { 5, 5, t + 251000, 32, 0 },
                         .status = 2,
                         .credential = 1,
                         .object = 1,
                         .path = 2,
                         .arguments = { arguments, sizeof(arguments) },
                         .result = { result, sizeof(result) },
                         .arguments_wire = sizeof(arguments),
                         .result_wire = sizeof(result) } },
        { .kind = RECORD_OPERATION,
          .operation = { .id = 2,
                         .flow = 1,
                         .xid = 0x80000002,
                         .program = 100003,
                         .version = 3,
                         .pairing = CAPTURE_ENDED,
                         .call = { 6, 6, t + 1300000, 56, 0 },
                         .reply = { .time = TIME_NONE },
                         .rpc_status = STATUS_NONE,
                         .status = STATUS_NONE,
                         .credential = 1 } },
        { .kind = RECORD_COUNTER, .counter = { text("link.frames"), 6 } },
        { .kind = RECORD_END,
          .end = { .frames = 6,
                   .operations = 2,
                   .calls = 2,
                   .replies = 1,
                   .first_time = t,
                   .last_time = t + 1300000 } },
    };

    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
        if (sink.put(sink.ctx, &records[i], err) < 0 ||
            (records[i].kind == RECORD_OPERATION && records[i].operation.id == 1 &&
             nfsr_writer_flush(w, err) < 0))
            return -err->code;
    return 0;
}

static int random_records(struct nfsr_writer *w, uint64_t seed, uint64_t count, struct err *err)
{
    struct sink sink = nfsr_writer_sink(w);
    static struct samples samples;
    struct record record;

    samples_init(&samples, seed);
    for (uint64_t i = 0; i <= count; i++) {
        unsigned kind = i < count ? sample_kind(sample_u64(&samples)) : RECORD_END;

        sample_record(&samples, kind, &record);
        if (sink.put(sink.ctx, &record, err) < 0)
            return -err->code;
    }
    return 0;
}

static int print(void *ctx, const struct record *record, struct err *err)
{
    struct buf *line = ctx;

    line->len = 0;
    if (record_json(record, line) < 0 || buf_append(line, "\n", 1) < 0)
        return err_set(err, ERR_SYSTEM, "no memory");
    fwrite(line->data, 1, line->len, stdout);
    return 0;
}

static ssize_t from_fd(void *ctx, void *data, size_t len, struct err *err)
{
    ssize_t n = read(*(int *)ctx, data, len);

    return n < 0 ? err_set(err, ERR_SYSTEM, "cannot read") : n;
}

static int dump(struct err *err)
{
    int fd = STDIN_FILENO, result;
    struct buf line = { 0 };

    result = nfsr_read_stream(from_fd, &fd, "standard input", &(struct sink){ print, &line }, err);
    buf_free(&line);
    if (result == NFSR_NOT_MINE)
        return err_set(err, ERR_INPUT, "standard input: no .nfsr stream");
    return result;
}

static int make(int argc, char **argv, struct err *err)
{
    struct output *file = output_open("-", err);
    struct nfsr_writer *w = file ? nfsr_writer_new(output_write, file, err) : NULL;
    int result = w ? 0 : -err->code;

    if (w && argc == 4)
        result = random_records(w, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), err);
    else if (w)
        result = example(w, err);
    if (result == 0)
        result = output_commit(file, err);
    nfsr_writer_free(w);
    output_close(file);
    return result;
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    struct err err = { 0 };
    int result;

    if (!strcmp(command, "layout"))
        result = layout(&err);
    else if (!strcmp(command, "dump"))
        result = dump(&err);
    else if (!strcmp(command, "example") || (!strcmp(command, "random") && argc == 4))
        result = make(argc, argv, &err);
    else
        result = err_set(&err, ERR_USAGE, "see the head of nfsr_tool.c");
    return result < 0 ? fail(&err) : 0;
}
