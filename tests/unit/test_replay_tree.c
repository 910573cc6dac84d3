/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_replay_tree.c
 *
 * What nfsreplay knows of a tree before it asks a server: markers, contents, attributes, and the
 * order of objects, against a plain search.
 */
#include "fill/fill.h"
#include "rdump/rdump_place.h"
#include "replay/attributes.h"
#include "replay/contents.h"
#include "replay/marker.h"
#include "replay/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* --- markers */

static void markers(void **state)
{
    struct marker marker = { MARKER_MADE, UINT64_C(0x00fedcba98765432), "compressible=2.5" }, back;
    char text[MARKER_TEXT], bad[MARKER_TEXT];

    (void)state;
    for (uint32_t i = MARKER_MAKING; i <= MARKER_PLAYED; i++) {
        marker.state = (enum marker_state)i;
        marker_text(&marker, text);
        assert_true(marker_parse(text, sizeof(text), &back));
        assert_int_equal(back.state, i);
        assert_true(back.identity == marker.identity);
        assert_string_equal(back.contents, marker.contents);
    }
    assert_false(marker_parse(text, sizeof(text) - 1, &back));
    memcpy(bad, text, sizeof(bad));
    bad[10] = '2'; /* a later version */
    assert_false(marker_parse(bad, sizeof(bad), &back));
    memcpy(bad, text, sizeof(bad));
    memcpy(strstr(bad, "state ") + 6, "plaXed", 6);
    assert_false(marker_parse(bad, sizeof(bad), &back));
    memset(bad, 'a', sizeof(bad));
    assert_false(marker_parse(bad, sizeof(bad), &back));
    memset(bad, 0, sizeof(bad));
    assert_false(marker_parse(bad, sizeof(bad), &back));
}

/* --- contents */

static void contents(void **state)
{
    static const char *const wrong[] = { "",
                                         "Fill",
                                         "fills",
                                         "compressible",
                                         "compressible=",
                                         "compressible=0.5",
                                         "compressible=x",
                                         "compressible=2x",
                                         "compressible=1001",
                                         "compressible=nan" };
    static uint8_t room[CONTENTS_RUN], whole[3 * CONTENTS_BLOCK];
    struct contents c;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(contents_parse(wrong[i], &c, &err), -ERR_USAGE);
    assert_int_equal(contents_parse("fill", &c, &err), 0);
    assert_memory_equal(contents_at(&c, 7, 12345, 5000, room), fill_at(7, 12345), 5000);
    assert_int_equal(contents_parse("zero", &c, &err), 0);
    memset(room, 1, 100);
    assert_true(bytes_are_zeros(contents_at(&c, 7, 1, 100, room), 100));

    /* any piece is a piece of the whole */
    for (int kind = 0; kind < 2; kind++) {
        assert_int_equal(contents_parse(kind ? "compressible=3" : "random", &c, &err), 0);
        memcpy(whole, contents_at(&c, 9, 0, sizeof(whole), room), sizeof(whole));
        for (uint32_t at = 0; at + 700 < sizeof(whole); at += 631)
            assert_memory_equal(contents_at(&c, 9, at, 700, room), whole + at, 700);
        for (uint32_t block = 0; kind && block < 3; block++) {
            const uint8_t *b = whole + (size_t)block * CONTENTS_BLOCK;

            assert_true(
                bytes_are_zeros(b + CONTENTS_BLOCK / 3, CONTENTS_BLOCK - CONTENTS_BLOCK / 3));
            assert_false(bytes_are_zeros(b + CONTENTS_BLOCK / 3 - 16, 16));
        }
        assert_memory_not_equal(whole, whole + CONTENTS_BLOCK, CONTENTS_BLOCK / 3);
        assert_memory_not_equal(contents_at(&c, 10, 0, 1000, room), whole, 1000);
    }
}

/* --- attributes */

static void attributes(void **state)
{
    struct rdump_object o = { .type = NF3REG,
                              .knows = RDUMP_KNOWS_ALL,
                              .mode = 0104644,
                              .uid = 1,
                              .gid = 2,
                              .nlink = 1,
                              .size = 10,
                              .atime = 5,
                              .mtime = INT64_C(1700000000123456789) };
    struct fattr3 same = { .type = NF3REG,
                           .mode = 04644,
                           .nlink = 1,
                           .uid = 1,
                           .gid = 2,
                           .size = 10,
                           .mtime = { 1700000000, 123456789 } };
    struct fattr3 a = same;
    struct sattr3 set;
    char text[ATTRIBUTES_TEXT];

    (void)state;
    assert_int_equal(attributes_differ(&o, &a, 1), 0); /* the atime is not compared */
    a.mtime.nseconds -= 456789;
    assert_int_equal(attributes_differ(&o, &a, 1), ATTRIBUTE_MTIME);
    assert_int_equal(attributes_differ(&o, &a, 1000000), 0);
    assert_int_equal(attributes_differ(&o, &a, 456789), ATTRIBUTE_MTIME);
    a = same;
    a.mode = 0600;
    a.uid = 9;
    a.size = 0;
    assert_int_equal(attributes_differ(&o, &a, 1), ATTRIBUTE_MODE | ATTRIBUTE_UID | ATTRIBUTE_SIZE);
    assert_string_equal(attributes_words(&o, &a, ATTRIBUTE_MODE | ATTRIBUTE_SIZE, text),
                        "mode 4644, there 0600; size 10, there 0");
    a = same;
    a.type = NF3DIR;
    assert_int_equal(attributes_differ(&o, &a, 1), ATTRIBUTE_TYPE);
    o.type = 0; /* any type will do */
    assert_int_equal(attributes_differ(&o, &a, 1), 0);

    set = attributes_set(&o, ATTRIBUTE_MODE | ATTRIBUTE_MTIME);
    assert_true(set.set_mode && !set.set_uid && !set.set_gid && !set.set_size);
    assert_int_equal(set.mode, 04644);
    assert_int_equal(set.set_atime, DONT_CHANGE);
    assert_int_equal(set.set_mtime, SET_TO_CLIENT_TIME);
    assert_int_equal(set.mtime.nseconds, 123456789);
    assert_int_equal(attributes_time(-1).seconds, 0);
    assert_int_equal(attributes_time(INT64_MAX).seconds, UINT32_MAX);
}

