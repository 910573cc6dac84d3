/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_tables.c
 *
 * The tables as tables: procedure numbers, unique paths, depth, roles that belong together; and the
 * roles of NFSv3 one by one, since pairing, names and dependencies read nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/walk.h"

#include "nfs3_roles.h"

#define ATTRIBUTES                                                                                 \
    (ROLE_ATTRIBUTES | ROLE_ATTRIBUTES_NEW | ROLE_ATTRIBUTES_ENTRY | ROLE_ATTRIBUTES_PARENT |      \
     ROLE_ATTRIBUTES_PARENT2)

/* RFC 1813 s3.3, s5.2, nfs_acl.x, RFC 1094 A.5, RFC 1057 A, RFC 1833 s2.1, s2.2, X/Open XNFS 10 and
 * 14, in the order of their numbers; "-" where a number means nothing. */
static const struct {
    uint32_t number, version;
    const char *name, *procedures;
} expected[] = {
    { 100003, 3, "NFS",
      "NULL GETATTR SETATTR LOOKUP ACCESS READLINK READ WRITE CREATE MKDIR SYMLINK MKNOD REMOVE "
      "RMDIR RENAME LINK READDIR READDIRPLUS FSSTAT FSINFO PATHCONF COMMIT" },
    { 100227, 2, "NFSACL", "NULL GETACL SETACL GETATTR ACCESS GETXATTRDIR" },
    { 100227, 3, "NFSACL", "NULL GETACL SETACL GETXATTRDIR" },
    { 100005, 1, "MOUNT", "NULL MNT DUMP UMNT UMNTALL EXPORT EXPORTALL" },
    { 100005, 3, "MOUNT", "NULL MNT DUMP UMNT UMNTALL EXPORT" },
    { 100000, 2, "PORTMAP", "NULL SET UNSET GETPORT DUMP CALLIT" },
    { 100000, 3, "RPCBIND", "NULL SET UNSET GETADDR DUMP CALLIT GETTIME UADDR2TADDR TADDR2UADDR" },
    { 100000, 4, "RPCBIND",
      "NULL SET UNSET GETADDR DUMP BCAST GETTIME UADDR2TADDR TADDR2UADDR GETVERSADDR INDIRECT "
      "GETADDRLIST GETSTAT" },
    { 100021, 1, "NLM",
      "NULL TEST LOCK CANCEL UNLOCK GRANTED TEST_MSG LOCK_MSG CANCEL_MSG UNLOCK_MSG GRANTED_MSG "
      "TEST_RES LOCK_RES CANCEL_RES UNLOCK_RES GRANTED_RES" },
    { 100021, 3, "NLM",
      "NULL TEST LOCK CANCEL UNLOCK GRANTED TEST_MSG LOCK_MSG CANCEL_MSG UNLOCK_MSG GRANTED_MSG "
      "TEST_RES LOCK_RES CANCEL_RES UNLOCK_RES GRANTED_RES - - - - SHARE UNSHARE NM_LOCK "
      "FREE_ALL" },
    { 100021, 4, "NLM",
      "NULL TEST LOCK CANCEL UNLOCK GRANTED TEST_MSG LOCK_MSG CANCEL_MSG UNLOCK_MSG GRANTED_MSG "
      "TEST_RES LOCK_RES CANCEL_RES UNLOCK_RES GRANTED_RES - - - - SHARE UNSHARE NM_LOCK "
      "FREE_ALL" },
};
enum { PROGRAMS = sizeof(expected) / sizeof(expected[0]) };

