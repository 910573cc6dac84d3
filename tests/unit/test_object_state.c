/* SPDX-License-Identifier: GPL-2.0-or-later */
/* objects_restore: the bytes come from a file that anybody can write.  Lists of names that are not
 * whole are refused, above all those without an end. */
#include "base/pack.h"
#include "flow/object_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct moment now = { 1, 10, 20 };

static int ignore(void *ctx, const struct record *record, struct err *err)
{
    (void)ctx, (void)record, (void)err;
    return 0;
}

static void begin(struct objects *o)
{
    const struct sink sink = { ignore, NULL };
    struct err err = { 0 };

    assert_int_equal(objects_init(o, &sink, NULL, &err), 0);
}

static struct bytes text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

enum { DIRECTORY = 1, FILE_ID = 2, OTHER = 3 };

/* A directory that was mounted, a file with three names in it, and another file. */
static void learn(struct objects *o)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    static const struct address server = { 4, { 10, 0, 0, 1 } };
    uint32_t host;
    struct err err = { 0 };

    begin(o);
    host = host_id(o, &server);
    assert_int_equal(object_id(o, host, text("directory"), (struct seen){ 1, 1 }, &err), DIRECTORY);
    assert_int_equal(object_id(o, host, text("file"), (struct seen){ 1, 1 }, &err), FILE_ID);
    assert_int_equal(object_id(o, host, text("other"), (struct seen){ 1, 1 }, &err), OTHER);
    assert_int_equal(object_mounted(o, DIRECTORY, text("/export"), &now, &err), 0);
    for (int i = 0; i < 4; i++) {
        const struct binding b = { DIRECTORY, text(names[i]), i < 3 ? FILE_ID : OTHER, NAME_BOUND };
        assert_int_equal(object_bind(o, &b, &now, &err), 0);
    }
}

/* Whether |saved| can be restored, into |to|. */
static bool restores(struct buf *saved, struct objects *to)
{
    struct unpack in = { saved->data, saved->len, false };
    struct err err = { 0 };

    begin(to);
    assert_int_equal(objects_restore(to, &in, &err), 0);
    buf_free(saved);
    return !in.failed && !in.left;
}

static bool comes_back(const struct objects *o, struct objects *to)
{
    struct buf saved = { 0 };

    assert_int_equal(objects_save(o, &saved), 0);
    return restores(&saved, to);
}

static uint32_t count_names_of(const struct objects *o, uint32_t object)
{
    uint32_t names = 0;

    for (uint32_t id = object_at(o, object)->name; id; id = name_next(o, id))
        names++;
    return names;
}

static void whole_lists(void **state)
{
    struct objects o, to;

    (void)state;
    learn(&o);
    assert_true(comes_back(&o, &to));
    assert_int_equal(count_names_of(&to, FILE_ID), 3);
    assert_int_equal(object_at(&to, DIRECTORY)->children, 4);
    assert_int_equal(object_at(&to, DIRECTORY)->children, object_at(&o, DIRECTORY)->children);
    assert_int_equal(to.root_count, 1);
    objects_free(&o);
    objects_free(&to);
}

/* Lists that came back lose names, and get them again, as those do that never left: in any order.
 */
static void lists_go_on(void **state)
{
    static const char *const orders[] = { "abc", "acb", "bac", "bca", "cab", "cba" };
    static const struct moment later = { 2, 30, 40 };
    struct err err = { 0 };

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct objects o[2];
        struct buf saved[2] = { { 0 }, { 0 } };

        learn(&o[0]);
        assert_true(comes_back(&o[0], &o[1]));
        for (uint32_t step = 0; step < 6; step++)
            for (int which = 0; which < 2; which++) {
                const struct bytes name = { (const uint8_t *)&orders[i][step % 3], 1 };
                const struct binding b = { DIRECTORY, name, FILE_ID, NAME_BOUND };

                assert_int_equal(step < 3 ? object_unbind(&o[which], DIRECTORY, name, &later, &err)
                                          : object_bind(&o[which], &b, &later, &err),
                                 0);
                assert_int_equal(count_names_of(&o[which], FILE_ID),
                                 step < 3 ? 2 - step : step - 2);
            }
        for (int which = 0; which < 2; which++)
            assert_int_equal(objects_save(&o[which], &saved[which]), 0);
        assert_int_equal(saved[0].len, saved[1].len);
        assert_memory_equal(saved[0].data, saved[1].data, saved[0].len);
        for (int which = 0; which < 2; which++) {
            objects_free(&o[which]);
            buf_free(&saved[which]);
        }
    }
}

static uint32_t file_name(const struct objects *o, int nth)
{
    uint32_t id = object_at(o, FILE_ID)->name;

    while (nth--)
        id = name_next(o, id);
    return id;
}

