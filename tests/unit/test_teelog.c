/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_teelog.c
 *
 * live/teelog/teelog.h: pairs of messages that are made here.  Equal ones agree, each kind of
 * difference is found, and the two streams hold what differs and nothing else.
 */
#include "teelog_lab.h"

/* --- tests */

static void equal_answers_agree(void **state)
{
    struct nfsr_summary seen[SIDES];
    struct attributes_given sut = plain;
    struct world w;

    (void)state;
    begin(&w, &(struct teelog_options){ .record_all = false });
    sut.ctime += 123456789; /* the synchronizer made it: nobody can set this */
    assert_int_equal(getattr(&w, &plain, &sut), TEE_AGREES);
    assert_int_equal(read_file(&w, "hello", "hello"), TEE_AGREES);
    assert_int_equal(getattr(&w, NULL, NULL), TEE_AGREES);
    assert_int_equal(teelog_counts(w.log)->pairs, 3);
    assert_int_equal(teelog_counts(w.log)->agree, 3);
    assert_int_equal(teelog_counts(w.log)->logged, 0);
    end(&w, seen);
    assert_int_equal(seen[REF].records[RECORD_OPERATION], 0);
    assert_int_equal(seen[SUT].records[RECORD_OPERATION], 0);
    assert_true(seen[REF].records[RECORD_OBJECT] > 0);
}

static void each_difference_is_found(void **state)
{
    struct nfsr_summary seen[SIDES];
    struct attributes_given sut = plain;
    struct world w;

    (void)state;
    begin(&w, &(struct teelog_options){ .record_all = false });
    sut.mode = 0600;
    assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    assert_int_equal(w.verdict.kinds, 1 << KIND_VALUE);
    assert_false(w.verdict.state_differs); /* a server that cannot keep it */
    assert_int_equal(w.verdict.number, 1);
    assert_non_null(strstr(w.verdict.text, "GETATTR"));
    assert_non_null(strstr(w.verdict.text, "mode"));

    sut = plain;
    sut.size = 99;
    assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    assert_true(w.verdict.state_differs);

    sut = plain;
    sut.mtime += 60000000000;
    assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    assert_int_equal(w.verdict.kinds, 1 << KIND_TIME);
    assert_false(w.verdict.state_differs);

    assert_int_equal(getattr(&w, &plain, NULL), TEE_DIFFERS);
    assert_int_equal(w.verdict.kinds, 1 << KIND_STATUS);
    assert_true(w.verdict.state_differs);

    assert_int_equal(read_file(&w, "hello", "hallo"), TEE_DIFFERS);
    assert_true(w.verdict.state_differs);
    assert_int_equal(teelog_counts(w.log)->differ, 5);
    end(&w, seen);
    for (int side = 0; side < SIDES; side++) {
        assert_int_equal(seen[side].records[RECORD_OPERATION], 5);
        assert_int_equal(seen[side].records[RECORD_CONTENTS], 1);
    }
    assert_int_equal(seen[SUT].records[RECORD_OBJECT], 1);
}

struct found_contents {
    uint64_t operation;
    uint64_t counterpart[8];
    uint32_t conditions[8], count;
    char text[32];
};

static int look(void *ctx, const struct record *record, struct err *err)
{
    struct found_contents *f = ctx;

    (void)err;
    if (record->kind == RECORD_OPERATION) {
        f->counterpart[record->operation.id] = record->operation.counterpart.number;
        f->conditions[record->operation.id] = record->operation.counterpart.conditions;
        f->count++;
    }
    if (record->kind != RECORD_CONTENTS)
        return 0;
    f->operation = record->contents.operation;
    assert_true(record->contents.is_reply);
    assert_in_range(record->contents.data.len, 1, sizeof(f->text) - 1);
    memcpy(f->text, record->contents.data.data, record->contents.data.len);
    return 0;
}

static int stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(((struct world *)ctx)->loop);
    return 0;
}

