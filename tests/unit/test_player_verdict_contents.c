/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: room_live_player */
/* Bytes of READs, against a file that is kept byte by byte. */
#include "verdict_lab.h"

enum { SETATTR = 2, READ = 6, WRITE = 7, CREATE = 8, SIZE_MAX_ = 3000, FILE_NUMBER = 7 };

static uint64_t seed = 1;

static uint32_t any(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return below ? (uint32_t)(seed >> 33) % below : 0;
}

/* The target's file. */
static struct {
    uint8_t bytes[SIZE_MAX_];
    uint32_t size;
} file;

static const struct lab_attributes none = { 0 };

static void write_file(struct lab *l, uint32_t from, uint32_t length)
{
    step_begin(l, WRITE, FILE_NUMBER);
    l->step.value_at = (uint16_t)l->arguments.len;
    put_u64(&l->arguments, from);
    put_u32(&l->arguments, length);
    put_u32(&l->arguments, 2);
    put_u32(&l->arguments, length);
    l->step.has = STEP_HAS_DATA | STEP_CHANGES;
    l->step.data_len = length;
    step_end(l);
    put_u32(&l->reply, 0);
    put_wcc(&l->reply, none);
    put_u32(&l->reply, length);
    put_u32(&l->reply, 2);
    put_u64(&l->reply, 99);
    assert_int_equal(lab_judge(l, 0, 0), VERDICT_AS_RECORDED);
    assert_int_equal(l->v.bytes, length);
    if (!length)
        return;
    if (from > file.size)
        memset(file.bytes + file.size, 0, from - file.size);
    fill_copy(FILE_NUMBER, from, file.bytes + from, length);
    if (from + length > file.size)
        file.size = from + length;
}

static void resize(struct lab *l, uint32_t size)
{
    step_begin(l, SETATTR, FILE_NUMBER);
    for (int i = 0; i < 3; i++)
        put_u32(&l->arguments, 0);
    put_u32(&l->arguments, 1);
    l->step.second_at = (uint32_t)l->arguments.len;
    l->step.has = STEP_CHANGES | STEP_SETS_SIZE;
    put_u64(&l->arguments, size);
    for (int i = 0; i < 3; i++)
        put_u32(&l->arguments, 0);
    step_end(l);
    put_u32(&l->reply, 0);
    put_wcc(&l->reply, none);
    assert_int_equal(lab_judge(l, 0, 0), VERDICT_AS_RECORDED);
    if (size > file.size)
        memset(file.bytes + file.size, 0, size - file.size);
    file.size = size;
}

static void read_reply(struct lab *l, uint32_t from, const uint8_t *bytes, uint32_t length)
{
    step_begin(l, READ, FILE_NUMBER);
    put_u64(&l->arguments, from);
    put_u32(&l->arguments, length);
    step_end(l);
    put_u32(&l->reply, 0);
    put_post(&l->reply, none);
    put_u32(&l->reply, length);
    put_u32(&l->reply, 0);
    put_opaque(&l->reply, bytes, length);
}

/* Reads a part, as it is and with a byte that is neither the file's nor 0. */
static void read_file(struct lab *l)
{
    uint32_t from = any(file.size + 1), length = any(file.size - from + 1), at = any(length);
    uint8_t bytes[SIZE_MAX_];

    memcpy(bytes, file.bytes + from, length);
    read_reply(l, from, bytes, length);
    assert_int_equal(lab_judge(l, 0, 0), VERDICT_AS_RECORDED);
    assert_int_equal(l->v.bytes, length);
    assert_false(l->v.contents);
    if (!length)
        return;
    do
        bytes[at]++;
    while (!bytes[at] || bytes[at] == *fill_at(FILE_NUMBER, from + at));
    read_reply(l, from, bytes, length);
    assert_int_equal(lab_judge(l, 0, 0), VERDICT_DIFFERENT_RESULT);
    assert_true(l->v.contents);
}

static void as_a_file(void **state)
{
    struct lab l;

    (void)state;
    for (int round = 0; round < 200; round++) {
        lab_new(&l, (struct verdict_setup){ .fill = true }, 1, round % 2);
        file.size = any(SIZE_MAX_);
        fill_copy(FILE_NUMBER, 0, file.bytes, file.size);
        lab_object(&l, FILE_NUMBER, 1, file.size);
        for (int i = 0; i < 40; i++) {
            uint32_t from = any(SIZE_MAX_ - 100);

            if (any(8) == 0)
                resize(&l, any(SIZE_MAX_));
            else if (any(2))
                write_file(&l, from, any(100));
            read_file(&l);
        }
        assert_int_equal(objects_find(l.objects, FILE_NUMBER)->size, file.size);
        lab_free(&l);
    }
}