/* --- the order */

enum { OBJECTS = 60, ENTRIES = 90 };

struct tree {
    struct script script;
    struct rdump_object objects[OBJECTS];
    struct rdump_entry entries[ENTRIES];
    char names[ENTRIES][8];
};

/* Directories have lower numbers than what is in them; some objects are of server 2. */
static void make_tree(struct tree *t, unsigned seed)
{
    srand(seed);
    *t = (struct tree){ 0 };
    for (uint32_t n = 1; n <= OBJECTS; n++)
        t->objects[n - 1] = (struct rdump_object){ .number = n,
                                                   .server = n % 7 ? 1 : 2,
                                                   .type = n % 3 ? NF3REG : NF3DIR,
                                                   .knows = RDUMP_KNOWS_ALL,
                                                   .nlink = 1 + (uint32_t)rand() % 3,
                                                   .size = n };
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint32_t object = 4 + (uint32_t)rand() % (OBJECTS - 3);
        uint32_t parent = 3 + 3 * ((uint32_t)rand() % ((object - 1) / 3));

        snprintf(t->names[i], sizeof(t->names[i]), "n%u", i);
        if (t->objects[object - 1].server == t->objects[parent - 1].server)
            t->entries[t->script.entry_count++] = (struct rdump_entry){
                parent, object, { (uint8_t *)t->names[i], (uint32_t)strlen(t->names[i]) }
            };
    }
    t->script.objects = t->objects;
    t->script.entries = t->entries;
    t->script.object_count = OBJECTS;
}

static void check_object(const struct tree *t, const struct plan *p, uint32_t n)
{
    uint32_t first = PLAN_ROOT, entries = 0, extra = 0, in = 0;

    if (t->objects[n - 1].server != p->server) {
        assert_int_equal(p->entry_of[n], PLAN_ELSEWHERE);
        return;
    }
    for (uint32_t i = 0; i < t->script.entry_count; i++)
        if (t->entries[i].object == n) {
            first = entries++ ? first : i;
            assert_true(plan_has_name(p, t->entries[i].parent, t->entries[i].name));
            assert_false(plan_has_name(p, n, t->entries[i].name));
        }
    assert_int_equal(p->entry_of[n], first);
    for (uint32_t i = 0; i < p->extra_count; i++)
        if (p->extras[i].object == n)
            extra += p->extras[i].count;
    assert_int_equal(extra, rdump_further_links(&t->objects[n - 1], entries));
    for (uint32_t i = p->first[n]; i < p->first[n + 1]; i++, in++)
        assert_int_equal(t->entries[p->children[i]].parent, n);
    for (uint32_t i = 0; i < t->script.entry_count; i++)
        in -= t->entries[i].parent == n && p->entry_of[t->entries[i].object] == i;
    assert_int_equal(in, 0);
}

static void order(void **state)
{
    static struct tree t;
    struct plan p;
    struct err err;

    (void)state;
    for (unsigned seed = 0; seed < 50; seed++)
        for (uint32_t server = 1; server <= 2; server++) {
            uint32_t children, all = 0;

            make_tree(&t, seed);
            assert_int_equal(plan_make(&p, &t.script, server, &err), 0);
            for (uint32_t n = 1; n <= OBJECTS; n++)
                check_object(&t, &p, n);
            children = p.first[OBJECTS + 1];
            for (uint32_t i = 0; i < t.script.entry_count; i++)
                all += t.objects[t.entries[i].object - 1].server == server;
            assert_int_equal(children + p.further_count, all);
            plan_free(&p);
        }
    t.objects[0].nlink = PLAN_LINKS_MAX + 1;
    assert_int_equal(plan_make(&p, &t.script, 1, &err), -ERR_INPUT);
}

static void paths(void **state)
{
    static struct tree t;
    static char name[255];
    char text[PLAN_PATH];
    struct plan p;
    struct err err;

    (void)state;
    memset(name, 'x', sizeof(name));
    for (uint32_t n = 1; n <= 10; n++) {
        t.objects[n - 1] = (struct rdump_object){ .number = n, .server = 1, .type = NF3DIR };
        t.entries[n - 1] = (struct rdump_entry){ n, n + 1, { (uint8_t *)name, n < 3 ? 2 : 255 } };
    }
    t.script.objects = t.objects;
    t.script.entries = t.entries;
    t.script.object_count = 10;
    t.script.entry_count = 9;
    assert_int_equal(plan_make(&p, &t.script, 1, &err), 0);
    assert_string_equal(plan_path(&p, 1, text), "root-1");
    assert_string_equal(plan_path(&p, 3, text), "root-1/xx/xx");
    /* cut at its beginning */
    assert_int_equal(strlen(plan_path(&p, 10, text)), 4 * 255 + 3);
    name[0] = '\n';
    assert_string_equal(plan_path(&p, 3, text), "root-1/\\x0ax/\\x0ax");
    plan_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markers), cmocka_unit_test(contents), cmocka_unit_test(attributes),
        cmocka_unit_test(order),   cmocka_unit_test(paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
