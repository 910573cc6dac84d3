/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replay dumps as text: the way there and back gives the same bytes; what is no such text is
 * refused, with the line. */
#include "rdump_samples.h"
#include "rdump/rdump_text.h"
#include "wire/field.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>

static int setup(void **state)
{
    (void)state;
    wire_init();
    return 0;
}

static void make(struct buf *out, const union rdump_record *records, const enum rdump_kind *kinds,
                 size_t count)
{
    struct err err = { 0 };
    struct rdump_writer *w = rdump_writer_new(memory_write, out, &err);

    for (size_t i = 0; i < count; i++)
        assert_int_equal(rdump_put(w, kinds[i], &records[i], &err), 0);
    rdump_writer_free(w);
}

static void to_text(const struct buf *dump, bool json, struct buf *text)
{
    int fd = sample_file(dump->data, dump->len);
    struct err err = { 0 };
    struct rdump_reader *r = rdump_reader_new(fd, "dump", &err);

    assert_non_null(r);
    text->len = 0;
    assert_int_equal(rdump_to_text(r, json, memory_write, text, &err), 0);
    rdump_reader_free(r);
    close(fd);
}

static int from_text(const void *text, size_t len, struct buf *dump, struct err *err)
{
    int fd = sample_file(text, len), result;

    memset(err, 0, sizeof(*err));
    dump->len = 0;
    result = rdump_from_text(fd, "text", memory_write, dump, err);
    close(fd);
    return result;
}

static void goes_there_and_back(const struct buf *dump)
{
    struct buf text = { 0 }, again = { 0 };
    struct err err;

    to_text(dump, false, &text);
    assert_int_equal(from_text(text.data, text.len, &again, &err), 0);
    assert_int_equal(again.len, dump->len);
    assert_memory_equal(again.data, dump->data, dump->len);
    buf_free(&text);
    buf_free(&again);
}

static void random_records(void **state)
{
    enum { COUNT = 3000 };
    union rdump_record *records = calloc(COUNT, sizeof(*records));
    enum rdump_kind *kinds = calloc(COUNT, sizeof(*kinds));
    uint32_t(*lists)[SAMPLE_LISTS] = calloc(COUNT, sizeof(*lists));
    struct samples *s = malloc(sizeof(*s));
    struct buf dump = { 0 };

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        samples_init(s, seed);
        for (unsigned i = 0; i < COUNT; i++) {
            kinds[i] = i + 1 == COUNT ? RDUMP_END : 1 + i % (RDUMP_KIND_MAX - 2);
            sample_rdump(s, kinds[i], &records[i], lists[i]);
        }
        dump.len = 0;
        make(&dump, records, kinds, COUNT);
        goes_there_and_back(&dump);
    }
    buf_free(&dump);
    free(records);
    free(kinds);
    free(lists);
    free(s);
}

/* Texts that look like the form's own marks, and every byte. */
static void hard_texts(void **state)
{
    static uint8_t all[256];
    static const char *const texts[] = { " ",       "#",  " # x",  "\\x20", "\\",
                                         "a=b",     "\n", "\r\n",  "=",     "\xc3\xa4 \xc3",
                                         "a\\\\ b", "  ", "/a/b c" };
    enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };
    union rdump_record r[TEXTS * 2 + 2] = { 0 };
    enum rdump_kind kinds[TEXTS * 2 + 2];
    struct buf dump = { 0 };

    (void)state;
    for (unsigned i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    for (unsigned i = 0; i < TEXTS; i++) {
        kinds[2 * i] = RDUMP_ENTRY;
        r[2 * i].entry = (struct rdump_entry){ 1, 2, sample_text(texts[i]) };
        kinds[2 * i + 1] = RDUMP_TRACE;
        r[2 * i + 1].trace =
            (struct rdump_trace){ .tool = sample_text(texts[i]), .selection = { all, 256 } };
    }
    kinds[TEXTS * 2] = RDUMP_ENTRY;
    r[TEXTS * 2].entry = (struct rdump_entry){ 1, 2, { all, 256 } };
    kinds[TEXTS * 2 + 1] = RDUMP_END;
    make(&dump, r, kinds, TEXTS * 2 + 2);
    goes_there_and_back(&dump);
    buf_free(&dump);
}

