/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What operations read and change, at both granularities: bodies in XDR, what they met, and the
 * things that the rules of tests/gen/model_access.py give for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/digest.h"
#include "depend/access.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <stdlib.h>

enum { USES_MOST = 128, TOKEN = 40, BODY = 512 };

/* 1, 2: directories; 3 to 5: files; 6: a directory; 7: a symbolic link. */
#define DIRECTORY(n) { n, OBJECT_DIR, false }
#define FILE(n) { n, OBJECT_REG, false }
#define GONE(n, type) { n, type, true }

struct sample {
    const char *procedure;
    const char *arguments; /* h: handle; NUMBER: 4 bytes; NUMBERu: 8 bytes; "text" */
    const char *result;    /* behind the status */
    uint32_t status;
    struct played played;
    const char *fine, *object; /* +THING changed, -THING only read */
};

static const uint32_t above[] = { 2, 1 };
static const struct played_object entries[] = { DIRECTORY(1), FILE(3), { 0 } };

#define NO_SETTINGS "0 0 0 0 0 0"
/* clang-format off */
static const struct sample samples[] = {
    { "NULL", "", NULL, 0,
      { 0 },
      "",
      "" },
    { "GETATTR", "h", NULL, 0,
      { .object = FILE(3) },
      "-life3 -mode3 -nlink3 -size3",
      "-life3 -object3" },
    { "GETATTR", "h", NULL, 0,
      { .object = DIRECTORY(1) },
      "-life1 -mode1 -nlink1",
      "-life1 -object1" },
    /* a device has no size that a replay shows */
    { "GETATTR", "h", NULL, 0,
      { .object = { 5, OBJECT_CHR, false } },
      "-life5 -mode5 -nlink5",
      "-life5 -object5" },
    /* its type is not known */
    { "GETATTR", "h", NULL, 0,
      { .object = { 5, OBJECT_UNKNOWN, false } },
      "-life5 -mode5 -nlink5 -size5",
      "-life5 -object5" },
    /* stale: it reads that the object is gone */
    { "GETATTR", "h", NULL, 70,
      { .object = GONE(3, 0) },
      "-life3",
      "-life3" },
    /* a handle of nobody */
    { "GETATTR", "h", NULL, 10001,
      { 0 },
      "",
      "" },
    /* mode, times */
    { "SETATTR", "h 1 420 0 0 0 1 0 0", NULL, 0,
      { .object = FILE(3) },
      "+mode3 +time3 -life3 -nlink3 -size3",
      "+object3 -life3" },
    /* nothing */
    { "SETATTR", "h " NO_SETTINGS " 0", NULL, 0,
      { .object = FILE(3) },
      "-life3 -mode3 -nlink3 -size3",
      "+object3 -life3" },
    /* a shorter one, with a guard */
    { "SETATTR", "h 0 0 0 1 100u 0 0 1 5 6", NULL, 0,
      { .object = FILE(3), .resized = true, .size_before = 500, .size_after = 100 },
      "+data3:100.. +size3 +time3 -life3 -mode3 -nlink3",
      "+object3 -life3 -time3" },
    /* a longer one */
    { "SETATTR", "h 0 0 0 1 700u 0 0 0", NULL, 0,
      { .object = FILE(3), .resized = true, .size_before = 500, .size_after = 700 },
      "+data3:500.. +size3 +time3 -life3 -mode3 -nlink3",
      "+object3 -life3" },
    /* refused by the guard (NOT_SYNC) */
    { "SETATTR", "h 1 420 0 0 0 0 0 1 5 6", NULL, 10002,
      { .object = FILE(3) },
      "-life3 -mode3 -nlink3 -size3 -time3",
      "-life3 -object3 -time3" },
    { "LOOKUP", "h \"f\"", NULL, 0,
      { .object = DIRECTORY(1), .found = FILE(3) },
      "-life1 -life3 -mode1 -mode3 -name1/f -nlink1 -nlink3 -size3",
      "-life1 -life3 -object1 -object3" },
    /* not there */
    { "LOOKUP", "h \"f\"", NULL, 2,
      { .object = DIRECTORY(1) },
      "-life1 -mode1 -name1/f -nlink1",
      "-life1 -object1" },
    /* where a directory is */
    { "LOOKUP", "h \"..\"", NULL, 0,
      { .object = DIRECTORY(2), .found = DIRECTORY(1) },
      "-life1 -life2 -mode1 -mode2 -nlink1 -nlink2 -place2",
      "-life1 -life2 -object1 -object2 -place2" },
    /* in a file */
    { "LOOKUP", "h \"f\"", NULL, 20,
      { .object = FILE(3) },
      "-life3 -mode3 -nlink3 -size3",
      "-life3 -object3" },
    { "ACCESS", "h 31", NULL, 0,
      { .object = FILE(3) },
      "-life3 -mode3 -nlink3 -size3",
      "-life3 -object3" },
    { "READLINK", "h", "0 \"to\"", 0,
      { .object = { 7, OBJECT_LNK, false } },
      "-life7 -mode7 -nlink7",
      "-life7 -object7" },
    { "READ", "h 4096u 8192", "0 1000 1 1000", 0,
      { .object = FILE(3) },
      "-data3:4096..5096 -life3 -mode3 -nlink3 -size3",
      "-life3 -object3" },
    /* nothing was read */
    { "READ", "h 4096u 8192", "0 0 1 0", 0,
      { .object = FILE(3) },
      "-life3 -mode3 -nlink3 -size3",
      "-life3 -object3" },
    /* the reply's end is missing: as much as was asked for */
    { "READ", "h 4096u 8192", NULL, 0,
      { .object = FILE(3) },
      "-data3:4096..12288 -life3 -mode3 -nlink3 -size3",
      "-life3 -object3" },
    /* behind the last offset */
    { "READ", "h 18446744073709551608u 8", "0 8 1 8", 0,
      { .object = FILE(3) },
      "-data3:18446744073709551608.. -life3 -mode3 -nlink3 -size3",
      "-life3 -object3" },
    /* refused (ACCES) */
    { "READ", "h 4096u 8192", "0", 13,
      { .object = FILE(3) },
      "-life3 -mode3 -nlink3 -size3",
      "-life3 -object3" },
    /* longer than before */
    { "WRITE", "h 4096u 1000 2 1000", "0 0 1000 2 0u", 0,
      { .object = FILE(3), .resized = true, .size_before = 4096, .size_after = 5096 },
      "+data3:4096..5096 +size3 +time3 -life3 -mode3 -nlink3",
      "+object3 -life3" },
    /* as long as before */
    { "WRITE", "h 0u 1000 2 1000", "0 0 1000 2 0u", 0,
      { .object = FILE(3), .resized = true, .size_before = 4096, .size_after = 4096 },
      "+data3:0..1000 +time3 -life3 -mode3 -nlink3 -size3",
      "+object3 -life3" },
    /* of nothing */
    { "WRITE", "h 4096u 0 2 0", "0 0 0 2 0u", 0,
      { .object = FILE(3), .resized = true, .size_before = 4096, .size_after = 4096 },
      "-life3 -mode3 -nlink3 -size3",
      "+object3 -life3" },
    /* made */
    { "CREATE", "h \"f\" 0 " NO_SETTINGS, NULL, 0,
      { .object = DIRECTORY(1), .made = FILE(4) },
      "+life4 +mode4 +name1/f +nlink4 +size4 +time1 +time4 -life1 -mode1 -nlink1",
      "+life4 +object1 +object4 -life1" },
    /* found, and cut */
    { "CREATE", "h \"f\" 0 0 0 0 1 0u 0 0", NULL, 0,
      { .object = DIRECTORY(1), .found = FILE(3),
        .resized = true, .size_before = 9, .size_after = 0 },
      "+data3:0.. +size3 +time3 -life1 -life3 -mode1 -mode3 -name1/f -nlink1 -nlink3",
      "+object1 +object3 -life1 -life3" },
    /* found */
    { "CREATE", "h \"f\" 0 " NO_SETTINGS, NULL, 0,
      { .object = DIRECTORY(1), .found = FILE(3) },
      "-life1 -life3 -mode1 -mode3 -name1/f -nlink1 -nlink3 -size3",
      "+object1 +object3 -life1 -life3" },
    /* exclusive, found again */
    { "CREATE", "h \"f\" 2 77u", NULL, 0,
      { .object = DIRECTORY(1), .found = FILE(3) },
      "-life1 -life3 -mode1 -mode3 -name1/f -nlink1 -nlink3 -size3 -time3",
      "+object1 +object3 -life1 -life3 -time3" },
    /* guarded (EXIST) */
    { "CREATE", "h \"f\" 1 " NO_SETTINGS, NULL, 17,
      { .object = DIRECTORY(1), .found = FILE(3) },
      "-life1 -life3 -mode1 -mode3 -name1/f -nlink1",
      "-life1 -life3 -object1 -object3" },
    /* exclusive (EXIST) */
    { "CREATE", "h \"f\" 2 77u", NULL, 17,
      { .object = DIRECTORY(1), .found = FILE(3) },
      "-life1 -life3 -mode1 -name1/f -nlink1 -size3 -time3",
      "-life1 -life3 -object1 -object3 -time3" },
    { "MKDIR", "h \"d\" " NO_SETTINGS, NULL, 0,
      { .object = DIRECTORY(1), .made = DIRECTORY(6) },
      "+life6 +mode6 +name1/d +nlink1 +nlink6 +place6 +size6 +time1 +time6 -life1 -mode1",
      "+life6 +object1 +object6 +place6 -life1" },
    /* there is one (EXIST) */
    { "MKDIR", "h \"d\" " NO_SETTINGS, NULL, 17,
      { .object = DIRECTORY(1), .found = DIRECTORY(6) },
      "-life1 -life6 -mode1 -name1/d -nlink1",
      "-life1 -life6 -object1 -object6" },
    { "SYMLINK", "h \"l\" " NO_SETTINGS " \"to\"", NULL, 0,
      { .object = DIRECTORY(1), .made = { 7, OBJECT_LNK, false } },
      "+life7 +mode7 +name1/l +nlink7 +size7 +time1 +time7 -life1 -mode1 -nlink1",
      "+life7 +object1 +object7 -life1" },
    { "MKNOD", "h \"p\" 7 " NO_SETTINGS, NULL, 0,
      { .object = DIRECTORY(1), .made = { 4, OBJECT_FIFO, false } },
      "+life4 +mode4 +name1/p +nlink4 +size4 +time1 +time4 -life1 -mode1 -nlink1",
      "+life4 +object1 +object4 -life1" },
    /* its last name */
    { "REMOVE", "h \"f\"", NULL, 0,
      { .object = DIRECTORY(1), .found = GONE(3, OBJECT_REG) },
      "+life3 +name1/f +nlink3 +time1 +time3 -life1 -mode1 -mode3 -nlink1",
      "+life3 +object1 +object3 -life1" },
    /* not its last one */
    { "REMOVE", "h \"f\"", NULL, 0,
      { .object = DIRECTORY(1), .found = FILE(3) },
      "+name1/f +nlink3 +time1 +time3 -life1 -life3 -mode1 -mode3 -nlink1",
      "+object1 +object3 -life1 -life3" },
    /* a directory (ISDIR) */
    { "REMOVE", "h \"d\"", NULL, 21,
      { .object = DIRECTORY(1), .found = DIRECTORY(6) },
      "-life1 -life6 -mode1 -mode6 -name1/d -nlink1",
      "-life1 -life6 -object1 -object6" },
    { "RMDIR", "h \"d\"", NULL, 0,
      { .object = DIRECTORY(1), .found = GONE(6, OBJECT_DIR) },
      "+life6 +name1/d +nlink1 +nlink6 +time1 +time6 -life1 -mode1 -mode6 -names6",
      "+life6 +object1 +object6 -life1" },
    /* not empty */
    { "RMDIR", "h \"d\"", NULL, 66,
      { .object = DIRECTORY(1), .found = DIRECTORY(6) },
      "-life1 -life6 -mode1 -mode6 -name1/d -names6 -nlink1",
      "-life1 -life6 -object1 -object6" },
    /* a file over another */
    { "RENAME", "h \"f\" h \"g\"", NULL, 0,
      { .object = DIRECTORY(1), .object2 = DIRECTORY(2),
        .found = FILE(3), .target = GONE(4, OBJECT_REG) },
      "+life4 +name1/f +name2/g +nlink4 +time1 +time2 +time3 +time4 -life1 -life2 -life3 "
      "-mode1 -mode2 -mode3 -mode4 -nlink1 -nlink2",
      "+life4 +object1 +object2 +object4 +time3 -life1 -life2 -life3 -object3" },
    /* a file, in its directory */
    { "RENAME", "h \"f\" h \"g\"", NULL, 0,
      { .object = DIRECTORY(1), .object2 = DIRECTORY(1), .found = FILE(3) },
      "+name1/f +name1/g +time1 +time3 -life1 -life3 -mode1 -mode3 -nlink1",
      "+object1 +time3 -life1 -life3 -object3" },
    /* a directory elsewhere */
    { "RENAME", "h \"d\" h \"e\"", NULL, 0,
      { .object = DIRECTORY(1), .object2 = DIRECTORY(2),
        .found = DIRECTORY(6), .above = above, .above_count = 2 },
      "+name1/d +name2/e +nlink1 +nlink2 +place6 +time1 +time2 +time6 -life1 -life2 -life6 "
      "-mode1 -mode2 -mode6 -place1 -place2",
      "+object1 +object2 +place6 +time6 -life1 -life2 -life6 -object6 -place1 -place2" },
    /* a directory over another, in its directory */
    { "RENAME", "h \"d\" h \"e\"", NULL, 0,
      { .object = DIRECTORY(2), .object2 = DIRECTORY(2), .found = DIRECTORY(6),
        .target = GONE(5, OBJECT_DIR), .above = above, .above_count = 2 },
      "+life5 +name2/d +name2/e +nlink2 +nlink5 +time2 +time5 +time6 -life2 -life6 -mode2 "
      "-mode5 -mode6 -names5 -place1 -place2",
      "+life5 +object2 +object5 +time6 -life2 -life6 -object6 -place1 -place2" },
    /* two names of one file: nothing happens */
    { "RENAME", "h \"f\" h \"g\"", NULL, 0,
      { .object = DIRECTORY(1), .object2 = DIRECTORY(2),
        .found = FILE(3), .target = FILE(3), .idle = true },
      "-life1 -life2 -life3 -mode1 -mode2 -mode3 -name1/f -name2/g -nlink1 -nlink2",
      "-life1 -life2 -life3 -object1 -object2 -object3" },
    /* over a directory that is not empty */
    { "RENAME", "h \"d\" h \"e\"", NULL, 66,
      { .object = DIRECTORY(1), .object2 = DIRECTORY(2), .found = DIRECTORY(6),
        .target = DIRECTORY(5), .above = above, .above_count = 2 },
      "-life1 -life2 -life5 -life6 -mode1 -mode2 -mode5 -mode6 -name1/d -name2/e -names5 "
      "-nlink1 -nlink2 -place1 -place2",
      "-life1 -life2 -life5 -life6 -object1 -object2 -object5 -object6 -place1 -place2" },
    /* the second directory is gone */
    { "RENAME", "h \"f\" h \"g\"", NULL, 70,
      { .object = DIRECTORY(1), .object2 = GONE(2, 0) },
      "-life1 -life2 -mode1 -name1/f -nlink1",
      "-life1 -life2 -object1" },
    /* the first one is: the server does not look at the second one, which must be there to be sent */
    { "RENAME", "h \"f\" h \"g\"", NULL, 70,
      { .object = GONE(1, 0), .object2 = DIRECTORY(2) },
      "-life1 -life2",
      "-life1 -life2" },
    { "LINK", "h h \"g\"", NULL, 0,
      { .object = FILE(3), .object2 = DIRECTORY(1) },
      "+name1/g +nlink3 +time1 +time3 -life1 -life3 -mode1 -mode3 -nlink1 -size3",
      "+object1 +object3 -life1 -life3" },
    /* there is one (EXIST) */
    { "LINK", "h h \"g\"", NULL, 17,
      { .object = FILE(3), .object2 = DIRECTORY(1), .target = FILE(4) },
      "-life1 -life3 -life4 -mode1 -mode3 -name1/g -nlink1 -nlink3 -size3",
      "-life1 -life3 -life4 -object1 -object3 -object4" },
    { "READDIR", "h 0u 0u 4096", NULL, 0,
      { .object = DIRECTORY(1) },
      "-life1 -mode1 -names1 -nlink1",
      "-life1 -object1" },
    /* no such cookie */
    { "READDIR", "h 9u 0u 4096", NULL, 10003,
      { .object = DIRECTORY(1) },
      "-life1 -mode1 -nlink1",
      "-life1 -object1" },
    { "READDIRPLUS", "h 0u 0u 4096 4096", NULL, 0,
      { .object = DIRECTORY(1), .entries = entries, .entry_count = 3 },
      "-life1 -life3 -mode1 -mode3 -names1 -nlink1 -nlink3 -size3",
      "-life1 -life3 -object1 -object3" },
    { "FSSTAT", "h", NULL, 0,
      { .object = DIRECTORY(1) },
      "-life1",
      "-life1" },
    { "FSINFO", "h", NULL, 0,
      { .object = DIRECTORY(1) },
      "-life1",
      "-life1" },
    { "PATHCONF", "h", NULL, 0,
      { .object = DIRECTORY(1) },
      "-life1",
      "-life1" },
    /* stale */
    { "FSSTAT", "h", NULL, 70,
      { .object = GONE(1, 0) },
      "-life1",
      "-life1" },
    { "COMMIT", "h 0u 0", NULL, 0,
      { .object = FILE(3) },
      "-life3 -mode3 -nlink3 -size3",
      "+object3 -life3" },
    /* refused (ACCES) */
    { "COMMIT", "h 0u 0", NULL, 13,
      { .object = FILE(3) },
      "-life3 -mode3 -nlink3 -size3",
      "-life3 -object3" },
};
/* clang-format on */

