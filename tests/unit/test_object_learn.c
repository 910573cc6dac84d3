/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_object_learn.c
 *
 * Whatever happens to names, lists and counts agree with each other, nothing is in a circle, and
 * from the records alone another process comes to the same paths (objects_learn).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/object_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { OBJECTS = 40, DIRECTORIES = 25, STEPS = 6000 };

static struct objects one, other; /* |other| learns from the records of |one| */
static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed % n);
}

static int teach(void *ctx, const struct record *r, struct err *err)
{
    (void)ctx;
    if (r->kind == RECORD_OBJECT && r->object.id <= other.object_count) {
        object_at(&other, (uint32_t)r->object.id)->type =
            r->object.type; /* comes once from a database */
        return 0;
    }
    return objects_learn(&other, r, err);
}

static int drop(void *ctx, const struct record *r, struct err *err)
{
    (void)ctx, (void)r, (void)err;
    return 0;
}

static struct bytes text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

/* Returns how many names have one before them. */
static uint32_t check_list(const struct objects *o, uint32_t object, uint32_t first, bool roots)
{
    uint32_t previous = 0, behind = 0;

    for (uint32_t id = first; id; id = name_next(o, id)) {
        assert_int_equal(name_at(o, id)->object, object);
        assert_int_equal(name_previous(o, id), previous);
        assert_int_equal(name_is_root(name_at(o, id)), roots);
        behind += previous != 0;
        previous = id;
    }
    return behind;
}

static void check(const struct objects *o)
{
    uint32_t children[OBJECTS + 1] = { 0 }, roots = 0, behind = 0;

    for (uint32_t id = 1; id < o->names.count; id++)
        if (name_at(o, id)->object && name_is_root(name_at(o, id)))
            roots++;
        else if (name_at(o, id)->object)
            children[name_at(o, id)->parent]++;
    assert_int_equal(roots, o->root_count);
    for (uint32_t id = 1; id <= o->object_count; id++) {
        const struct object *x = object_at(o, id);
        uint32_t depth = 0;
        behind += check_list(o, id, x->name, false);
        behind += check_list(o, id, object_root(o, id), true);
        assert_int_equal(x->children, children[id]);
        if (x->type == OBJECT_DIR && x->name)
            assert_int_equal(name_next(o, x->name), 0);
        for (uint32_t at = id; object_at(o, at)->name;
             at = name_at(o, object_at(o, at)->name)->parent)
            assert_true(depth++ <= OBJECTS);
    }
    assert_int_equal(o->next_names.used, behind); /* no others */
    assert_int_equal(o->previous_names.used, behind);
}

static int step(int64_t t, struct err *err)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "..", "." };
    static const char *const paths[] = { "/x", "/x/a", "/x/a/b",   "/x/b",
                                         "/y", "/",    "/x/a/b/c", "/y/d/" };
    int64_t late = below(3) * 8; /* also replies that come in another order */
    struct moment m = { (uint64_t)t, t * 10 - late - below(40), t * 10 - late };
    uint32_t parent = 1 + below(DIRECTORIES), parent2 = 1 + below(DIRECTORIES);
    uint32_t object = 1 + below(OBJECTS);
    struct bytes name = text(names[below(7)]), name2 = text(names[below(7)]);

    switch (below(9)) {
    case 0:
    case 1:
        return object_bind(&one, &(struct binding){ parent, name, object, NAME_SEEN }, &m, err);
    case 2:
        return object_bind(&one, &(struct binding){ parent, name, object, NAME_BOUND }, &m, err);
    case 3:
        return object_unbind(&one, parent, name, &m, err);
    case 4:
        return object_absent(&one, parent, name, &m, err);
    case 5:
    case 6:
        return object_rename(&one, &(struct place){ parent, name },
                             &(struct place){ below(9) ? parent2 : 0, name2 }, &m, err);
    case 7:
        return object_mounted(&one, object, text(paths[below(8)]), &m, err);
    default:
        return object_alone(&one, &(struct binding){ parent, name, object, NAME_SEEN }, &m, err);
    }
}

static void make_objects(struct err *err)
{
    struct address server = { 4, { 10, 0, 0, 1 } };
    uint32_t host = host_id(&one, &server);
    struct moment m = { 0 };
    char handle[24];

    for (int i = 0; i < OBJECTS; i++) {
        snprintf(handle, sizeof(handle), "handle %d", i);
        assert_int_equal(object_id(&one, host, text(handle), (struct seen){ 1, 1 }, err), i + 1);
        assert_int_equal(object_describe(&one, (uint32_t)i + 1,
                                         (struct object_identity){
                                             .type = i < DIRECTORIES ? OBJECT_DIR : OBJECT_REG },
                                         &m, err),
                         0);
    }
}

static void records_lead_to_the_same_state(void **state)
{
    (void)state;
    for (uint64_t round = 1; round <= 6; round++) {
        struct err err = { 0 };
        seed = round * UINT64_C(0x9e3779b97f4a7c15);
        assert_int_equal(objects_init(&one, &(struct sink){ teach, NULL }, NULL, &err), 0);
        assert_int_equal(objects_init_small(&other, &(struct sink){ drop, NULL }, NULL, &err), 0);
        other.cached_mask = 7; /* objects share places, as if there were many more */
        make_objects(&err);
        for (int64_t t = 1; t <= STEPS; t++) {
            assert_int_equal(step(t, &err), 0);
            assert_int_not_equal(object_path(&one, 1 + below(OBJECTS), text("f"), &err), 0);
            if (t % 50)
                continue;
            check(&one);
            check(&other);
            for (uint32_t id = 1; id <= OBJECTS; id++) {
                uint32_t path = object_path(&one, id, text(""), &err);
                assert_int_equal(object_path(&other, id, text(""), &err), path);
            }
        }
        objects_free(&one);
        objects_free(&other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(records_lead_to_the_same_state) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
