/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shadow's objects are found by both handles and know their states and paths, as plain lists
 * say, and cost what objects.h says. */
/* links: room_live_mirror */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/texts.h"
#include "mirror/popularity.h"
#include "wire/nfs3_numbers.h"

#include "live/mirror/mirror_parts.h"

enum {
    OBJECTS = 60,
    SUT_HANDLES = 50,
    NAMES = 6,
    IDS = 4 * OBJECTS,
    STEPS = 120000,
    MANY = 1000000
};

/* The oracle.  0: none, not known. */
struct known {
    bool here;
    uint32_t sut, parent, name, names, state;
};

static uint32_t owners[IDS]; /* which one of them has an id */

static const uint64_t second = 1000000000;
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

/* Every other one is a directory, of which it is noted. */
static uint64_t fileid_of(uint32_t n)
{
    return (uint64_t)n << 32 | 7;
}

static struct bytes name_of(uint32_t n)
{
    static const char *const names[] = { "", "a", "b", "ab", "a.txt", "a longer name of a file" };

    return (struct bytes){ (const uint8_t *)names[n], (uint32_t)strlen(names[n]) };
}

/* What others have, too; each string several times, as an engine may have. */
static struct texts texts;

/* Every other time where others have it. */
static struct bytes maybe_shared(struct bytes bytes)
{
    static struct {
        uint32_t number, len;
    } shared[512];
    uint32_t i = random_below(512);

    if (random_below(2))
        return bytes;
    if (!shared[i].number) {
        shared[i].number = texts_add(&texts, bytes.data, bytes.len);
        shared[i].len = bytes.len;
    }
    for (uint32_t k = 0; k < 512; k++, i = (i + 1) % 512)
        if (shared[i].number && shared[i].len == bytes.len &&
            (!bytes.len || !memcmp(texts_at(&texts, shared[i].number), bytes.data, bytes.len)))
            return (struct bytes){ texts_at(&texts, shared[i].number), bytes.len };
    return bytes;
}

static struct mirror *new_mirror(void)
{
    struct err err = { 0 };
    struct mirror *m = mirror_open(10 * second, &err);

    assert_non_null(m);
    return m;
}

static struct mirror_object *find(struct mirror *m, uint32_t n)
{
    uint8_t room[64];

    return mirror_find(m, handle_of(n, room));
}

/* Writes the path back to front; false: not whole. */
static bool path_of(const struct known *known, uint32_t n, char *room, size_t size)
{
    char *at = room + size - 1;
    bool whole = true;

    *at = 0;
    if (n == 1)
        *--at = '/';
    while (n != 1) {
        uint32_t up = known[n].parent;
        struct bytes name = name_of(known[n].name);

        if (!up) {
            *--at = '?';
            whole = false;
            break;
        }
        at -= name.len;
        memcpy(at, name.data, name.len);
        *--at = '/';
        if (!known[up].here) {
            *--at = '?';
            whole = false;
            break;
        }
        n = up;
    }
    memmove(room, at, strlen(at) + 1);
    return whole;
}

static void compare_one(struct mirror *m, const struct known *known, uint32_t n)
{
    const struct mirror_object *object = find(m, n);
    uint8_t room[64];
    char path[8192];
    struct buf got = { 0 };
    struct bytes sut;
    bool whole;

    assert_int_equal(object != NULL, known[n].here);
    if (!object)
        return;
    assert_ptr_equal(mirror_at(m, object->id), object);
    sut = mirror_sut_handle(m, object);
    assert_int_equal(sut.len, known[n].sut ? handle_of(known[n].sut, room).len : 0);
    if (sut.len) {
        assert_memory_equal(sut.data, room, sut.len);
        assert_ptr_equal(mirror_find_sut(m, sut), object);
    }
    assert_int_equal(mirror_names(m, object), known[n].names);
    assert_true(mirror_has_fileid(m, object, n % 2 ? fileid_of(n) : 0));
    assert_int_equal(object->state, known[n].state);
    whole = path_of(known, n, path, sizeof(path));
    assert_int_equal(mirror_path(m, object, &got), whole ? 0 : 1);
    assert_int_equal(got.len, strlen(path));
    assert_memory_equal(got.data, path, got.len);
    buf_free(&got);
}