/* What each procedure does to files, as its RFC describes it. */
static void test_actions(void **state)
{
    static const struct {
        enum action action;
        const char *procedures; /* with blanks around them */
    } rows[] = {
        { ACTION_MOUNT, " MNT " },
        { ACTION_ASK, " GETATTR ACCESS GETACL " },
        { ACTION_ASK_FILE_SYSTEM, " FSSTAT FSINFO PATHCONF " },
        { ACTION_FIND, " LOOKUP " },
        { ACTION_READ, " READ " },
        { ACTION_READ_LINK, " READLINK " },
        { ACTION_LIST, " READDIR READDIRPLUS " },
        { ACTION_FLUSH, " COMMIT " },
        { ACTION_WRITE, " WRITE " },
        { ACTION_SET, " SETATTR " },
        { ACTION_SET_OTHER, " SETACL GETXATTRDIR " },
        { ACTION_MAKE, " CREATE MKDIR SYMLINK MKNOD " },
        { ACTION_REMOVE, " REMOVE RMDIR " },
        { ACTION_RENAME, " RENAME " },
        { ACTION_LINK, " LINK " },
    };
    uint32_t said = 0;

    (void)state;
    for (const struct program *const *program = wire_programs; *program; program++)
        for (uint32_t i = 0; i < (*program)->procedure_count; i++) {
            const struct procedure *p = &(*program)->procedures[i];
            enum action action = ACTION_NONE;
            char name[64];

            if (!p->name)
                continue;
            snprintf(name, sizeof(name), " %s ", p->name);
            for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)
                if (strstr(rows[k].procedures, name))
                    action = rows[k].action;
            assert_int_equal(p->action, action);
            said += action != ACTION_NONE;
        }
    assert_int_equal(said, 21 + 5 + 3 + 2); /* all but NULL of NFS and NFSACL, MNT twice */
}

static void test_programs(void **state)
{
    size_t i, count = 0;

    (void)state;
    while (wire_programs[count])
        count++;
    assert_int_equal(count, PROGRAMS);
    for (i = 0; i < PROGRAMS; i++) {
        const struct program *program = program_find(expected[i].number, expected[i].version);
        char names[1024] = "", *at = names;
        uint32_t n;

        assert_non_null(program);
        assert_string_equal(program->name, expected[i].name);
        for (n = 0; n < program->procedure_count; n++) {
            const struct procedure *p = &program->procedures[n];

            at += snprintf(at, (size_t)(names + sizeof(names) - at), "%s%s", n ? " " : "",
                           p->name ? p->name : "-");
            assert_ptr_equal(procedure_find(program->number, program->version, n),
                             p->name ? p : NULL);
            if (!p->name)
                continue;
            assert_int_equal(p->number, n);
            assert_non_null(p->arguments);
            assert_non_null(p->result);
            assert_non_null(p->source);
            assert_true(p->arguments->ready && p->result->ready);
        }
        assert_string_equal(names, expected[i].procedures);
        assert_null(procedure_find(program->number, program->version, n));
    }
    assert_null(program_find(100003, 2));
    assert_null(program_find(100003, 4));
    assert_null(procedure_find(100024, 1, 0));
}

/* A second derivation of roles, depth and smallest size, which wire_init's columns must equal. */
static uint32_t sum_up(const struct type *type, int depth, uint32_t *least, bool *has_data)
{
    const struct field *f;
    const struct arm *arm;
    uint32_t roles = 0, size = 0, sub, smallest;

    assert_true(depth < WALK_DEPTH_MAX);
    assert_true(type->ready);
    assert_non_null(type->name);
    for (f = type->fields; f->kind != XDR_END; f++) {
        roles |= f->role;
        *has_data |= f->cls == CLASS_DATA;
        size += f->kind == XDR_FIXED ? (f->max + 3) / 4 * 4 : f->kind == XDR_U64 ? 8 : 4;
        assert_true((f->kind == XDR_STRUCT || f->kind == XDR_OPTIONAL || f->kind == XDR_LIST ||
                     f->kind == XDR_ARRAY) == (f->sub != NULL));
        assert_true((f->kind == XDR_UNION) == (f->arms != NULL));
        assert_true(f->name || f->kind == XDR_STRUCT || f->kind == XDR_LIST ||
                    f->kind == XDR_ARRAY || f->kind == XDR_OPTIONAL);
        assert_true(f->cls < CLASS_MAX);
        if (f->sub) {
            roles |= sum_up(f->sub, depth + 1, &sub, has_data);
            size += f->kind == XDR_STRUCT ? sub - 4 : 0;
            /* what repeats has bytes, or a few would make billions of elements */
            assert_true(f->kind != XDR_ARRAY || sub >= 4);
        }
        for (arm = f->arms, smallest = UINT32_MAX; arm; arm = arm->is_end ? NULL : arm + 1) {
            if (arm->is_default || arm->type || !arm->is_end)
                sub = 0;
            if (arm->type)
                roles |= sum_up(arm->type, depth + 1, &sub, has_data);
            smallest = sub < smallest ? sub : smallest;
        }
        size += f->arms ? smallest : 0;
    }
    assert_int_equal(type->roles, roles);
    if (type->fixed_size >= 0)
        assert_int_equal(type->fixed_size, size);
    assert_true(type->fixed_size >= 0 || !type->plain);
    *least = size;
    return roles;
}