/* What was logged a second ago can be read, whatever becomes of the program. */
static void others_read_while_it_grows(void **state)
{
    static const char *const texts[SIDES] = { "hello", "hallo" };
    const uint32_t always = COUNTERPART_LIVE | COUNTERPART_READ_OBJECT | COUNTERPART_OPEN_CHOSEN;
    struct world w;
    struct timer timer = { .due = stop, .ctx = &w };
    struct err err = { 0 };
    struct buf summary;

    (void)state;
    begin(&w, &(struct teelog_options){ .record_all = true });
    assert_int_equal(getattr(&w, &plain, &plain), TEE_AGREES);
    assert_int_equal(w.verdict.number, 1);
    w.next.overlap = OVERLAP_OBJECT;
    w.next.known[TEE_NEW] = false;
    assert_int_equal(read_file(&w, "hello", "hallo"), TEE_DIFFERS);
    assert_int_equal(w.verdict.number, 2);
    assert_int_equal(loop_set(w.loop, &timer, loop_clock() + 1200000000, &err), 0);
    assert_int_equal(loop_run(w.loop, &err), 0);
    w.next.overlap = 0;
    assert_int_equal(read_file(&w, "hello", "halli"), TEE_DIFFERS); /* is not there yet */
    for (int side = 0; side < SIDES; side++) {
        struct found_contents found = { 0 };
        struct buf stream = contents(&w, side);
        struct memory_source source = { stream.data, stream.len, 0, 0 };
        struct sink sink = { look, &found };

        assert_int_equal(nfsr_read_stream(memory_read, &source, "s", &sink, &err), -ERR_INPUT);
        assert_non_null(strstr(err.text, "end record"));
        assert_int_equal(found.count, 2);
        assert_int_equal(found.counterpart[1], 1);
        assert_int_equal(found.counterpart[2], 2);
        assert_int_equal(found.operation, 2);
        assert_string_equal(found.text, texts[side]);
        assert_int_equal(found.conditions[1], side == REF ? always | COUNTERPART_MADE_OBJECT : 0);
        assert_int_equal(found.conditions[2],
                         side == REF ? always | OVERLAP_OBJECT | COUNTERPART_NOT_NEW : 0);
        buf_free(&stream);
    }
    summary = contents(&w, 2);
    assert_int_equal(buf_append(&summary, "", 1), 0);
    assert_non_null(strstr((char *)summary.data, "\"logged\":2"));
    assert_non_null(strstr((char *)summary.data, "READ3res.resok.data"));
    buf_free(&summary);
    teelog_free(w.log); /* without an end */
    remove_all(&w);
}

static void overlaps_and_strangers_are_withheld(void **state)
{
    struct nfsr_summary seen[SIDES];
    struct attributes_given sut = plain;
    struct world w;

    (void)state;
    begin(&w, &(struct teelog_options){ .record_all = false });
    sut.mode = 0600;
    w.next.overlap = OVERLAP_OBJECT;
    assert_int_not_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    w.next.overlap = 0;
    w.next.known[TEE_OBJECT] = false;
    assert_int_not_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    assert_true(teelog_counts(w.log)->withheld_values[WITHHELD_NOT_SAME] > 0);
    assert_int_equal(w.verdict.differs, 0);
    w.next.known[TEE_OBJECT] = true;
    assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    assert_int_equal(w.verdict.differs, FILE_ID); /* to be copied again */
    end(&w, seen);
    assert_int_equal(seen[REF].records[RECORD_OPERATION], 1);
}

/* Handles and numbers that each server chooses stay together; not after the object was made again.
 */
static void patterns_hold_until_it_is_made_again(void **state)
{
    struct nfsr_summary seen[SIDES];
    struct attributes_given sut = plain;
    struct world w;

    (void)state;
    begin(&w, &(struct teelog_options){ .record_all = false });
    assert_int_equal(getattr(&w, &plain, &plain), TEE_AGREES);
    sut.fileid = 77;
    w.next.known[TEE_OBJECT] = false; /* the SUT may have another file instead */
    assert_int_not_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    w.next.known[TEE_OBJECT] = true;
    assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    assert_int_equal(w.verdict.kinds, 1 << KIND_PATTERN);
    assert_int_equal(w.verdict.differs, 0);
    assert_false(w.verdict.state_differs);
    teelog_remade(w.log, FILE_ID);
    sut.fileid = 78;
    assert_int_equal(getattr(&w, &plain, &sut), TEE_AGREES);
    end(&w, seen);
}

/* The log says that an object was made the same by the first pair on it that is logged, also if
 * others were compared before. */