/* A zero is wrong where something was written, and right in a hole; a hole that is filled is none.
 */
static void holes(void **state)
{
    uint8_t bytes[100];
    struct object *o;
    struct lab l;

    (void)state;
    lab_new(&l, (struct verdict_setup){ .fill = true }, 1, false);
    o = lab_object(&l, FILE_NUMBER, 1, 100);
    file.size = 100;
    fill_copy(FILE_NUMBER, 0, bytes, 100);
    bytes[40] = 0;
    assert_int_not_equal(*fill_at(FILE_NUMBER, 40), 0);
    read_reply(&l, 0, bytes, 100);
    assert_int_equal(lab_judge(&l, 0, 0), VERDICT_DIFFERENT_RESULT);
    expect_text(&l, "byte 40 of the file is 0x00, not 0x");
    resize(&l, 30);
    resize(&l, 100);
    assert_int_equal(o->hole_from, 30);
    assert_int_equal(o->hole_to, 100);
    read_reply(&l, 0, bytes, 100);
    assert_int_equal(lab_judge(&l, 0, 0), VERDICT_AS_RECORDED);
    write_file(&l, 10, 40);
    assert_int_equal(o->hole_from, 50);
    read_reply(&l, 0, bytes, 100);
    assert_int_equal(lab_judge(&l, 0, 0), VERDICT_DIFFERENT_RESULT);
    write_file(&l, 90, 10);
    assert_int_equal(o->hole_to, 90);
    write_file(&l, 50, 40);
    assert_true(o->hole_from >= o->hole_to);
    resize(&l, 30); /* a hole ends with the file */
    resize(&l, 100);
    resize(&l, 50);
    write_file(&l, 40, 50);
    assert_int_equal(o->hole_to, 40);
    lab_free(&l);
}

static void not_checked(void **state)
{
    uint8_t bytes[8] = { 1, 2, 3 };
    struct lab l;

    (void)state;
    for (int fill = 0; fill < 2; fill++) {
        lab_new(&l, (struct verdict_setup){ .fill = fill }, 1, false);
        lab_object(&l, FILE_NUMBER, fill ? 0 : 1, 100);
        read_reply(&l, 0, bytes, 8);
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_AS_RECORDED);
        store_be32(l.reply.data + 8, 7); /* count */
        assert_int_equal(lab_judge(&l, 0, 0), VERDICT_DIFFERENT_RESULT);
        expect_text(&l, "count is 7, but there are 8 bytes");
        lab_free(&l);
    }
}

/* A file that is made with a size is a hole. */
static void made_with_size(void **state)
{
    uint8_t bytes[8] = { 0 };
    struct lab l;

    (void)state;
    lab_new(&l, (struct verdict_setup){ .fill = true }, 1, false);
    step_begin(&l, CREATE, 1);
    put_text(&l.arguments, "name");
    for (int i = 0; i < 4; i++)
        put_u32(&l.arguments, 0);
    put_u32(&l.arguments, 1);
    l.step.second_at = (uint32_t)l.arguments.len;
    l.step.has = STEP_CHANGES | STEP_SETS_SIZE;
    put_u64(&l.arguments, 8);
    put_u32(&l.arguments, 0);
    put_u32(&l.arguments, 0);
    l.step.made = FILE_NUMBER;
    step_end(&l);
    put_u32(&l.reply, 0);
    put_u32(&l.reply, 1);
    put_handle(&l.reply, FILE_NUMBER);
    put_post(&l.reply, none);
    put_wcc(&l.reply, none);
    assert_int_equal(lab_judge(&l, 3, 0), VERDICT_AS_RECORDED);
    assert_int_equal(objects_find(l.objects, FILE_NUMBER)->type, 1); /* as every CREATE's */
    assert_int_equal(objects_find(l.objects, FILE_NUMBER)->hole_to, 8);
    read_reply(&l, 0, bytes, 8);
    assert_int_equal(lab_judge(&l, 4, 0), VERDICT_AS_RECORDED);
    bytes[3] = (uint8_t)(*fill_at(FILE_NUMBER, 3) ^ 0x80);
    read_reply(&l, 0, bytes, 8);
    assert_int_equal(lab_judge(&l, 4, 0),
                     bytes[3] ? VERDICT_DIFFERENT_RESULT : VERDICT_AS_RECORDED);
    lab_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_file),
        cmocka_unit_test(holes),
        cmocka_unit_test(not_checked),
        cmocka_unit_test(made_with_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