static uint32_t type_roles(const struct type *type)
{
    bool has_data = false;
    uint32_t least, roles = sum_up(type, 0, &least, &has_data);

    assert_int_equal(type->has_data, has_data);
    return roles;
}

static bool implies(uint32_t roles, uint32_t one, uint32_t other)
{
    return !(roles & one) || (roles & other);
}

static void test_roles_together(void **state)
{
    const struct program *const *program;
    uint32_t i;

    (void)state;
    for (program = wire_programs; *program; program++) {
        for (i = 0; i < (*program)->procedure_count; i++) {
            const struct procedure *p = &(*program)->procedures[i];
            uint32_t in, out;

            if (!p->name)
                continue;
            in = type_roles(p->arguments);
            out = type_roles(p->result);
            assert_true(implies(in, ROLE_RANGE_START, ROLE_RANGE_LENGTH));
            assert_true(implies(in, ROLE_RANGE_LENGTH, ROLE_RANGE_START));
            assert_true(implies(in, ROLE_RANGE_START, ROLE_OBJECT));
            assert_true(implies(in, ROLE_PARENT, ROLE_NAME));
            assert_true(implies(in, ROLE_NAME, ROLE_PARENT));
            assert_true(implies(in, ROLE_PARENT2, ROLE_NAME2));
            assert_true(implies(in, ROLE_NAME2, ROLE_PARENT2));
            if (action_takes_name(p->action) || action_makes_name(p->action))
                assert_true(in & ROLE_NAME && in & ROLE_MODIFIES);
            if (action_makes_name2(p->action))
                assert_true(in & ROLE_NAME2 && in & ROLE_MODIFIES);
            assert_false((in | out) & 1u << 31); /* walk.c's EVERY */
            assert_true(implies(out, ROLE_NEW_OBJECT, ROLE_STATUS));
            assert_true(implies(out, ATTRIBUTES, ROLE_STATUS));
            assert_true(implies(out, ROLE_ATTRIBUTES_NEW, ROLE_NEW_OBJECT));
            assert_true(implies(out, ROLE_ATTRIBUTES_ENTRY, ROLE_ENTRY_OBJECT));
            assert_true(implies(out, ROLE_ENTRY_OBJECT | ROLE_ENTRY_NAME, ROLE_ENTRY));
            assert_true(implies(out, ROLE_ATTRIBUTES, 0) || (in & ROLE_OBJECT));
            assert_true(implies(out, ROLE_ATTRIBUTES_PARENT, 0) || (in & ROLE_PARENT));
            assert_true(implies(out, ROLE_ATTRIBUTES_PARENT2, 0) || (in & ROLE_PARENT2));
            assert_false(in & (ROLE_NEW_OBJECT | ATTRIBUTES));
            if ((*program)->number != 100021) /* there, calls like LOCK_RES carry results */
                assert_false(in & ROLE_STATUS);
            assert_false(out & (ROLE_OBJECT | ROLE_PARENT | ROLE_PARENT2 | ROLE_NAME | ROLE_NAME2));
        }
    }
}