static void making_is_logged(void **state)
{
    const uint32_t made = COUNTERPART_MADE_OBJECT;
    struct found_contents found = { 0 };
    struct sink sink = { look, &found };
    struct attributes_given sut = plain;
    struct memory_source source;
    struct buf stream;
    struct world w;
    struct err err = { 0 };

    (void)state;
    begin(&w, &(struct teelog_options){ .record_all = false });
    for (int i = 0; i < 2; i++) {
        sut.mode = plain.mode;
        assert_int_equal(getattr(&w, &plain, &sut), TEE_AGREES); /* is not logged */
        sut.mode = 0600;
        assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
        assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
        teelog_remade(w.log, FILE_ID);
        sut.fileid = 78;
    }
    assert_int_equal(teelog_end(w.log, &err), 0);
    stream = contents(&w, REF);
    source = (struct memory_source){ stream.data, stream.len, 0, 0 };
    assert_int_equal(nfsr_read_stream(memory_read, &source, "s", &sink, &err), 0);
    assert_int_equal(found.count, 4);
    for (int i = 1; i <= 4; i++)
        assert_int_equal(found.conditions[i] & made, i % 2 ? made : 0);
    buf_free(&stream);
    remove_all(&w);
}

static void silence_is_a_difference(void **state)
{
    struct nfsr_summary seen[SIDES];
    struct exchange x;
    struct world w;

    (void)state;
    begin(&w, &(struct teelog_options){ .record_all = false });
    w.next.object[TEE_OBJECT] = FILE_ID;
    exchange_begin(&x, &w, GETATTR);
    for (int side = 0; side < SIDES; side++) {
        put_handle(&x.call[side].put, side, FILE_ID);
        xdr_put_u32(&x.reply[side].put, 0);
        put_attributes(&x.reply[side].put, side, &plain);
    }
    x.silent = true;
    assert_int_equal(exchange_end(&x, &w), TEE_DIFFERS);
    assert_int_equal(w.verdict.kinds, 1 << KIND_REPLY);
    assert_false(w.verdict.state_differs);
    assert_int_equal(getattr(&w, &plain, &plain), TEE_AGREES);
    assert_int_equal(teelog_counts(w.log)->unanswered, 1);
    end(&w, seen);
    assert_int_equal(seen[SUT].records[RECORD_OPERATION], 1);
    assert_int_equal(seen[SUT].end.replies, 0);
}

/* The least recently compared object is forgotten, and counted. */
static void rows_are_bounded(void **state)
{
    struct nfsr_summary seen[SIDES];
    struct exchange x;
    struct world w;

    (void)state;
    begin(&w, &(struct teelog_options){ .objects = 64 });
    for (uint8_t id = 1; id <= 100; id++) {
        struct attributes_given a = plain;

        a.fileid = id;
        w.next.object[TEE_OBJECT] = id;
        exchange_begin(&x, &w, GETATTR);
        for (int side = 0; side < SIDES; side++) {
            put_handle(&x.call[side].put, side, id);
            xdr_put_u32(&x.reply[side].put, 0);
            put_attributes(&x.reply[side].put, side, &a);
        }
        assert_int_equal(exchange_end(&x, &w), TEE_AGREES);
    }
    assert_int_equal(teelog_counts(w.log)->objects, 64);
    assert_int_equal(teelog_counts(w.log)->forgotten, 36);
    teelog_forget(w.log, 100);
    assert_int_equal(teelog_counts(w.log)->objects, 63);
    end(&w, seen);
}

/* Names that are changed just now may be there or not, if these are known; of all that is not
 * known, the log says so.  A status that differs is none of this. */
static void names_that_change(void **state)
{
    static const bool yes[SIDES] = { true, true };
    const char *names[SIDES] = { "abc", "ab" };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct found_contents found = { 0 };
        struct sink sink = { look, &found };
        struct memory_source source;
        struct err err = { 0 };
        struct buf stream;
        struct world w;

        begin(&w, &(struct teelog_options){ .record_all = true });
        w.next.overlap = OVERLAP_OBJECT;
        w.next.changing = (struct bytes){ (const uint8_t *)(i ? "d" : "c"), 2 };
        w.next.names_left = i == 2;
        assert_int_equal(list(&w, 0, names, yes, true), i == 1 ? TEE_DIFFERS : TEE_WITHHELD);
        assert_int_equal(teelog_counts(w.log)->withheld_values[WITHHELD_CHANGING], i != 1);
        assert_int_equal(getattr(&w, &plain, NULL), TEE_DIFFERS);
        assert_int_equal(teelog_end(w.log, &err), 0);
        stream = contents(&w, REF);
        source = (struct memory_source){ stream.data, stream.len, 0, 0 };
        assert_int_equal(nfsr_read_stream(memory_read, &source, "s", &sink, &err), 0);
        assert_int_equal(found.count, 2);
        assert_int_equal(found.conditions[1] & COUNTERPART_OPEN_RESULT,
                         i == 1 ? 0 : COUNTERPART_OPEN_RESULT);
        assert_int_equal(found.conditions[2] & COUNTERPART_OPEN_RESULT, 0);
        buf_free(&stream);
        remove_all(&w);
    }
}