/* The form itself. */
static void a_small_dump(void **state)
{
    static const char wanted[] =
        "rdump 2.0\n"
        "trace time=1700000000000000000 horizon=262144 fine=1 copies=1 tool=nfsdigest\\x200.2.0\n"
        "host number=1 address=192.0.2.1\n"
        "host number=2 address=192.0.2.2\n"
        "credential number=1 flavor=1 uid=1000 gid=100 gids=0000006400000004 machine=pc\n"
        "object number=1 server=2 type=2 knows=0x21 mode=0755 nlink=2 mtime=1699999995000000000 "
        "root=/export source=1 used=1\n"
        "object number=2 server=2 type=1 knows=0x8 mode=0644 nlink=1 size=4096 source=2 used=1\n"
        "entry parent=1 object=2 name=hi\n"
        "operation source=1 latency=250000 client=1 server=2 credential=1 procedure=3 "
        "arguments=00000004000000010000000268690000 mask=0x1000800 digest=0xac025de0a5aa0d31 "
        "links=00000002 forget=2 # 0 LOOKUP what.dir=1 what.name=hi\n";
    static const char write[] =
        "operation source=3 time=2000000 latency=400000 client=1 server=2 credential=1 procedure=7 "
        "arguments=00000004000000030000000000000000000000050000000200000005 dependencies=1 "
        "forget=3 # 2 WRITE file=3 offset=0 count=5 stable=2 data=(5)\n";
    static const char last[] = "operation source=4 unplayable=2 time=3000000 latency=-1 client=1 "
                               "server=2 credential=1 procedure=6 # 4 READ\n"
                               "end hosts=2 credentials=1 objects=2 entries=1 operations=5 "
                               "inferred=1 unplayable=1 dependencies=2 last_time=3000000\n";
    static const char json[] = "{\"kind\":\"entry\",\"parent\":1,\"object\":2,\"name\":\"hi\"}\n";
    struct buf dump = { 0 }, text = { 0 };
    union rdump_record r[16];
    enum rdump_kind kinds[16];
    size_t count = sample_small(r, kinds);

    (void)state;
    make(&dump, r, kinds, count);
    goes_there_and_back(&dump);
    to_text(&dump, false, &text);
    assert_int_equal(buf_append(&text, "", 1), 0);
    assert_int_equal(strncmp((char *)text.data, wanted, strlen(wanted)), 0);
    assert_non_null(strstr((char *)text.data, write));
    assert_string_equal((char *)text.data + text.len - 1 - strlen(last), last);
    to_text(&dump, true, &text);
    assert_int_equal(buf_append(&text, "", 1), 0);
    assert_non_null(strstr((char *)text.data, json));
    assert_non_null(
        strstr((char *)text.data, "\"digest\":\"ac025de0a5aa0d31\",\"dependencies\":[]"));
    assert_non_null(strstr((char *)text.data, "\"dependencies\":[3]"));
    buf_free(&dump);
    buf_free(&text);
}

/* Comments, empty lines, spaces and other ways to write a number make no difference. */
static void people_may_write_it(void **state)
{
    static const char plain[] = "rdump 2.0\nhost number=16 address=a\nend hosts=1\n";
    static const char other[] =
        "# a dump\n\nrdump 2.0\n  # hosts\nhost   address=a number=0x10 # b\n"
        "\n   \nend hosts=01";
    struct buf a = { 0 }, b = { 0 };
    struct err err;

    (void)state;
    assert_int_equal(from_text(plain, strlen(plain), &a, &err), 0);
    assert_int_equal(from_text(other, strlen(other), &b, &err), 0);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    buf_free(&a);
    buf_free(&b);
}