static void compare(struct mirror *m, const struct known *known)
{
    uint64_t count = 0, states[MIRROR_STATES] = { 0 }, found = 0;
    uint8_t room[64];

    for (uint32_t n = 1; n < OBJECTS; n++) {
        compare_one(m, known, n);
        count += known[n].here;
        if (known[n].here)
            states[known[n].state]++;
    }
    assert_int_equal(mirror_count(m), count);
    for (uint32_t i = 0; i < MIRROR_STATES; i++)
        assert_int_equal(mirror_count_state(m, i), states[i]);
    for (struct mirror_object *o = mirror_next(m, NULL); o; o = mirror_next(m, o)) {
        assert_true(o->id < IDS && known[owners[o->id]].here);
        found++;
    }
    assert_int_equal(found, count);
    for (uint32_t s = 1; s < SUT_HANDLES; s++) {
        const struct mirror_object *object = mirror_find_sut(m, handle_of(s, room));
        uint32_t owner = 0;

        for (uint32_t n = 1; n < OBJECTS; n++)
            if (known[n].here && known[n].sut == s)
                owner = n;
        assert_int_equal(object ? owners[object->id] : 0, owner);
    }
}

static bool is_above(const struct known *known, uint32_t n, uint32_t below)
{
    while (below && below != n)
        below = known[below].here ? known[below].parent : 0;
    return below == n;
}

static void step_name(struct mirror *m, struct known *known, uint32_t n, uint32_t up)
{
    uint32_t name = random_below(NAMES), left = known[n].names ? known[n].names - 1 : 0;
    struct mirror_object *object = find(m, n), *parent = find(m, up);
    bool is_it = known[n].name == name && known[n].parent == up && name;
    struct err err;

    if (random_below(2)) {
        assert_int_equal(mirror_add_name(m, object, parent, maybe_shared(name_of(name)), &err), 0);
        if (is_it)
            return;
        known[n].names++;
        if (!known[n].name && name && !is_above(known, n, up)) {
            known[n].name = name;
            known[n].parent = up;
        }
    } else {
        if (random_below(2) && known[known[n].parent].here) { /* its own name, more often */
            up = known[n].parent;
            name = known[n].name;
            is_it = true;
        }
        assert_int_equal(mirror_remove_name(m, object, find(m, up), name_of(name)), left);
        known[n].names = left;
        if (is_it)
            known[n].name = known[n].parent = 0;
    }
}

static void forget(struct mirror *m, struct known *known, uint32_t n)
{
    mirror_forget(m, find(m, n));
    known[n] = (struct known){ 0 };
    /* children of the old one are not those of the next one with this number */
    for (uint32_t i = 1; i < OBJECTS; i++)
        if (known[i].parent == n)
            known[i].parent = OBJECTS;
}

static void set_sut(struct mirror *m, struct known *known, uint32_t n)
{
    uint32_t sut = random_below(SUT_HANDLES);
    uint8_t room[64];
    struct bytes handle = sut ? handle_of(sut, room) : (struct bytes){ 0 };
    struct err err;

    assert_int_equal(mirror_set_sut_handle(m, find(m, n), handle, &err), 0);
    for (uint32_t i = 1; i < OBJECTS; i++)
        if (known[i].sut == sut)
            known[i].sut = 0;
    known[n].sut = sut;
}

