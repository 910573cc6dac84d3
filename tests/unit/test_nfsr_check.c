/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nfsr_check: nothing to find in a sound stream, and the right thing in each unsound one. */
#include "nfsr_samples.h"
#include "record/nfsr_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>

enum {
    FLOW,
    CREDENTIAL,
    OBJECT,
    AGAIN,
    PATH,
    PATH2,
    NAME,
    REPEAT,
    OP2,
    OP1,
    PROBLEM,
    COUNTER,
    LAST
};

static const uint8_t handle[] = { 1, 2, 3, 4 };

static struct bytes text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

/* Two operations, the second one answered first, with everything that belongs to them. */
static void make_sound(struct record r[LAST + 1])
{
    const struct address client = { 4, { 192, 0, 2, 1 } }, server = { 4, { 192, 0, 2, 2 } };

    memset(r, 0, (LAST + 1) * sizeof(*r));
    r[FLOW] =
        (struct record){ .kind = RECORD_FLOW,
                         .flow = { 1, 6, client, server, 871, 2049, .frame = 1, .time = 100 } };
    r[CREDENTIAL] = (struct record){ .kind = RECORD_CREDENTIAL,
                                     .credential = { .id = 1, .gids = { handle, 4 } } };
    r[OBJECT] = (struct record){ .kind = RECORD_OBJECT,
                                 .object = { .id = 1,
                                             .server = server,
                                             .handle = { handle, 4 },
                                             .type = OBJECT_DIR,
                                             .frame = 1,
                                             .time = 100 } };
    r[AGAIN] = r[OBJECT];
    r[AGAIN].object.fileid = 7;
    r[PATH] = (struct record){ .kind = RECORD_PATH, .path = { .id = 1, .object = 1 } };
    r[PATH2] = (struct record){ .kind = RECORD_PATH,
                                .path = { .id = 2, .parent = 1, .name = text("hi") } };
    r[NAME] = (struct record){ .kind = RECORD_NAME,
                               .name = { .event = NAME_REMOVED,
                                         .parent = 1,
                                         .name = text("hi"),
                                         .operation = 2,
                                         .time = 120 } };
    r[REPEAT] = (struct record){ .kind = RECORD_REPEAT,
                                 .repeat = { 1, REPEAT_CALL, 0, 1, { 3, 3, 120, 80, 0 } } };
    r[OP2] = (struct record){ .kind = RECORD_OPERATION,
                              .operation = { .id = 2,
                                             .flow = 1,
                                             .pairing = PAIRED,
                                             .call = { 2, 1, 110, 80, 0 },
                                             .reply = { 4, 4, 130, 40, 0 },
                                             .credential = 1,
                                             .object = 1,
                                             .path = 2,
                                             .depends_on = 1,
                                             .arguments = { handle, 4 },
                                             .arguments_wire = 4 } };
    r[OP1] = (struct record){ .kind = RECORD_OPERATION,
                              .operation = { .id = 1,
                                             .flow = 1,
                                             .pairing = REPLY_LOST,
                                             .call = { 1, 1, 100, 80, 0 },
                                             .reply = { .time = TIME_NONE } } };
    r[PROBLEM] = (struct record){ .kind = RECORD_PROBLEM,
                                  .problem = { PROBLEM_HOLE, 5, 140, 1, 1, 0, 1448, text("") } };
    r[COUNTER] = (struct record){ .kind = RECORD_COUNTER, .counter = { text("link.frames"), 5 } };
    r[LAST] = (struct record){ .kind = RECORD_END, .end = { 5, 2, 3, 1, 1, 1, 100, 140, false } };
}

static void check(const struct record *records, size_t count, int expected,
                  struct nfsr_summary *summary)
{
    struct buf stream = { 0 };
    struct memory_source source;
    struct err err = { 0 };
    struct nfsr_writer *w = nfsr_writer_new(memory_write, &stream, &err);
    struct sink sink = nfsr_writer_sink(w);

    for (size_t i = 0; i < count; i++)
        assert_int_equal(sink.put(sink.ctx, &records[i], &err), 0);
    assert_int_equal(nfsr_writer_flush(w, &err), 0);
    nfsr_writer_free(w);
    source = (struct memory_source){ stream.data, stream.len, 0, 0 };
    assert_int_equal(nfsr_check(memory_read, &source, "s", summary, &err), expected);
    assert_int_equal(buf_append(&summary->text, "", 1), 0);
    buf_free(&stream);
}

