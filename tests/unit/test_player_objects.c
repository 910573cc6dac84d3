/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects are found by number and by handle, as a plain list finds them, and cost what objects.h
 * says. */
/* links: room_live_player */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "player/objects.h"

#include <stdlib.h>

enum { NUMBERS = 400, SERVERS = 2, HANDLES = 150, STEPS = 200000, MANY = 1000000 };

/* The oracle: what each number is, and which number each handle of a server leads to. */
struct known {
    bool here;
    uint32_t server, handle; /* 0: none */
};

static uint64_t seed = 1;

static uint32_t random_below(uint32_t bound)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((seed >> 33) % bound);
}

/* Handles of different lengths, one the beginning of another. */
static struct bytes handle_of(uint32_t n, uint8_t room[64])
{
    memset(room, 0xab, 64);
    store_be32(room, n / 4);
    return (struct bytes){ room, n % 4 == 3 ? 64 : 4 + n % 4 };
}

static struct objects *new_objects(void)
{
    struct err err = { 0 };
    struct objects *o = objects_open(&err);

    assert_non_null(o);
    return o;
}

static uint32_t spread(uint32_t i)
{
    return i % 3 == 0 ? i : i % 3 == 1 ? i << 16 : UINT32_MAX - i;
}

static void compare(struct objects *o, const struct known *known, uint32_t owner[][HANDLES])
{
    uint8_t room[64];
    uint64_t count = 0;

    for (uint32_t i = 1; i < NUMBERS; i++) {
        const struct object *object = objects_find(o, spread(i));

        assert_int_equal(object != NULL, known[i].here);
        count += known[i].here;
        if (!object)
            continue;
        assert_int_equal(object->number, spread(i));
        assert_int_equal(object->size, i);
        if (known[i].handle) {
            struct bytes handle = handle_of(known[i].handle, room);

            assert_int_equal(object->server, known[i].server);
            assert_int_equal(object->handle_len, handle.len);
            assert_memory_equal(object->handle, handle.data, handle.len);
        } else {
            assert_int_equal(object->handle_len, 0);
        }
    }
    assert_int_equal(objects_count(o), count);
    for (uint32_t server = 0; server < SERVERS; server++)
        for (uint32_t h = 1; h < HANDLES; h++) {
            uint32_t n = owner[server][h];

            assert_int_equal(objects_number(o, server, handle_of(h, room)), n ? spread(n) : 0);
        }
}

static void no_owner(uint32_t owner[][HANDLES], uint32_t n)
{
    for (uint32_t server = 0; server < SERVERS; server++)
        for (uint32_t h = 0; h < HANDLES; h++)
            if (owner[server][h] == n)
                owner[server][h] = 0;
}

static void as_a_list(void **state)
{
    static struct known known[NUMBERS];
    static uint32_t owner[SERVERS][HANDLES];
    struct objects *o = new_objects();
    struct err err = { 0 };
    uint8_t room[64];

    (void)state;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t n = 1 + random_below(NUMBERS - 1), server = random_below(SERVERS);
        uint32_t h = 1 + random_below(HANDLES - 1);
        struct object *object;

        if (random_below(3) == 0) {
            objects_forget(o, spread(n));
            known[n] = (struct known){ 0 };
            no_owner(owner, n);
            continue;
        }
        object = objects_add(o, spread(n), &err);
        assert_non_null(object);
        if (!known[n].here)
            assert_int_equal(object->maker, OBJECTS_NOBODY);
        object->size = n;
        known[n].here = true;
        if (random_below(2)) {
            assert_int_equal(objects_set_handle(o, server, object, handle_of(h, room), &err), 0);
            no_owner(owner, n);
            owner[server][h] = n;
            known[n].server = server;
            known[n].handle = h;
        }
        if (step % 997 == 0)
            compare(o, known, owner);
    }
    compare(o, known, owner);
    objects_close(o);
}

static void bad_handles(void **state)
{
    static const uint8_t long_one[65];
    struct objects *o = new_objects();
    struct err err = { 0 };
    struct object *object = objects_add(o, 5, &err);

    (void)state;
    assert_int_equal(objects_set_handle(o, 1, object, (struct bytes){ long_one, 65 }, &err),
                     -ERR_INPUT);
    assert_int_equal(objects_set_handle(o, 1, object, (struct bytes){ 0 }, &err), -ERR_INPUT);
    assert_int_equal(object->handle_len, 0);
    assert_int_equal(objects_number(o, 1, (struct bytes){ 0 }), 0);
    assert_int_equal(objects_number(o, 1, (struct bytes){ long_one, 65 }), 0);
    objects_close(o);
}

/* A million objects, just when their tables have grown; then the same room again for others. */
static void memory(void **state)
{
    struct objects *o = new_objects();
    struct err err = { 0 };
    uint64_t most = 0, before;
    uint8_t room[64] = { 0 };

    (void)state;
    for (uint32_t n = 1; n <= MANY; n++) {
        struct object *object = objects_add(o, n, &err);

        assert_non_null(object);
        store_be32(room, n);
        assert_int_equal(objects_set_handle(o, 1, object, (struct bytes){ room, 64 }, &err), 0);
        if (n > 20000 && objects_memory(o) / n > most)
            most = objects_memory(o) / n;
    }
    print_message("at most %u bytes an object, %u of them its own\n", (unsigned)most,
                  (unsigned)sizeof(struct object));
    assert_true(most <= 200);
    before = objects_memory(o);
    for (uint32_t n = 1; n <= MANY; n++) {
        objects_forget(o, n);
        assert_non_null(objects_add(o, MANY + n, &err));
    }
    assert_int_equal(objects_count(o), MANY);
    assert_int_equal(objects_memory(o), before);
    store_be32(room, MANY);
    assert_int_equal(objects_number(o, 1, (struct bytes){ room, 64 }), 0);
    objects_close(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_list),
        cmocka_unit_test(bad_handles),
        cmocka_unit_test(memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