/* What kind of field may carry a role. */
static int check_role_kind(void *ctx, const struct field_place *place)
{
    const struct field *f = place->field;
    uint32_t role = f->role;

    (void)ctx;
    if (role & (ROLE_OBJECT | ROLE_PARENT | ROLE_PARENT2 | ROLE_NEW_OBJECT | ROLE_ENTRY_OBJECT))
        assert_int_equal(f->cls, CLASS_HANDLE);
    if (f->cls == CLASS_HANDLE)
        assert_true(f->kind == XDR_OPAQUE || f->kind == XDR_FIXED);
    if (role & (ROLE_NAME | ROLE_NAME2 | ROLE_ENTRY_NAME)) {
        assert_int_equal(f->cls, CLASS_NAME);
        assert_int_equal(f->kind, XDR_STRING);
    }
    if (role & ROLE_ENTRY)
        assert_int_equal(f->kind, XDR_LIST);
    if (role & ROLE_STATUS)
        assert_int_equal(f->cls, CLASS_STATUS);
    if (role & ATTRIBUTES) {
        assert_non_null(f->sub);
        assert_string_equal(f->sub->name, "fattr3");
        assert_int_equal(f->sub->fixed_size, 84);
    }
    if (role & ROLE_BEFORE) {
        /* whose it is, the next field says */
        assert_string_equal(f->sub->name, "wcc_attr");
        assert_true(f[1].role & ATTRIBUTES);
    }
    if (f->cls == CLASS_DATA)
        assert_int_equal(role, ROLE_DATA);
    if (f->kind == XDR_UNION && f->cls == CLASS_STATUS)
        assert_int_equal(role, ROLE_STATUS);
    return 0;
}

static void test_role_kinds(void **state)
{
    (void)state;
    assert_int_equal(wire_each_field(check_role_kind, NULL), 0);
}

static const char *const role_names[] = {
    "OBJECT",
    "PARENT",
    "NAME",
    "PARENT2",
    "NAME2",
    "NEW_OBJECT",
    "ENTRY",
    "ENTRY_NAME",
    "ENTRY_OBJECT",
    "RANGE_START",
    "RANGE_LENGTH",
    "STATUS",
    "ATTRIBUTES",
    "ATTRIBUTES_NEW",
    "ATTRIBUTES_ENTRY",
    "ATTRIBUTES_PARENT",
    "ATTRIBUTES_PARENT2",
    "SETS_TIME",
    "MODIFIES",
    "SETS_HOW",
    "(free)",
    "ROOT_PATH",
    "DATA",
    "LINK_TEXT",
    "EOF",
    "PORT_PROGRAM",
    "PORT_VERSION",
    "PORT_PROTOCOL",
    "PORT",
    "BEFORE",
    "SETS",
    "(every)",
};