static void others_are_refused(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        { "", "text: line 1: the text ends without an end record" },
        { "rdump 2.0\n", "text: line 2: the text ends without an end record" },
        { "host\n",
          "text: line 1: not the text of a replay dump, whose first line is \"rdump 2.0\"" },
        { "rdump 2.0x\n",
          "text: line 1: not the text of a replay dump, whose first line is \"rdump "
          "2.0\"" },
        { "rdump 3.0\n", "text: line 1: is of rdump version 3.0, this program reads up to 2.0" },
        { "rdump 2.1\n", "text: line 1: is of rdump version 2.1, this program reads up to 2.0" },
        { "rdump 2.0\nhosts\n", "text: line 2: \"hosts\" is not a kind of record" },
        { "rdump 2.0\nhost name=1\n", "text: line 2: \"name=1\" is not a field of such a record" },
        { "rdump 2.0\nhost number\n", "text: line 2: \"number\" is not a field of such a record" },
        { "rdump 2.0\nhost number=\n",
          "text: line 2: \"number=\" has a value that the field cannot have" },
        { "rdump 2.0\nhost number=-1\n",
          "text: line 2: \"number=-1\" has a value that the field cannot have" },
        { "rdump 2.0\nhost number=4294967296\n",
          "text: line 2: \"number=4294967296\" has a value that the field cannot have" },
        { "rdump 2.0\nhost number=1x\n",
          "text: line 2: \"number=1x\" has a value that the field cannot have" },
        { "rdump 2.0\nhost number=1 number=1\n", "text: line 2: \"number=1\" is there twice" },
        { "rdump 2.0\nobject knows=65536\n",
          "text: line 2: \"knows=65536\" has a value that the field cannot have" },
        { "rdump 2.0\nobject size=18446744073709551616\n",
          "text: line 2: \"size=18446744073709551616\" has a value that the field cannot have" },
        { "rdump 2.0\nobject atime=9223372036854775808\n",
          "text: line 2: \"atime=9223372036854775808\" has a value that the field cannot have" },
        { "rdump 2.0\noperation arguments=0\n",
          "text: line 2: \"arguments=0\" has a value that the field cannot have" },
        { "rdump 2.0\noperation arguments=0g\n",
          "text: line 2: \"arguments=0g\" has a value that the field cannot have" },
        { "rdump 2.0\noperation dependencies=1,\n",
          "text: line 2: \"dependencies=1,\" has a value that the field cannot have" },
        { "rdump 2.0\noperation dependencies=2,1\n",
          "text: line 2: operation record with dependencies that fall" },
        { "rdump 2.0\nend\nend\n", "text: line 3: record after the end record" },
        { "rdump 2.0\nentry "
          "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg\n",
          "text: line 2: \"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff...\" is "
          "not a "
          "field of such a record" },
    };
    struct buf dump = { 0 };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(from_text(cases[i].text, strlen(cases[i].text), &dump, &err), -ERR_INPUT);
        assert_string_equal(err.text, cases[i].wanted);
        assert_int_equal(err.code, ERR_INPUT);
    }
    buf_free(&dump);
}

static void long_lines(void **state)
{
    enum { MANY = 262144 };
    uint32_t *list = calloc(MANY, sizeof(*list));
    union rdump_record r[2] = { { .operation = { .dependencies = list,
                                                 .dependency_count = MANY } } };
    const enum rdump_kind kinds[] = { RDUMP_OPERATION, RDUMP_END };
    struct buf dump = { 0 };

    (void)state;
    for (uint32_t i = 0; i < MANY; i++)
        list[i] = UINT32_MAX - MANY + i;
    make(&dump, r, kinds, 2);
    goes_there_and_back(&dump);
    buf_free(&dump);
    free(list);
}

/* What was read before damage is text by then. */
static void damaged_dumps(void **state)
{
    struct buf dump = { 0 }, text = { 0 };
    struct err err = { 0 };
    struct rdump_writer *w = rdump_writer_new(memory_write, &dump, &err);
    struct rdump_operation o = { .source = 1 };
    struct rdump_end end = { 0 };
    struct rdump_reader *r;
    int fd;

    (void)state;
    for (unsigned i = 0; i < 60000; i++)
        assert_int_equal(rdump_put(w, RDUMP_OPERATION, &o, &err), 0);
    assert_int_equal(rdump_put(w, RDUMP_END, &end, &err), 0);
    rdump_writer_free(w);
    fd = sample_file(dump.data, dump.len - 1);
    r = rdump_reader_new(fd, "dump", &err);
    assert_int_equal(rdump_to_text(r, false, memory_write, &text, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "truncated"));
    assert_in_range(text.len, 100000, 60000 * 40);
    assert_int_equal(text.data[text.len - 1], '\n');
    rdump_reader_free(r);
    close(fd);
    buf_free(&dump);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_records),     cmocka_unit_test(hard_texts),
        cmocka_unit_test(a_small_dump),       cmocka_unit_test(people_may_write_it),
        cmocka_unit_test(others_are_refused), cmocka_unit_test(long_lines),
        cmocka_unit_test(damaged_dumps),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