static void test_random(void **state)
{
    static struct known known[OBJECTS + 1];
    struct mirror *m = new_mirror();
    struct err err;

    (void)state;
    mirror_share(m, &texts);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t n = 1 + random_below(OBJECTS - 1), up = 1 + random_below(OBJECTS - 1);
        uint32_t what = random_below(20);
        uint8_t room[64];

        if (!known[n].here) {
            struct mirror_object *object = mirror_add(m, maybe_shared(handle_of(n, room)), &err);

            assert_non_null(object);
            assert_ptr_equal(mirror_add(m, maybe_shared(handle_of(n, room)), &err), object);
            assert_int_equal(mirror_handle(m, object).len, handle_of(n, room).len);
            assert_memory_equal(mirror_handle(m, object).data, room, handle_of(n, room).len);
            assert_true(object->id < IDS);
            owners[object->id] = n;
            assert_true(mirror_has_fileid(m, object, 0));
            mirror_set_type(object, n % 2 ? NF3DIR : NF3REG);
            assert_int_equal(mirror_set_fileid(m, object, fileid_of(n), &err), 0);
            object->is_root = n == 1;
            known[n].here = true;
        } else if (what == 0 && random_below(4) == 0) {
            forget(m, known, n);
        } else if (what < 5) {
            set_sut(m, known, n);
        } else if (what < 8) {
            known[n].state = random_below(MIRROR_STATES);
            assert_int_equal(mirror_set_state(m, find(m, n), known[n].state, &err), 0);
        } else if (known[up].here && n != 1) {
            step_name(m, known, n, up);
        }
        if (i % 50 == 0)
            compare(m, known);
    }
    compare(m, known);
    mirror_close(m);
    texts_free(&texts);
}

/* What others get later is given back: many such objects need no more than a few of them. */
static void test_shared(void **state)
{
    enum { COUNT = 20000 };
    struct texts others = { 0 };
    struct mirror *m = new_mirror();
    struct mirror_object *parent = NULL;
    uint64_t few = 0;
    uint8_t room[64] = { 0 };
    struct err err;

    (void)state;
    mirror_share(m, &others);
    for (uint32_t i = 1; i <= COUNT; i++) {
        struct bytes handle, name;
        struct mirror_object *object;

        store_be32(room, i);
        handle = (struct bytes){ room, 64 };
        name = (struct bytes){ room, 50 };
        object = mirror_add(m, handle, &err);
        assert_non_null(object);
        if (parent)
            assert_int_equal(mirror_add_name(m, object, parent, name, &err), 0);
        if (i == 1)
            few = mirror_memory(m);
        handle.data = texts_at(&others, texts_add(&others, room, 64));
        name.data = texts_at(&others, texts_add(&others, room, 50));
        assert_ptr_equal(mirror_add(m, handle, &err), object);
        assert_ptr_equal(mirror_handle(m, object).data, handle.data);
        if (parent) {
            assert_int_equal(mirror_add_name(m, object, parent, name, &err), 0);
            assert_ptr_equal(mirror_name(m, object).data, name.data);
            assert_int_equal(mirror_names(m, object), 1);
        }
        parent = parent ? parent : object;
    }
    /* objects, the table of places, and one chunk of names that were not shared yet */
    assert_true(mirror_memory(m) < few + COUNT * 32 + 65536 * 4 + (32 + 52 + 1) * 1024);
    for (struct mirror_object *o = mirror_next(m, parent), *next; o; o = next) {
        next = mirror_next(m, o);
        mirror_forget(m, o);
    }
    assert_int_equal(directory_of(m, parent->id)->children, 0);
    mirror_close(m);
    texts_free(&others);
}