struct roles_text {
    char text[16384], path[256];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add_text(struct roles_text *t, const char *format,
                                                           ...)
{
    va_list ap;

    va_start(ap, format);
    t->len += (size_t)vsnprintf(t->text + t->len, sizeof(t->text) - t->len, format, ap);
    va_end(ap);
    assert_true(t->len < sizeof(t->text));
}

/* Arms that several values share are listed once; here that means: not after the same name. */
static void add_roles(struct roles_text *t, const struct type *type, size_t path_len)
{
    const struct field *f;
    const struct arm *arm;
    const char *last;
    unsigned i;

    for (f = type->fields; f->kind != XDR_END; f++) {
        size_t len = path_len + (size_t)snprintf(t->path + path_len, sizeof(t->path) - path_len,
                                                 ".%s", f->name);

        assert_true(len < sizeof(t->path));
        if (f->role) {
            add_text(t, "%s", t->path);
            for (i = 0; i < sizeof(role_names) / sizeof(*role_names); i++)
                if (f->role & 1u << i)
                    add_text(t, " %s", role_names[i]);
            add_text(t, "\n");
        }
        if (f->sub)
            add_roles(t, f->sub, len);
        for (arm = f->arms, last = ""; arm; arm = arm->is_end ? NULL : arm + 1) {
            if (!arm->type || (arm->name && strcmp(arm->name, last) == 0))
                continue;
            last = arm->name ? arm->name : "";
            len = path_len;
            if (arm->name)
                len += (size_t)snprintf(t->path + len, sizeof(t->path) - len, ".%s", arm->name);
            add_roles(t, arm->type, len);
        }
    }
}

static void test_nfs3_roles(void **state)
{
    static struct roles_text t;
    const struct program *nfs3 = program_find(100003, 3);
    uint32_t i;

    (void)state;
    for (i = 0; i < nfs3->procedure_count; i++) {
        const struct procedure *p = &nfs3->procedures[i];

        add_roles(&t, p->arguments, (size_t)snprintf(t.path, 64, "%s", p->arguments->name));
        add_roles(&t, p->result, (size_t)snprintf(t.path, 64, "%s", p->result->name));
    }
    assert_string_equal(t.text, nfs3_roles);
}

struct listed {
    const struct procedure *procedure;
    bool result;
    char (*paths)[WALK_PATH_MAX];
    unsigned count, all;
};

static int check_unique(void *ctx, const struct field_place *place)
{
    struct listed *l = ctx;
    const struct type *root =
        place->result ? place->procedure->result : place->procedure->arguments;
    unsigned i;

    if (l->procedure != place->procedure || l->result != place->result)
        l->count = 0;
    l->procedure = place->procedure;
    l->result = place->result;
    assert_true(strlen(place->path) < WALK_PATH_MAX - 8); /* none was cut */
    assert_memory_equal(place->path, root->name, strlen(root->name));
    assert_true(!strstr(place->path, "..") && place->path[strlen(place->path) - 1] != '.');
    for (i = 0; i < l->count; i++)
        assert_string_not_equal(place->path, l->paths[i]);
    assert_true(l->count < 256);
    memcpy(l->paths[l->count++], place->path, strlen(place->path) + 1);
    l->all++;
    return 0;
}

static int stop_at_third(void *ctx, const struct field_place *place)
{
    (void)place;
    return ++*(int *)ctx == 3 ? 42 : 0;
}

static void test_paths_are_unique(void **state)
{
    static char paths[256][WALK_PATH_MAX];
    struct listed l = { .paths = paths };
    int calls = 0;

    (void)state;
    assert_int_equal(wire_each_field(check_unique, &l), 0);
    assert_true(l.all > 1500);
    assert_int_equal(wire_each_field(stop_at_third, &calls), 42);
    assert_int_equal(calls, 3);
}

static void test_names(void **state)
{
    static const char *const classes[CLASS_MAX] = {
        "none",    "handle",  "name",     "path",       "uid",    "gid",      "host",
        "address", "time",    "interval", "size",       "offset", "count",    "mode",
        "type",    "fileid",  "fsid",     "device",     "cookie", "verifier", "data",
        "status",  "boolean", "enum",     "lock_owner", "opaque",
    };
    const struct procedure *read = procedure_find(100003, 3, 6);
    int i;

    (void)state;
    for (i = 0; i < CLASS_MAX; i++)
        assert_string_equal(class_name((enum field_class)i), classes[i]);
    assert_null(class_name(CLASS_MAX));
    assert_string_equal(program_name(100003), "NFS");
    assert_string_equal(program_name(100024), "STAT");
    assert_null(program_name(99));
    for (i = 0; i < PROGRAMS; i++) /* RPCBIND goes by the older name of its number */
        assert_string_equal(program_name(expected[i].number),
                            expected[i].number == 100000 ? "PORTMAP" : expected[i].name);
    assert_string_equal(status_name(read, 0), "NFS3_OK");
    assert_string_equal(status_name(read, 70), "NFS3ERR_STALE");
    assert_string_equal(status_name(read, 10008), "NFS3ERR_JUKEBOX");
    assert_null(status_name(read, 3));
    assert_string_equal(status_name(procedure_find(100005, 3, 1), 13), "MNT3ERR_ACCES");
    assert_string_equal(status_name(procedure_find(100227, 2, 1), 1), "NFSERR_PERM");
    assert_string_equal(status_name(procedure_find(100227, 3, 1), 1), "NFS3ERR_PERM");
    assert_non_null(status_name(procedure_find(100021, 4, 2), 1));
    assert_null(status_name(procedure_find(100003, 3, 0), 0));
    assert_null(status_name(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs),   cmocka_unit_test(test_roles_together),
        cmocka_unit_test(test_role_kinds), cmocka_unit_test(test_paths_are_unique),
        cmocka_unit_test(test_nfs3_roles), cmocka_unit_test(test_names),
        cmocka_unit_test(test_actions),
    };

    wire_init();
    wire_init(); /* idempotent */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