static uint32_t encode(uint8_t *to, const char *text)
{
    uint8_t *start = to;

    while (*text) {
        char *end;

        if (*text == 'h') {
            store_be32(to, 4);
            store_be32(to + 4, 0x61626364);
            to += 8;
            text++;
        } else if (*text == '"') {
            uint32_t len = (uint32_t)strcspn(++text, "\"");

            store_be32(to, len);
            memset(to + 4, 0, 4 + len);
            memcpy(to + 4, text, len);
            to += 4 + (len + 3) / 4 * 4;
            text += len + 1;
        } else if (*text == ' ') {
            text++;
        } else {
            uint64_t value = strtoull(text, &end, 10);

            assert_ptr_not_equal(text, end);
            text = end;
            if (*text == 'u') {
                store_be64(to, value);
                to += 8;
                text++;
            } else {
                store_be32(to, (uint32_t)value);
                to += 4;
            }
        }
        assert_true(to - start < BODY - 64);
    }
    return (uint32_t)(to - start);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void show(char *to, const struct use *u, const struct effect *e)
{
    static const char *const kinds[] = { "object", "life",  "mode", "nlink", "size",
                                         "time",   "place", "data", "name",  "names" };
    struct bytes name =
        e->name_role && u->name == XXH3_64bits(e->name.data, e->name.len) ? e->name : e->name2;
    bool is_set = u->changes != (u->thing == THING_TIME); /* depend.h */
    int len = snprintf(to, TOKEN, "%c%s%u", is_set ? '+' : '-', kinds[u->thing], u->object);

    if (u->thing == THING_NAME) {
        assert_true(u->name == XXH3_64bits(name.data, name.len));
        snprintf(to + len, (size_t)(TOKEN - len), "/%.*s", (int)name.len, (const char *)name.data);
    } else if (u->thing == THING_DATA && u->end == UINT64_MAX) {
        snprintf(to + len, (size_t)(TOKEN - len), ":%llu..", (unsigned long long)u->start);
    } else if (u->thing == THING_DATA) {
        snprintf(to + len, (size_t)(TOKEN - len), ":%llu..%llu", (unsigned long long)u->start,
                 (unsigned long long)u->end);
    }
}

/* Sorted; what is changed is not also shown as read. */
static const char *things(const struct access *a, const struct effect *e)
{
    static char text[USES_MOST * TOKEN], tokens[USES_MOST][TOKEN];
    size_t len = 0;

    assert_true(a->count <= USES_MOST);
    for (uint32_t i = 0; i < a->count; i++)
        show(tokens[i], &a->uses[i], e);
    qsort(tokens, a->count, TOKEN, by_text);
    text[0] = '\0';
    for (uint32_t i = 0; i < a->count; i++) {
        bool is_told = i > 0 && strcmp(tokens[i], tokens[i - 1]) == 0;

        for (uint32_t k = 0; tokens[i][0] == '-' && k < i; k++)
            is_told |= tokens[k][0] == '+' && strcmp(tokens[k] + 1, tokens[i] + 1) == 0;
        if (!is_told)
            len +=
                (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? " " : "", tokens[i]);
    }
    return text;
}

static const struct procedure *by_name(const char *name)
{
    for (uint32_t i = 0; i < 22; i++)
        if (strcmp(procedure_find(100003, 3, i)->name, name) == 0)
            return procedure_find(100003, 3, i);
    fail_msg("%s", name);
    return NULL;
}

static void check(const struct sample *s, struct access *access)
{
    uint8_t arguments[BODY], result[BODY];
    struct effect e = { .program = 100003, .version = 3, .status = s->status };
    struct played p = s->played;
    struct err err;
    uint32_t len;

    e.procedure = by_name(s->procedure);
    len = encode(arguments, s->arguments);
    e.arguments_body = (struct bytes){ arguments, len };
    e.arguments_length = len + (strcmp(s->procedure, "WRITE") == 0 ? 1024 : 0);
    store_be32(result, s->status);
    len = s->result ? 4 + encode(result + 4, s->result) : 0;
    e.result_body = (struct bytes){ result, len };
    e.result_length = len + 4096;
    effect_decode(&e);
    assert_int_equal(e.arguments, WALK_OK);
    p.effect = &e;
    p.succeeded = s->status == 0;
    assert_int_equal(access_of(access, &p, ACCESS_FINE, &err), 0);
    assert_string_equal(things(access, &e), s->fine);
    assert_int_equal(access_of(access, &p, ACCESS_OBJECT, &err), 0);
    assert_string_equal(things(access, &e), s->object);
}

static void all_samples(void **state)
{
    struct access access = { 0 };

    (void)state;
    wire_init();
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
        check(&samples[i], &access);
    access_free(&access);
    assert_int_equal(access.count, 0);
}

/* Every procedure has a sample. */
static void all_procedures(void **state)
{
    (void)state;
    wire_init();
    for (uint32_t n = 0; n < 22; n++) {
        size_t i = 0;

        while (strcmp(samples[i].procedure, procedure_find(100003, 3, n)->name) != 0)
            assert_true(++i < sizeof(samples) / sizeof(*samples));
    }
}

/* A listing of very many entries; what has no table uses nothing. */
static void sizes(void **state)
{
    enum { ENTRIES = 10000 };
    struct played_object *many = calloc(ENTRIES, sizeof(*many));
    struct effect e = { .procedure = by_name("READDIRPLUS"), .object_role = ROLE_OBJECT };
    struct played p = { .effect = &e,
                        .succeeded = true,
                        .object = DIRECTORY(1),
                        .entries = many,
                        .entry_count = ENTRIES };
    struct access access = { 0 };
    struct err err;

    (void)state;
    assert_non_null(many);
    for (uint32_t i = 0; i < ENTRIES; i++)
        many[i] = (struct played_object)FILE(i + 2);
    assert_int_equal(access_of(&access, &p, ACCESS_FINE, &err), 0);
    assert_int_equal(access.count, 4 + 4 * ENTRIES);
    assert_int_equal(access_of(&access, &p, ACCESS_OBJECT, &err), 0);
    assert_int_equal(access.count, 2 + 2 * ENTRIES);
    e.procedure = NULL;
    assert_int_equal(access_of(&access, &p, ACCESS_FINE, &err), 0);
    assert_int_equal(access.count, 0);
    access_free(&access);
    free(many);
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(granularity_name(ACCESS_FINE), "fine");
    assert_string_equal(granularity_name(ACCESS_OBJECT), "object");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_samples),
        cmocka_unit_test(all_procedures),
        cmocka_unit_test(sizes),
        cmocka_unit_test(names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