static void sound_stream(void **state)
{
    struct nfsr_summary summary;
    struct record r[LAST + 1];

    (void)state;
    make_sound(r);
    check(r, LAST + 1, 0, &summary);
    assert_string_equal((char *)summary.text.data, "");
    assert_int_equal(summary.findings, 0);
    assert_int_equal(summary.records[RECORD_OPERATION], 2);
    assert_int_equal(summary.records[RECORD_OBJECT], 2);
    assert_int_equal(summary.records[RECORD_END], 1);
    assert_int_equal(summary.end.last_time, 140);
    nfsr_summary_free(&summary);
}

static void cut_stream(void **state)
{
    struct nfsr_summary summary;
    struct record r[LAST + 1];

    (void)state;
    make_sound(r);
    check(r, LAST, -ERR_INPUT, &summary);
    assert_int_equal(summary.findings, 0);
    assert_int_equal(summary.records[RECORD_COUNTER], 1);
    assert_int_equal(summary.records[RECORD_END], 0);
    nfsr_summary_free(&summary);
}

/* Each row spoils one thing and names what must be found, and nothing else. */
static void unsound_streams(void **state)
{
    struct nfsr_summary summary;
    struct record r[LAST + 1];

    (void)state;
#define SPOIL(change, ...)                                                                         \
    do {                                                                                           \
        static const char *const found[] = { __VA_ARGS__ };                                        \
        char expected[1024] = "";                                                                  \
        size_t at = 0;                                                                             \
        make_sound(r);                                                                             \
        change;                                                                                    \
        for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)                              \
            at += (size_t)snprintf(expected + at, sizeof(expected) - at, "record %s\n", found[i]); \
        check(r, LAST + 1, 0, &summary);                                                           \
        assert_string_equal((char *)summary.text.data, expected);                                  \
        assert_int_equal(summary.findings, sizeof(found) / sizeof(found[0]));                      \
        nfsr_summary_free(&summary);                                                               \
    } while (0)

    SPOIL(r[FLOW].flow.id = 3, "1 (flow): flow has id 3, not 1");
    SPOIL(r[FLOW].flow.transport = 1, "1 (flow): transport 1");
    SPOIL(r[FLOW].flow.client.version = 6, "1 (flow): client and server of IP versions 6 and 4");
    SPOIL(r[FLOW].flow.time = 99,
          "13 (end): times from 99 to 140 in records of a capture from 100 to 140");
    SPOIL(r[CREDENTIAL].credential.id = 0, "2 (credential): credential has id 0, not 1",
          "9 (operation): refers to credential 1, which did not come before");
    SPOIL(r[CREDENTIAL].credential.gids.len = 3, "2 (credential): 3 bytes of gids");
    SPOIL(r[OBJECT].object.type = 8, "3 (object): type 8");
    SPOIL(r[AGAIN].object.id = 3, "4 (object): object has id 3, not 2");
    SPOIL(r[AGAIN].object.id = 0, "4 (object): object has id 0, not 2");
    SPOIL(r[AGAIN].object.handle.len = 3,
          "4 (object): object 1 has another server or handle than before");
    SPOIL(r[AGAIN].object.server.bytes[3]++,
          "4 (object): object 1 has another server or handle than before");
    SPOIL(r[PATH].path.object = 2, "5 (path): refers to object 2, which did not come before");
    SPOIL(r[PATH2].path.parent = 2, "6 (path): refers to path 2, which did not come before");
    SPOIL(r[PATH2].path.object = 1, "6 (path): both below path 1 and at object 1");
    SPOIL(r[PATH2].path.id = 1, "6 (path): path has id 1, not 2",
          "9 (operation): refers to path 2, which did not come before");
    SPOIL(r[NAME].name.parent = 2, "7 (name): refers to object 2, which did not come before");
    SPOIL(r[NAME].name.object = 2, "7 (name): refers to object 2, which did not come before");
    SPOIL(r[NAME].name.event = 6, "7 (name): event 6");
    SPOIL(r[NAME].name.event = NAME_GONE, "7 (name): refers to no object");
    SPOIL(r[NAME].name.event = NAME_BOUND, "7 (name): refers to no object");
    SPOIL(r[NAME].name.operation = 3, "13 (end): operation 3 was referred to, but never came");
    SPOIL(r[NAME].name.time = 141,
          "13 (end): times from 100 to 141 in records of a capture from 100 to 140");
    SPOIL(r[REPEAT].repeat.operation = 9, "13 (end): operation 9 was referred to, but never came");
    SPOIL(r[REPEAT].repeat.flow = 2, "8 (repeat): refers to flow 2, which did not come before");
    SPOIL(r[REPEAT].repeat.repeat = 5, "8 (repeat): kind 5 of repeat",
          "13 (end): says 3 calls, there were 2");
    SPOIL(r[REPEAT].repeat.repeat = REPEAT_REPLY, "13 (end): says 3 calls, there were 2",
          "13 (end): says 1 replies, there were 2");
    SPOIL(r[REPEAT].repeat.operation = 0, "8 (repeat): operation 0 in frame 3");
    SPOIL(r[OP2].operation.id = 1, "9 (operation): operation 1 depends on the later 1",
          "10 (operation): operation 1 came before",
          "13 (end): operation 2 was referred to, but never came");
    SPOIL(r[OP1].operation.id = UINT64_MAX, "10 (operation): impossible id 18446744073709551615");
    SPOIL(r[OP1].operation.id = 5, "13 (end): operation 5 was there, but only 2 in all");
    SPOIL(r[OP1].operation.id = 0, "10 (operation): impossible id 0");
    SPOIL(r[OP2].operation.flow = 2, "9 (operation): refers to flow 2, which did not come before");
    SPOIL(r[OP2].operation.flow = 0, "9 (operation): has no flow");
    SPOIL(r[OP2].operation.object = 2,
          "9 (operation): refers to object 2, which did not come before");
    SPOIL(r[OP2].operation.object2 = 3,
          "9 (operation): refers to object 3, which did not come before");
    SPOIL(r[OP2].operation.new_object = 4,
          "9 (operation): refers to object 4, which did not come before");
    SPOIL(r[OP2].operation.path2 = 3, "9 (operation): refers to path 3, which did not come before");
    SPOIL(r[OP2].operation.depends_on = 2, "9 (operation): operation 2 depends on the later 2");
    SPOIL(r[OP2].operation.pairing = 5, "9 (operation): pairing 5");
    SPOIL(r[OP2].operation.pairing = REPLY_LOST,
          "9 (operation): pairing 1 with a call and with a reply");
    SPOIL(r[OP1].operation.pairing = PAIRED,
          "10 (operation): pairing 0 with a call and without a reply");
    SPOIL(r[OP1].operation.pairing = CALL_LOST,
          "10 (operation): pairing 2 with a call and without a reply");
    SPOIL(r[OP2].operation.arguments_wire = 3,
          "9 (operation): 4 of 3 bytes of arguments, 0 of 0 bytes of result");
    SPOIL((r[OP2].operation.offset = 4000, r[OP2].operation.data_length = 200,
           r[OP2].operation.block_digests = (struct bytes){ handle, 4 }),
          "9 (operation): 4 bytes of block_digests for 200 bytes");
    SPOIL(r[OP2].operation.call.first_frame = 3,
          "9 (operation): call: first frame 3, last frame 2");
    SPOIL(r[OP2].operation.reply.first_frame = 0,
          "9 (operation): reply: first frame 0, last frame 4");
    SPOIL(r[OP1].operation.reply.time = 101, "10 (operation): reply: first frame 0, last frame 0");
    SPOIL(r[PROBLEM].problem.problem = 7, "11 (problem): kind 7 of problem");
    SPOIL(r[PROBLEM].problem.direction = 2, "11 (problem): direction 2");
    SPOIL(r[PROBLEM].problem.flow = 2, "11 (problem): refers to flow 2, which did not come before");
    SPOIL(r[PROBLEM].problem.frame = 6, "13 (end): frame 6 was referred to, of 5");
    SPOIL(r[COUNTER].counter.name.len = 0, "12 (counter): has no name");
    SPOIL(r[LAST].end.operations = 3, "13 (end): says 3 operations, there were 2");
    SPOIL(r[LAST].end.repeats = 0, "13 (end): says 0 repeats, there were 1");
    SPOIL(r[LAST].end.problems = 0, "13 (end): says 0 problems, there were 1");
    SPOIL(r[LAST].end.last_time = 139,
          "13 (end): times from 100 to 140 in records of a capture from 100 to 139");
}

static void findings_are_counted_beyond_those_shown(void **state)
{
    enum { COUNT = 1000 };
    struct record *r = calloc(COUNT + 1, sizeof(*r));
    struct nfsr_summary summary;
    unsigned lines = 0;

    (void)state;
    for (unsigned i = 0; i < COUNT; i++)
        r[i].kind = RECORD_COUNTER;
    r[COUNT].kind = RECORD_END;
    check(r, COUNT + 1, 0, &summary);
    for (size_t i = 0; i < summary.text.len; i++)
        lines += summary.text.data[i] == '\n';
    assert_int_equal(summary.findings, COUNT);
    assert_int_equal(lines, NFSR_FINDINGS_SHOWN);
    nfsr_summary_free(&summary);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_stream),
        cmocka_unit_test(cut_stream),
        cmocka_unit_test(unsound_streams),
        cmocka_unit_test(findings_are_counted_beyond_those_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