static void test_bounds(void **state)
{
    uint8_t room[256] = { 1 };
    struct mirror *m = new_mirror();
    struct mirror_object *top, *object, *first;
    struct buf path = { 0 };
    struct err err = { 0 };

    (void)state;
    assert_null(mirror_open(second - 1, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_null(mirror_add(m, (struct bytes){ room, 0 }, &err));
    assert_null(mirror_add(m, (struct bytes){ room, 65 }, &err));
    assert_int_equal(err.code, ERR_INPUT);
    top = first = mirror_add(m, (struct bytes){ room, 64 }, &err);
    assert_int_equal(mirror_set_sut_handle(m, top, (struct bytes){ room, 65 }, &err), -ERR_INPUT);
    assert_null(mirror_at(m, 0));
    assert_null(mirror_at(m, 2));
    top->is_root = true;
    /* a chain that is longer than anybody looks; its end leads back to its top, unseen */
    for (uint32_t i = 1; i < 3 * MIRROR_DEPTH_MAX; i++, top = object) {
        store_be32(room, i + 1);
        object = mirror_add(m, (struct bytes){ room, 4 }, &err);
        assert_int_equal(mirror_add_name(m, object, top, (struct bytes){ room, 255 }, &err), 0);
        assert_int_equal(object->name_len, 255);
    }
    assert_int_equal(mirror_add_name(m, first, top, name_of(1), &err), 0);
    assert_ptr_equal(mirror_at(m, first->parent), top);
    first->is_root = false;
    mirror_accessed(m, top, 0);
    assert_true(mirror_popularity(m, top, 0) == 1);
    assert_true(mirror_popularity(m, first, 0) == 0);
    assert_int_equal(mirror_path(m, top, &path), 1);
    assert_int_equal(path.len, 1 + 256 * MIRROR_DEPTH_MAX);
    mirror_remove_name(m, first, top, name_of(1));
    /* too long, or none: counted alone */
    assert_int_equal(mirror_add_name(m, first, top, (struct bytes){ room, 256 }, &err), 0);
    assert_int_equal(mirror_add_name(m, first, top, (struct bytes){ room, 0 }, &err), 0);
    assert_int_equal(mirror_names(m, first), 2);
    assert_int_equal(first->name_len, 0);
    for (uint32_t names = 3; names < UINT16_MAX + 3; names++) {
        mirror_add_name(m, first, top, (struct bytes){ room, 0 }, &err);
        assert_int_equal(mirror_names(m, first), names < UINT16_MAX ? names : UINT16_MAX);
    }
    for (uint32_t names = UINT16_MAX; names; names--)
        assert_int_equal(mirror_remove_name(m, first, top, name_of(1)), names - 1);
    assert_int_equal(m->many_names.used, 0);
    buf_free(&path);
    mirror_close(m);
}

/* Objects that come and go leave nothing behind; here each directory goes before its child. */
static void test_churn(void **state)
{
    struct mirror *m = new_mirror();
    uint64_t before = 0;
    uint8_t room[8] = { 0 };
    struct err err;

    (void)state;
    for (uint32_t i = 1; i <= 20000; i++) {
        struct mirror_object *parent, *child;

        store_be32(room, i);
        parent = mirror_add(m, (struct bytes){ room, 7 }, &err);
        child = mirror_add(m, (struct bytes){ room, 8 }, &err);
        assert_int_equal(mirror_set_sut_handle(m, child, (struct bytes){ room, 8 }, &err), 0);
        assert_int_equal(mirror_add_name(m, child, parent, name_of(1), &err), 0);
        mirror_forget(m, parent);
        assert_null(mirror_at(m, child->parent));
        mirror_forget(m, child);
        if (i == 1)
            before = mirror_memory(m);
    }
    assert_int_equal(mirror_memory(m), before);
    mirror_close(m);
}

/* At the numbers of objects at which the tables are fullest and emptiest.  All are queued. */
static void test_memory(void **state)
{
    struct mirror *m = new_mirror();
    struct mirror_object *parent = NULL;
    uint8_t handle[32] = { 0 }, name[16];
    struct err err;
    uint64_t worst = 0;

    (void)state;
    memset(name, 'n', sizeof(name));
    for (uint32_t i = 1; i <= MANY; i++) {
        struct mirror_object *object;

        store_be32(handle + 12, i);
        object = mirror_add(m, (struct bytes){ handle, 32 }, &err);
        assert_non_null(object);
        assert_int_equal(mirror_set_sut_handle(m, object, (struct bytes){ handle, 32 }, &err), 0);
        if (parent)
            assert_int_equal(mirror_add_name(m, object, parent, (struct bytes){ name, 16 }, &err),
                             0);
        if (i % 64 == 1)
            parent = object;
        assert_int_equal(mirror_set_state(m, object, MIRROR_QUEUED, &err), 0);
        if (i >= 100000 && mirror_memory(m) / i > worst)
            worst = mirror_memory(m) / i;
    }
    print_message("%llu bytes an object at most, %llu with %d objects\n", (unsigned long long)worst,
                  (unsigned long long)(mirror_memory(m) / MANY), MANY);
    assert_true(worst <= 160 && worst > 100);
    for (struct mirror_object *o = mirror_next(m, NULL), *next; o; o = next) {
        next = mirror_next(m, o);
        mirror_forget(m, o);
    }
    assert_null(mirror_first(m));
    assert_int_equal(mirror_count(m), 0);
    mirror_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_shared), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_churn),  cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