static void set_next(struct objects *o, uint32_t id, uint32_t next)
{
    assert_int_equal(index_reserve(&o->next_names, 1), 0);
    index_set_number(&o->next_names, id, next);
}

static void set_previous(struct objects *o, uint32_t id, uint32_t previous)
{
    assert_int_equal(index_reserve(&o->previous_names, 1), 0);
    index_set_number(&o->previous_names, id, previous);
}

static void to_the_first(struct objects *o)
{
    set_next(o, file_name(o, 2), file_name(o, 0));
}

static void to_the_first_and_back(struct objects *o)
{
    uint32_t first = file_name(o, 0), last = file_name(o, 2);

    set_next(o, last, first);
    set_previous(o, first, last);
}

static void to_itself(struct objects *o)
{
    uint32_t id = file_name(o, 1);

    set_next(o, id, id);
    set_previous(o, id, id);
}

static void a_ring_beside_the_list(struct objects *o)
{
    uint32_t first = file_name(o, 0), a = file_name(o, 1), b = file_name(o, 2);

    set_next(o, first, 0);
    set_next(o, a, b);
    set_previous(o, a, b);
    set_next(o, b, a);
    set_previous(o, b, a);
}

static void into_another_list(struct objects *o)
{
    set_next(o, file_name(o, 2), object_at(o, OTHER)->name);
}

static void the_head_of_another(struct objects *o)
{
    object_at(o, OTHER)->name = object_at(o, FILE_ID)->name;
}

static void a_mount_path_as_a_name(struct objects *o)
{
    object_at(o, DIRECTORY)->name = object_root(o, DIRECTORY);
}

static void a_name_as_a_mount_path(struct objects *o)
{
    o->roots[0] = file_name(o, 0);
}

static void one_mount_path_twice(struct objects *o)
{
    o->roots[o->root_count++] = o->roots[0];
}

static void a_name_of_nothing(struct objects *o)
{
    uint32_t id = object_at(o, OTHER)->name;

    name_at(o, id)->object = 0;
}

/* Bytes that no bool has. */
static void broken_booleans(void **state)
{
    struct buf saved[3] = { 0 };
    struct objects o, to;
    size_t at = 0;

    (void)state;
    learn(&o);
    for (uint32_t i = 0; i < 3; i++) {
        object_at(&o, FILE_ID)->described = i & 1;
        assert_int_equal(objects_save(&o, &saved[i]), 0);
    }
    while (saved[0].data[at] == saved[1].data[at])
        at++;
    saved[2].data[at] = 2;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(restores(&saved[i], &to), i < 2);
        objects_free(&to);
    }
    objects_free(&o);
}

static void broken_lists(void **state)
{
    static void (*const ways[])(struct objects *) = {
        to_the_first,           to_the_first_and_back,  to_itself,
        a_ring_beside_the_list, into_another_list,      the_head_of_another,
        a_mount_path_as_a_name, a_name_as_a_mount_path, one_mount_path_twice,
        a_name_of_nothing,
    };

    (void)state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct objects o, to;

        learn(&o);
        ways[i](&o);
        if (comes_back(&o, &to))
            fail_msg("way %zu was taken", i);
        objects_free(&o);
        objects_free(&to);
    }
}

/* Paths that are deeper than one search for them goes: they are the same again. */
static void deep_paths(void **state)
{
    const uint32_t deepest = 2 * PATH_DEPTH_MAX;
    const struct address server = { 4, { 10, 0, 0, 1 } };
    struct objects o, to;
    struct err err = { 0 };
    uint32_t host, path = 0;

    (void)state;
    begin(&o);
    host = host_id(&o, &server);
    for (uint32_t id = 1; id <= deepest; id++) {
        const struct binding b = { id - 1, text("d"), id, NAME_BOUND };
        const struct bytes handle = { (const uint8_t *)&id, sizeof(id) };

        assert_int_equal(object_id(&o, host, handle, (struct seen){ 1, 1 }, &err), id);
        if (b.parent)
            assert_int_equal(object_bind(&o, &b, &now, &err), 0);
        path = object_path(&o, id, (struct bytes){ 0 }, &err);
        assert_int_not_equal(path, 0);
    }
    assert_true(comes_back(&o, &to));
    assert_int_equal(object_path(&to, deepest, (struct bytes){ 0 }, &err), path);
    assert_int_equal(to.path_count, o.path_count);
    objects_free(&o);
    objects_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_paths),      cmocka_unit_test(whole_lists),
        cmocka_unit_test(lists_go_on),     cmocka_unit_test(broken_lists),
        cmocka_unit_test(broken_booleans),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
