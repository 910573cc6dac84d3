/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_shadow_packed.c
 *
 * live/shadow: requests that are packed while they wait for the SUT.
 */
#include "shadow/packed.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { ALL = 1000, CALL = 100, ANSWER = 130, LONG_ONE = 77 };

static struct err err;
static struct shadow s;

/* Byte |i| of what request |n| has. */
static uint8_t byte_of(uint32_t n, uint32_t i)
{
    return (uint8_t)(i == 3 ? n : i == 4 ? n >> 8 : i * 37);
}

static uint32_t call_len(uint32_t n)
{
    return n == LONG_ONE ? 4000 : CALL + n % 3;
}

static uint8_t *bytes_of(uint32_t n, uint32_t len)
{
    uint8_t *bytes = malloc(len);

    assert_non_null(bytes);
    for (uint32_t i = 0; i < len; i++)
        bytes[i] = byte_of(n, i);
    return bytes;
}

/* As send_queue does. */
static void add(uint32_t n)
{
    struct request *r = requests_new(&s, &err);
    struct request_rest *rest = r->rest;

    rest->call_len = call_len(n);
    rest->call = bytes_of(n, rest->call_len);
    rest->reply_len = ANSWER;
    rest->packed_len = n % 5;
    rest->answer = bytes_of(n + 1, rest->reply_len + rest->packed_len);
    rest->time = (int64_t)n * 1234567;
    rest->objects[TEE_PARENT2] = n;
    r->stage = STAGE_WAITING;
    r->waits = n;
    r->number = s.queued++;
    requests_append(&s, &s.pending, r);
    if (!s.packing.next)
        s.packing.next = r->id;
    packed_pack(&s);
}

static void set_up(void)
{
    s = (struct shadow){ .queued = UINT32_MAX - ALL / 2 }; /* it begins again */
    assert_int_equal(requests_begin(&s, &err), 0);
    for (uint32_t n = 0; n < ALL; n++)
        add(n);
}

static void is_as_it_was(const struct request *r, uint32_t n)
{
    const struct request_rest *rest = rest_of(r);

    assert_false(r->is_packed);
    assert_int_equal(r->waits, n);
    assert_int_equal(rest->call_len, call_len(n));
    assert_int_equal(rest->packed_len, n % 5);
    assert_int_equal(rest->time, (int64_t)n * 1234567);
    assert_int_equal(rest->objects[TEE_PARENT2], n);
    for (uint32_t i = 0; i < rest->call_len; i++)
        assert_int_equal(rest->call[i], byte_of(n, i));
    for (uint32_t i = 0; i < rest->reply_len + rest->packed_len; i++)
        assert_int_equal(rest->answer[i], byte_of(n + 1, i));
}

static struct request *numbered(uint32_t n)
{
    return request_at(&s, n + 1);
}

static uint32_t count_packed(void)
{
    uint32_t count = 0;

    for (uint32_t n = 0; n < ALL; n++)
        count += numbered(n)->is_packed;
    return count;
}

/* Each comes back as it was, whichever order they are asked for in. */
static void test_again(void **state)
{
    static const uint32_t steps[] = { 1, ALL - 1, 7, 333 };

    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        set_up();
        assert_in_range(count_packed(), ALL - BEHIND - 2 * MOST, ALL - BEHIND - 1);
        assert_false(numbered(LONG_ONE)->is_packed);
        for (uint32_t k = 0, n = 0; k < ALL; k++, n = (n + steps[i]) % ALL)
            is_as_it_was(numbered(n), n);
        assert_int_equal(count_packed(), 0);
        assert_false(s.packing.failed);
        requests_free_all(&s);
    }
}

/* What is asked for, sent or answered meanwhile is left as it is. */
static void test_not_waiting(void **state)
{
    (void)state;
    s = (struct shadow){ .queued = 0 };
    assert_int_equal(requests_begin(&s, &err), 0);
    for (uint32_t n = 0; n < ALL; n++) {
        add(n);
        if (n % 2)
            numbered(n)->stage = STAGE_SENT;
        if (n % 4 == 0)
            assert_non_null(requests_exchange(numbered(n), &err));
    }
    for (uint32_t n = 0; n < ALL; n++)
        assert_int_equal(numbered(n)->is_packed, n % 4 == 2 && n < s.packing.next - 1);
    assert_true(count_packed() > 0);
    requests_free_all(&s);
}

/* Where the SUT keeps pace, nothing is packed; and one goes that would have been looked at next. */
static void test_few(void **state)
{
    (void)state;
    s = (struct shadow){ .queued = 0 };
    assert_int_equal(requests_begin(&s, &err), 0);
    for (uint32_t n = 0; n < ALL; n++) {
        add(n);
        if (n < BEHIND)
            continue;
        requests_take_first(&s, &s.pending);
        requests_free(&s, request_at(&s, s.packing.next - 1));
        assert_int_equal(s.packing.next, s.pending.first);
        if (n == BEHIND + 5)
            break;
    }
    assert_null(s.packing.compressor);
    requests_free_all(&s);
}

static void test_memory(void **state)
{
    size_t bytes = 0;
    uint32_t count = 0;

    (void)state;
    set_up();
    for (uint32_t n = 0; n < ALL; n++) {
        const struct request *r = numbered(n);

        if (!r->is_packed)
            continue;
        count++;
        bytes += r->place ? 0 : sizeof(*r->packed) + r->packed->len;
    }
    assert_in_range(bytes / count, 1, 40);
    requests_free_all(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_not_waiting),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