static void wait_for_ends(bool by_cookies)
{
    const struct effect removes = { .procedure = procedure_find(100003, 3, 12),
                                    .name = { (const uint8_t *)"a", 1 },
                                    .roles = ROLE_NAME,
                                    .succeeded = true };
    struct err err = { 0 };
    static const bool no[SIDES] = { false, false }, yes[SIDES] = { true, true };
    struct nfsr_summary seen[SIDES];
    struct world w;

    begin(&w, &(struct teelog_options){ .record_all = false });
    w.by_cookies = by_cookies;
    /* cut in other places, in another order */
    assert_int_equal(list(&w, 0, (const char *[SIDES]){ "abc", "fb" }, no, false), TEE_WITHHELD);
    assert_int_equal(list(&w, 3, (const char *[SIDES]){ "def", "edca" }, yes, true), TEE_AGREES);
    /* likewise, while a request that was not compared took a name */
    assert_int_equal(list(&w, 0, (const char *[SIDES]){ "abc", "bc" }, no, false), TEE_WITHHELD);
    assert_int_equal(teelog_names(w.log, w.next.object, &removes, &err), 0);
    assert_int_equal(list(&w, 3, (const char *[SIDES]){ "def", "def" }, yes, true), TEE_WITHHELD);
    /* a name of one side */
    assert_int_equal(list(&w, 0, (const char *[SIDES]){ "abc", "abc" }, no, false), TEE_WITHHELD);
    assert_int_equal(list(&w, 3, (const char *[SIDES]){ "def", "de" }, yes, true), TEE_DIFFERS);
    assert_int_equal(w.verdict.kinds, 1 << KIND_ENTRY);
    assert_true(w.verdict.state_differs);
    end(&w, seen);
    assert_int_equal(seen[REF].records[RECORD_OPERATION], 2);
    assert_int_equal(seen[SUT].records[RECORD_OPERATION], 2);
}

static void listings_wait_for_their_ends(void **state)
{
    (void)state;
    wait_for_ends(false);
    wait_for_ends(true);
}

/* A listing that a client begins and leaves is counted, when its object is gone. */
static void left_listings_are_counted(void **state)
{
    static const bool no[SIDES] = { false, false };
    struct nfsr_summary seen[SIDES];
    struct world w;

    (void)state;
    begin(&w, &(struct teelog_options){ .record_all = false });
    w.by_cookies = true;
    for (int i = 0; i < TEELOG_LISTINGS + 3; i++)
        list(&w, 0, (const char *[SIDES]){ "abc", "fb" }, no, false);
    assert_int_equal(teelog_counts(w.log)->listings_left, 3);
    teelog_forget(w.log, DIR_ID);
    assert_int_equal(teelog_counts(w.log)->listings_left, TEELOG_LISTINGS + 3);
    end(&w, seen);
}

/* Once for each kind; one command at a time, and nobody waits for it. */
/* Objects and names are logged as they are found, and there can be millions. */
static void the_log_is_bounded(void **state)
{
    enum { OBJECTS = 100000, MOST = 200000, BLOCK = 1 << 18 };
    struct record r = { .kind = RECORD_OBJECT };
    struct nfsr_summary seen[SIDES];
    struct attributes_given sut = plain;
    struct err err = { 0 };
    struct world w;

    (void)state;
    begin(&w, &(struct teelog_options){ .log_max = MOST });
    assert_int_equal(getattr(&w, &plain, &plain), TEE_AGREES); /* the engine's only object */
    for (uint32_t i = 2; i <= OBJECTS; i++) {
        r.object = (struct record_object){ .id = i,
                                           .handle = { (const uint8_t *)&i, sizeof(i) },
                                           .type = NF3REG };
        assert_int_equal(teelog_reference_record(w.log, &r, &err), 0);
    }
    sut.mode = 0600;
    assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    assert_int_equal(teelog_counts(w.log)->not_logged, 1);
    assert_true(teelog_counts(w.log)->log_bytes < MOST + 2 * BLOCK);
    end(&w, seen);
    assert_in_range(seen[REF].records[RECORD_OBJECT], 2, OBJECTS / 2);
}

/* An example is found in the log by its pair's number.  What a scrub compares is no pair of
 * clients. */
static void examples_have_numbers_of_the_log(void **state)
{
    struct nfsr_summary seen[SIDES];
    struct attributes_given sut = plain;
    const struct teelog_group *groups;
    struct world w;
    uint32_t count;
    uint64_t further;

    (void)state;
    begin(&w, &(struct teelog_options){ .log_max = 1 << 20 });
    for (int i = 0; i < 3; i++)
        assert_int_equal(getattr(&w, &plain, &plain), TEE_AGREES);
    sut.mode = 0600;
    assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    assert_int_equal(w.verdict.number, 1);
    w.next.scrubs = true;
    assert_int_equal(getattr(&w, &plain, &plain), TEE_AGREES);
    sut = plain;
    sut.size = 99;
    w.next.scrubs = true;
    assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    groups = teelog_groups(w.log, &count, &further);
    assert_int_equal(count, 2);
    assert_int_equal(groups[0].pair, 1);
    assert_int_equal(groups[1].pair, 2);
    assert_int_equal(teelog_counts(w.log)->pairs, 4);
    assert_int_equal(teelog_counts(w.log)->agree, 3);
    assert_int_equal(teelog_counts(w.log)->differ, 1);
    assert_int_equal(teelog_counts(w.log)->scrubbed, 2);
    end(&w, seen);
}

static void the_first_of_each_kind_runs_a_command(void **state)
{
    static const char command[] = "sleep 0.1; echo \"$NFSTEE_KIND $NFSTEE_OPERATION "
                                  "$NFSTEE_REFERENCE $NFSTEE_SUT $NFSTEE_PATH\""
                                  " >>$NFSTEE_LOG/said";
    struct nfsr_summary seen[SIDES];
    struct attributes_given sut = plain;
    struct world w;
    struct timer timer = { .due = stop, .ctx = &w };
    struct err err = { 0 };
    char path[640], text[256] = "";
    FILE *file;

    (void)state;
    begin(&w, &(struct teelog_options){ .on_mismatch = command });
    sut.mode = 0600;
    for (int i = 0; i < 3; i++)
        assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    sut = plain;
    sut.size = 99;
    assert_int_equal(getattr(&w, &plain, &sut), TEE_DIFFERS);
    assert_int_equal(teelog_counts(w.log)->commands, 1);
    snprintf(path, sizeof(path), "%s/said", w.dir);
    for (int i = 0; i < 100 && !strstr(text, "100"); i++) {
        assert_int_equal(loop_set(w.loop, &timer, loop_clock() + 100000000, &err), 0);
        assert_int_equal(loop_run(w.loop, &err), 0);
        file = fopen(path, "r");
        if (file) {
            text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
            fclose(file);
        }
    }
    assert_string_equal(text, "value GETATTR 0644 0600 /object7\nvalue GETATTR 100 99 /object7\n");
    assert_int_equal(teelog_counts(w.log)->commands, 2);
    unlink(path);
    end(&w, seen);
}

static void refuses_a_used_directory(void **state)
{
    struct nfsr_summary seen[SIDES];
    const struct teelog_host host = { NULL, NULL, NULL };
    const struct teelog_options options = { .rules = (const char *const[]){ "no-such-rules" },
                                            .rule_count = 1 };
    struct err err = { 0 };
    struct world w;

    (void)state;
    begin(&w, &(struct teelog_options){ .record_all = false });
    assert_null(teelog_open(w.loop, w.dir, &(struct teelog_options){ .objects = 0 }, &host, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.text, "not empty"));
    assert_null(teelog_open(w.loop, "teelog-none", &options, &host, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_int_not_equal(access("teelog-none", F_OK), 0);
    end(&w, seen);
}

/* Logs of a test that fails are left in a place of their own. */
static char folder[] = "/tmp/test_teelog.XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rmdir(folder); /* if it is empty */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_answers_agree),
        cmocka_unit_test(each_difference_is_found),
        cmocka_unit_test(others_read_while_it_grows),
        cmocka_unit_test(overlaps_and_strangers_are_withheld),
        cmocka_unit_test(patterns_hold_until_it_is_made_again),
        cmocka_unit_test(making_is_logged),
        cmocka_unit_test(silence_is_a_difference),
        cmocka_unit_test(rows_are_bounded),
        cmocka_unit_test(names_that_change),
        cmocka_unit_test(listings_wait_for_their_ends),
        cmocka_unit_test(left_listings_are_counted),
        cmocka_unit_test(the_log_is_bounded),
        cmocka_unit_test(examples_have_numbers_of_the_log),
        cmocka_unit_test(the_first_of_each_kind_runs_a_command),
        cmocka_unit_test(refuses_a_used_directory),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
