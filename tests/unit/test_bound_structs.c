/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every struct of wire/nfs3_structs.h and its like, written by hand in C: what bind_write makes of
 * it, walk() shows with the values of the members of these names, and bind_read reads back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bound_types.h"
#include "wire/mount_structs.h"
#include "wire/nfsacl_structs.h"
#include "wire/portmap_structs.h"

#include <stdio.h>
#include <stdlib.h>

static struct err err;

struct row {
    uint32_t program, version, procedure;
    bool result;
    const void *from;
    const char *text; /* the values that are not zero or empty, without the type's name */
};

/* --- what walk() shows */

struct shown {
    char text[2000];
    size_t len;
};

static int show(void *ctx, const struct visit *v)
{
    char path[WALK_PATH_MAX], *name;
    struct shown *s = ctx;

    if (v->whole || (v->full_len == 0 && !v->value))
        return 0;
    walk_path(v->walk, v->field, path);
    name = strchr(path, '.');
    switch (v->field->kind) {
    case XDR_FIXED:
        if (bytes_are_zeros(v->data, v->len))
            return 0;
        /* fall through */
    case XDR_OPAQUE:
    case XDR_STRING:
        s->len += (size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len, "%s=%.*s ",
                                   name ? name + 1 : "", (int)v->len, (const char *)v->data);
        break;
    default:
        if (v->value)
            s->len += (size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len, "%s=%llu ",
                                       name ? name + 1 : "", (unsigned long long)v->value);
    }
    assert_true(s->len < sizeof(s->text));
    return 0;
}

static void check_text(const struct type *type, const struct buf *body, const char *text)
{
    struct shown s = { .text = "" };
    const struct visitor visitor = { show, &s, 0 };
    uint32_t len = (uint32_t)body->len;
    struct walk w;

    assert_int_equal(walk(&w, type, body->data, len, len, false, &visitor), WALK_OK);
    if (s.len)
        s.text[s.len - 1] = '\0'; /* the last space */
    assert_string_equal(s.text, text);
}

static struct bound_type find(const struct type *type)
{
    struct bound_type t;

    for (uint32_t i = 0; bound_types(i, &t); i++)
        if (t.type == type)
            return t;
    fail_msg("%s has no struct", type->name);
    return t;
}

static void check(const struct row *row)
{
    const struct procedure *p = procedure_find(row->program, row->version, row->procedure);
    const struct bound_type t = find(row->result ? p->result : p->arguments);
    static struct bound_room room;
    struct buf made = { 0 }, again = { 0 };
    struct xdr_put to = xdr_put_to(&made, 4000), to_again = xdr_put_to(&again, 4000);

    assert_int_equal(bind_write(t.bound, &to, row->from), 0);
    assert_int_equal(bind_size(t.bound, row->from), made.len);
    check_text(t.type, &made, row->text);
    bound_room(&t, &room, 3);
    assert_int_equal(bind_read(t.bound, (struct bytes){ made.data, (uint32_t)made.len }, room.at),
                     WALK_OK);
    assert_int_equal(bind_write(t.bound, &to_again, room.at), 0);
    check_text(t.type, &again, row->text);
    buf_free(&made);
    buf_free(&again);
}

/* clang-format off */
#define B(text) { (const uint8_t *)(text), sizeof(text) - 1 }
#define ARGS(NUMBER, TAG, TEXT, ...) \
    { NFS3_PROGRAM, 3, NUMBER, false, &(const struct TAG){ __VA_ARGS__ }, TEXT }
#define RES(NUMBER, TAG, TEXT, ...) \
    { NFS3_PROGRAM, 3, NUMBER, true, &(const struct TAG){ __VA_ARGS__ }, TEXT }
#define OTHER(PROGRAM, VERSION, NUMBER, RESULT, TAG, TEXT, ...) \
    { PROGRAM, VERSION, NUMBER, RESULT, &(const struct TAG){ __VA_ARGS__ }, TEXT }
/* Attributes and weak cache consistency data that are told apart by one number. */
#define ATTR(N) { true, { .mode = (N) } }
#define WCC(N) { true, { .size = (N) }, ATTR((N) + 1) }
/* clang-format on */

/* clang-format off */
#define EVERYTHING { 1, 2, 3, 4, 5, 6, 7, { 8, 9 }, 10, 11, { 12, 13 }, { 14, 15 }, { 16, 17 } }
/* clang-format on */

static const struct row shared_rows[] = {
    { NFS3_PROGRAM, 3, 0, false, NULL, "" },
    { NFS3_PROGRAM, 3, 0, true, NULL, "" },
    ARGS(1, GETATTR3args, "object=h", B("h")),
    RES(1, GETATTR3res,
        "resok.obj_attributes.type=1 resok.obj_attributes.mode=2 resok.obj_attributes.nlink=3 "
        "resok.obj_attributes.uid=4 resok.obj_attributes.gid=5 resok.obj_attributes.size=6 "
        "resok.obj_attributes.used=7 resok.obj_attributes.rdev.specdata1=8 "
        "resok.obj_attributes.rdev.specdata2=9 resok.obj_attributes.fsid=10 "
        "resok.obj_attributes.fileid=11 resok.obj_attributes.atime.seconds=12 "
        "resok.obj_attributes.atime.nseconds=13 resok.obj_attributes.mtime.seconds=14 "
        "resok.obj_attributes.mtime.nseconds=15 resok.obj_attributes.ctime.seconds=16 "
        "resok.obj_attributes.ctime.nseconds=17",
        .obj_attributes = EVERYTHING),
    RES(1, GETATTR3res, "status=70", .status = 70, .obj_attributes = EVERYTHING),
    ARGS(2, SETATTR3args,
         "object=h new_attributes.mode.set_it=1 new_attributes.mode.mode=2 "
         "new_attributes.uid.set_it=1 new_attributes.uid.uid=3 new_attributes.gid.set_it=1 "
         "new_attributes.gid.gid=4 new_attributes.size.set_it=1 new_attributes.size.size=5 "
         "new_attributes.atime.set_it=2 new_attributes.atime.atime.seconds=6 "
         "new_attributes.atime.atime.nseconds=7 new_attributes.mtime.set_it=2 "
         "new_attributes.mtime.mtime.seconds=8 new_attributes.mtime.mtime.nseconds=9 "
         "guard.check=1 guard.obj_ctime.seconds=10 guard.obj_ctime.nseconds=11",
         B("h"), { true, true, true, true, 2, 2, 2, 3, 4, 5, { 6, 7 }, { 8, 9 } },
         { true, { 10, 11 } }),
    ARGS(2, SETATTR3args,
         "object=h new_attributes.uid.set_it=1 new_attributes.uid.uid=3 "
         "new_attributes.mtime.set_it=1",
         B("h"), { .set_uid = true, .uid = 3, .mode = 7, .set_mtime = 1, .mtime = { 8, 9 } },
         { false, { 10, 11 } }),
    RES(2, SETATTR3res,
        "resok.obj_wcc.before=1 resok.obj_wcc.before.size=1 resok.obj_wcc.before.mtime.seconds=2 "
        "resok.obj_wcc.before.mtime.nseconds=3 resok.obj_wcc.before.ctime.seconds=4 "
        "resok.obj_wcc.before.ctime.nseconds=5 resok.obj_wcc.after=1 resok.obj_wcc.after.mode=6",
        .obj_wcc = { true, { 1, { 2, 3 }, { 4, 5 } }, ATTR(6) }),
    RES(2, SETATTR3res, "status=1 resfail.obj_wcc.after=1 resfail.obj_wcc.after.mode=6", 1,
        { false, { 1, { 2, 3 }, { 4, 5 } }, ATTR(6) }),
};

static const struct row asking_rows[] = {
    ARGS(3, LOOKUP3args, "what.dir=d what.name=n", { B("d"), B("n") }),
    RES(3, LOOKUP3res,
        "resok.object=h resok.obj_attributes=1 resok.obj_attributes.mode=2 "
        "resok.dir_attributes=1 resok.dir_attributes.mode=3",
        0, B("h"), ATTR(2), ATTR(3)),
    RES(3, LOOKUP3res, "status=1 resfail.dir_attributes=1 resfail.dir_attributes.mode=3", 1, B("h"),
        ATTR(2), ATTR(3)),
    ARGS(4, ACCESS3args, "object=h access=2", B("h"), 2),
    RES(4, ACCESS3res, "resok.obj_attributes=1 resok.obj_attributes.mode=2 resok.access=3", 0,
        ATTR(2), 3),
    RES(4, ACCESS3res, "status=1 resfail.obj_attributes=1 resfail.obj_attributes.mode=2", 1,
        ATTR(2), 3),
    ARGS(5, READLINK3args, "symlink=h", B("h")),
    RES(5, READLINK3res,
        "resok.symlink_attributes=1 resok.symlink_attributes.mode=2 resok.data=../x", 0, ATTR(2),
        B("../x")),
    RES(5, READLINK3res, "status=1 resfail.symlink_attributes=1 resfail.symlink_attributes.mode=2",
        1, ATTR(2), B("../x")),
    ARGS(6, READ3args, "file=h offset=2 count=3", B("h"), 2, 3),
    RES(6, READ3res,
        "resok.file_attributes=1 resok.file_attributes.mode=2 resok.count=3 resok.eof=1 "
        "resok.data=xyz",
        0, ATTR(2), 3, true, B("xyz")),
    RES(6, READ3res, "status=1 resfail.file_attributes=1 resfail.file_attributes.mode=2", 1,
        ATTR(2), 3, true, B("xyz")),
    ARGS(16, READDIR3args, "dir=h cookie=2 cookieverf=verifier count=3", B("h"), 2, "verifier", 3),
    RES(16, READDIR3res,
        "resok.dir_attributes=1 resok.dir_attributes.mode=2 resok.cookieverf=verifier "
        "resok.reply.entries=1 resok.reply.entries.fileid=3 resok.reply.entries.name=n "
        "resok.reply.entries.cookie=4 resok.reply.entries=1 resok.reply.entries.fileid=5 "
        "resok.reply.eof=1",
        0, ATTR(2), "verifier", { (struct entry3[]){ { 3, B("n"), 4 }, { .fileid = 5 } }, 2, 0 },
        true),
    RES(16, READDIR3res, "status=1 resfail.dir_attributes=1 resfail.dir_attributes.mode=2", 1,
        ATTR(2), "verifier", { NULL, 1, 0 }, true),
    ARGS(17, READDIRPLUS3args, "dir=h cookie=2 cookieverf=verifier dircount=3 maxcount=4", B("h"),
         2, "verifier", 3, 4),
    RES(17, READDIRPLUS3res,
        "resok.dir_attributes=1 resok.dir_attributes.mode=2 resok.cookieverf=verifier "
        "resok.reply.entries=1 resok.reply.entries.fileid=3 resok.reply.entries.name=n "
        "resok.reply.entries.cookie=4 resok.reply.entries.name_attributes=1 "
        "resok.reply.entries.name_attributes.mode=5 resok.reply.entries.name_handle=1 "
        "resok.reply.entries.name_handle.handle=h resok.reply.eof=1",
        0, ATTR(2), "verifier",
        { (struct entryplus3[]){ { 3, B("n"), 4, ATTR(5), true, B("h") } }, 1, 0 }, true),
    RES(17, READDIRPLUS3res, "status=1 resfail.dir_attributes=1 resfail.dir_attributes.mode=2", 1,
        ATTR(2), "verifier", { NULL, 1, 0 }, true),
    ARGS(18, FSSTAT3args, "fsroot=h", B("h")),
    RES(18, FSSTAT3res,
        "resok.obj_attributes=1 resok.obj_attributes.mode=2 resok.tbytes=3 resok.fbytes=4 "
        "resok.abytes=5 resok.tfiles=6 resok.ffiles=7 resok.afiles=8 resok.invarsec=9",
        0, ATTR(2), 3, 4, 5, 6, 7, 8, 9),
    RES(18, FSSTAT3res, "status=1 resfail.obj_attributes=1 resfail.obj_attributes.mode=2", 1,
        ATTR(2), 3),
    ARGS(19, FSINFO3args, "fsroot=h", B("h")),
    RES(19, FSINFO3res,
        "resok.obj_attributes=1 resok.obj_attributes.mode=2 resok.rtmax=3 resok.rtpref=4 "
        "resok.rtmult=5 resok.wtmax=6 resok.wtpref=7 resok.wtmult=8 resok.dtpref=9 "
        "resok.maxfilesize=10 resok.time_delta.seconds=11 resok.time_delta.nseconds=12 "
        "resok.properties=13",
        0, ATTR(2), 3, 4, 5, 6, 7, 8, 9, 10, { 11, 12 }, 13),
    RES(19, FSINFO3res, "status=1 resfail.obj_attributes=1 resfail.obj_attributes.mode=2", 1,
        ATTR(2), 3),
    ARGS(20, PATHCONF3args, "object=h", B("h")),
    RES(20, PATHCONF3res,
        "resok.obj_attributes=1 resok.obj_attributes.mode=2 resok.linkmax=3 resok.name_max=4 "
        "resok.no_trunc=1 resok.case_insensitive=1",
        0, ATTR(2), 3, 4, true, false, true, false),
    RES(20, PATHCONF3res, "resok.chown_restricted=1 resok.case_preserving=1",
        .chown_restricted = true, .case_preserving = true),
    RES(20, PATHCONF3res, "status=1 resfail.obj_attributes=1 resfail.obj_attributes.mode=2", 1,
        ATTR(2), 3),
};

#define MADE(NUMBER)                                                                               \
    RES(NUMBER, CREATE3res,                                                                        \
        "resok.obj=1 resok.obj.handle=h resok.obj_attributes=1 resok.obj_attributes.mode=2 "       \
        "resok.dir_wcc.before=1 resok.dir_wcc.before.size=3 resok.dir_wcc.after=1 "                \
        "resok.dir_wcc.after.mode=4",                                                              \
        0, true, B("h"), ATTR(2), WCC(3)),                                                         \
        RES(NUMBER, CREATE3res,                                                                    \
            "status=1 resfail.dir_wcc.before=1 resfail.dir_wcc.before.size=3 "                     \
            "resfail.dir_wcc.after=1 resfail.dir_wcc.after.mode=4",                                \
            1, true, B("h"), ATTR(2), WCC(3))

static const struct row changing_rows[] = {
    ARGS(7, WRITE3args, "file=h offset=2 count=3 stable=1 data=xyz", B("h"), 2, 3, 1, B("xyz")),
    RES(7, WRITE3res,
        "resok.file_wcc.before=1 resok.file_wcc.before.size=2 resok.file_wcc.after=1 "
        "resok.file_wcc.after.mode=3 resok.count=4 resok.committed=5 resok.verf=verifier",
        0, WCC(2), 4, 5, "verifier"),
    RES(7, WRITE3res,
        "status=1 resfail.file_wcc.before=1 resfail.file_wcc.before.size=2 "
        "resfail.file_wcc.after=1 resfail.file_wcc.after.mode=3",
        1, WCC(2), 4, 5, "verifier"),
    ARGS(8, CREATE3args,
         "where.dir=d where.name=n how.obj_attributes.mode.set_it=1 "
         "how.obj_attributes.mode.mode=2",
         { B("d"), B("n") }, { 0, { .set_mode = true, .mode = 2 }, "verifier" }),
    ARGS(8, CREATE3args,
         "where.dir=d where.name=n how.mode=1 how.obj_attributes.mode.set_it=1 "
         "how.obj_attributes.mode.mode=2",
         { B("d"), B("n") }, { 1, { .set_mode = true, .mode = 2 }, "verifier" }),
    ARGS(8, CREATE3args, "where.dir=d where.name=n how.mode=2 how.verf=verifier",
         { B("d"), B("n") }, { 2, { .set_mode = true, .mode = 2 }, "verifier" }),
    MADE(8),
    ARGS(9, MKDIR3args, "where.dir=d where.name=n attributes.mode.set_it=1 attributes.mode.mode=2",
         { B("d"), B("n") }, { .set_mode = true, .mode = 2 }),
    MADE(9),
    ARGS(10, SYMLINK3args,
         "where.dir=d where.name=n symlink.symlink_attributes.mode.set_it=1 "
         "symlink.symlink_attributes.mode.mode=2 symlink.symlink_data=x",
         { B("d"), B("n") }, { { .set_mode = true, .mode = 2 }, B("x") }),
    MADE(10),
    ARGS(11, MKNOD3args,
         "where.dir=d where.name=n what.type=3 what.device.dev_attributes.mode.set_it=1 "
         "what.device.dev_attributes.mode.mode=2 what.device.spec.specdata1=4 "
         "what.device.spec.specdata2=5",
         { B("d"), B("n") }, { 3, { .set_mode = true, .mode = 2 }, { 4, 5 } }),
    ARGS(11, MKNOD3args,
         "where.dir=d where.name=n what.type=7 what.pipe_attributes.mode.set_it=1 "
         "what.pipe_attributes.mode.mode=2",
         { B("d"), B("n") }, { 7, { .set_mode = true, .mode = 2 }, { 4, 5 } }),
    ARGS(11, MKNOD3args, "where.dir=d where.name=n what.type=1", { B("d"), B("n") },
         { 1, { .set_mode = true, .mode = 2 }, { 4, 5 } }),
    MADE(11),
    ARGS(12, REMOVE3args, "object.dir=d object.name=n", { B("d"), B("n") }),
    RES(12, REMOVE3res, "resok.dir_wcc.after=1 resok.dir_wcc.after.mode=2", 0,
        { .after = ATTR(2) }),
    RES(12, REMOVE3res, "status=1 resfail.dir_wcc.after=1 resfail.dir_wcc.after.mode=2", 1,
        { .after = ATTR(2) }),
    ARGS(13, REMOVE3args, "object.dir=d object.name=n", { B("d"), B("n") }),
    RES(13, REMOVE3res, "status=1 resfail.dir_wcc.after=1 resfail.dir_wcc.after.mode=2", 1,
        { .after = ATTR(2) }),
    ARGS(14, RENAME3args, "from.dir=d from.name=n to.dir=e to.name=m", { B("d"), B("n") },
         { B("e"), B("m") }),
    RES(14, RENAME3res,
        "resok.fromdir_wcc.after=1 resok.fromdir_wcc.after.mode=2 resok.todir_wcc.after=1 "
        "resok.todir_wcc.after.mode=3",
        0, { .after = ATTR(2) }, { .after = ATTR(3) }),
    RES(14, RENAME3res,
        "status=1 resfail.fromdir_wcc.after=1 resfail.fromdir_wcc.after.mode=2 "
        "resfail.todir_wcc.after=1 resfail.todir_wcc.after.mode=3",
        1, { .after = ATTR(2) }, { .after = ATTR(3) }),
    ARGS(15, LINK3args, "file=h link.dir=d link.name=n", B("h"), { B("d"), B("n") }),
    RES(15, LINK3res,
        "resok.file_attributes=1 resok.file_attributes.mode=2 resok.linkdir_wcc.after=1 "
        "resok.linkdir_wcc.after.mode=3",
        0, ATTR(2), { .after = ATTR(3) }),
    RES(15, LINK3res,
        "status=1 resfail.file_attributes=1 resfail.file_attributes.mode=2 "
        "resfail.linkdir_wcc.after=1 resfail.linkdir_wcc.after.mode=3",
        1, ATTR(2), { .after = ATTR(3) }),
    ARGS(21, COMMIT3args, "file=h offset=2 count=3", B("h"), 2, 3),
    RES(21, COMMIT3res, "resok.file_wcc.after=1 resok.file_wcc.after.mode=2 resok.verf=verifier", 0,
        { .after = ATTR(2) }, "verifier"),
    RES(21, COMMIT3res, "status=1 resfail.file_wcc.after=1 resfail.file_wcc.after.mode=2", 1,
        { .after = ATTR(2) }, "verifier"),
};

#define LIST(TAG, COUNT, ...) { (struct TAG[]){ __VA_ARGS__ }, COUNT, 0 }

static const struct row mount_rows[] = {
    OTHER(MOUNT_PROGRAM, 1, 1, false, MNT3args, "dirpath=/x", B("/x")),
    OTHER(MOUNT_PROGRAM, 1, 1, true, fhstatus, "directory=12345678901234567890123456789012", 0,
          "12345678901234567890123456789012"),
    OTHER(MOUNT_PROGRAM, 1, 1, true, fhstatus, "status=13", 13, "1234567890"),
    OTHER(MOUNT_PROGRAM, 1, 2, true, mountlist3,
          "=1 hostname=h directory=/x =1 hostname=i directory=/y",
          LIST(mountbody, 2, { B("h"), B("/x") }, { B("i"), B("/y") })),
    OTHER(MOUNT_PROGRAM, 1, 3, false, MNT3args, "dirpath=/x", B("/x")),
    OTHER(MOUNT_PROGRAM, 1, 5, true, exports, "=1 filesys=/x groups=1 groups.grname=g",
          LIST(exportnode, 1, { B("/x"), LIST(groupnode, 1, { B("g") }) })),
    OTHER(MOUNT_PROGRAM, 1, 6, true, exports, "=1 filesys=/x",
          LIST(exportnode, 1, { .ex_dir = B("/x") })),
    OTHER(MOUNT_PROGRAM, 3, 1, false, MNT3args, "dirpath=/x", B("/x")),
    OTHER(MOUNT_PROGRAM, 3, 1, true, mountres3,
          "mountinfo.fhandle=h mountinfo.auth_flavors=2 mountinfo.auth_flavors.flavor=1 "
          "mountinfo.auth_flavors.flavor=6",
          0, B("h"), LIST(auth_flavor, 2, { 1 }, { 6 })),
    OTHER(MOUNT_PROGRAM, 3, 1, true, mountres3, "fhs_status=13", 13, B("h"),
          LIST(auth_flavor, 1, { 1 })),
    OTHER(MOUNT_PROGRAM, 3, 2, true, mountlist3,
          "=1 ml_hostname=h ml_directory=/x =1 ml_hostname=i ml_directory=/y",
          LIST(mountbody, 2, { B("h"), B("/x") }, { B("i"), B("/y") })),
    OTHER(MOUNT_PROGRAM, 3, 3, false, MNT3args, "dirpath=/x", B("/x")),
    OTHER(MOUNT_PROGRAM, 3, 5, true, exports,
          "=1 ex_dir=/x ex_groups=1 ex_groups.gr_name=g ex_groups=1 ex_groups.gr_name=f =1 "
          "ex_dir=/y",
          LIST(exportnode, 2, { B("/x"), LIST(groupnode, 2, { B("g") }, { B("f") }) },
               { .ex_dir = B("/y") })),
};

static const struct row other_rows[] = {
    OTHER(NFSACL_PROGRAM, 3, 1, false, GETACL3args, "fh=h mask=2", B("h"), 2),
    OTHER(NFSACL_PROGRAM, 3, 1, true, GETACL3res,
          "resok.attr=1 resok.attr.mode=2 resok.acl.mask=15 resok.acl.aclcnt=3 "
          "resok.acl.aclent=2 resok.acl.aclent.type=1 resok.acl.aclent.uid=4 "
          "resok.acl.aclent.perm=5 resok.acl.aclent.type=8 resok.acl.aclent.gid=6 "
          "resok.acl.aclent.perm=7 resok.acl.dfaclcnt=8 resok.acl.dfaclent=1 "
          "resok.acl.dfaclent.type=4100 resok.acl.dfaclent.gid=9 resok.acl.dfaclent.perm=10",
          0, ATTR(2),
          { 15, 3, LIST(aclent, 2, { 1, 4, 5 }, { 8, 6, 7 }), 8,
            LIST(aclent, 1, { 0x1004, 9, 10 }) }),
    OTHER(NFSACL_PROGRAM, 3, 1, true, GETACL3res, "status=1 resfail.attr=1 resfail.attr.mode=2", 1,
          ATTR(2), { .mask = 15 }),
    OTHER(NFSACL_PROGRAM, 3, 2, false, SETACL3args,
          "fh=h acl.mask=1 acl.aclcnt=1 acl.aclent=1 acl.aclent.type=32 acl.aclent.perm=7", B("h"),
          { .mask = 1, .aclcnt = 1, .aclent = LIST(aclent, 1, { 32, 0, 7 }) }),
    OTHER(NFSACL_PROGRAM, 3, 2, true, SETACL3res, "resok.attr=1 resok.attr.mode=2", 0, ATTR(2)),
    OTHER(NFSACL_PROGRAM, 3, 2, true, SETACL3res, "status=1 resfail.attr=1 resfail.attr.mode=2", 1,
          ATTR(2)),
    OTHER(PORTMAP_PROGRAM, 2, 1, false, portmap_mapping, "prog=1 vers=2 prot=6 port=3", 1, 2, 6, 3),
    OTHER(PORTMAP_PROGRAM, 2, 1, true, portmap_answer, "answer=1", true),
    OTHER(PORTMAP_PROGRAM, 2, 2, false, portmap_mapping, "prog=1 vers=2 prot=6 port=3", 1, 2, 6, 3),
    OTHER(PORTMAP_PROGRAM, 2, 2, true, portmap_answer, "", false),
    OTHER(PORTMAP_PROGRAM, 2, 3, false, portmap_mapping, "prog=1 vers=2 prot=6 port=3", 1, 2, 6, 3),
    OTHER(PORTMAP_PROGRAM, 2, 3, true, portmap_port, "port=2049", 2049),
    OTHER(PORTMAP_PROGRAM, 2, 4, true, pmaplist,
          "=1 map.prog=1 map.vers=2 map.prot=6 map.port=3 =1 map.port=4",
          LIST(portmap_mapping, 2, { 1, 2, 6, 3 }, { .port = 4 })),
};

/* Versions 3 and 4 have these in the same form. */
static const struct row rpcbind_rows[] = {
    OTHER(PORTMAP_PROGRAM, 3, 1, false, rpcb, "r_prog=1 r_vers=2 r_netid=tcp r_addr=a r_owner=o", 1,
          2, B("tcp"), B("a"), B("o")),
    OTHER(PORTMAP_PROGRAM, 3, 1, true, portmap_answer, "answer=1", true),
    OTHER(PORTMAP_PROGRAM, 3, 2, false, rpcb, "r_prog=1 r_vers=2 r_netid=tcp", 1, 2, B("tcp")),
    OTHER(PORTMAP_PROGRAM, 3, 2, true, portmap_answer, "answer=1", true),
    OTHER(PORTMAP_PROGRAM, 3, 3, false, rpcb, "r_prog=1 r_vers=2 r_netid=tcp", 1, 2, B("tcp")),
    OTHER(PORTMAP_PROGRAM, 3, 3, true, rpcb_address, "uaddr=127.0.0.1.8.1", B("127.0.0.1.8.1")),
    OTHER(PORTMAP_PROGRAM, 3, 4, true, rpcblist,
          "=1 rpcb_map.r_prog=1 rpcb_map.r_vers=2 rpcb_map.r_netid=tcp =1 rpcb_map.r_addr=a "
          "rpcb_map.r_owner=o",
          LIST(rpcb, 2, { 1, 2, B("tcp") }, { .r_addr = B("a"), .r_owner = B("o") })),
};

#define CHECK_ALL(ROWS)                                                                            \
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*(ROWS)); i++)                                    \
        check(&(ROWS)[i]);

static void test_nfs3(void **state)
{
    (void)state;
    CHECK_ALL(shared_rows);
    CHECK_ALL(asking_rows);
    CHECK_ALL(changing_rows);
}

static void test_others(void **state)
{
    (void)state;
    CHECK_ALL(mount_rows);
    CHECK_ALL(other_rows);
    CHECK_ALL(rpcbind_rows);
    for (size_t i = 0; i < sizeof(rpcbind_rows) / sizeof(*rpcbind_rows); i++) {
        struct row row = rpcbind_rows[i];

        row.version = 4;
        check(&row);
        if (row.procedure == 3) {
            row.procedure = 9; /* GETVERSADDR */
            check(&row);
        }
    }
}

static void test_entries(void **state)
{
    const struct entryplus3 entry = { 3, B("name"), 4, ATTR(5), true, B("handle") };
    const struct bound *bound;
    struct buf made = { 0 };
    struct xdr_put to = xdr_put_to(&made, 1000);
    struct entryplus3 again;

    (void)state;
    for (uint32_t i = 0; nfs3_binding(i); i++)
        assert_int_equal(nfs3_binding(i)->entry != NULL, i == 16 || i == 17);
    bound = nfs3_binding(17)->entry;
    assert_int_equal(bind_write(bound, &to, &entry), 0);
    assert_int_equal(made.len, 8 + 8 + 8 + 4 + 84 + 4 + 12);
    assert_int_equal(bind_read(bound, (struct bytes){ made.data, (uint32_t)made.len }, &again),
                     WALK_OK);
    assert_int_equal(again.name_attributes.attributes.mode, 5);
    assert_memory_equal(again.name_handle.data, "handle", 6);
    assert_int_equal(bind_size(nfs3_binding(16)->entry, &(struct entry3){ 1, B("a"), 2 }), 24);
    buf_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nfs3),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_entries),
    };
    int failed;

    if (bound_types_init(&err) < 0)
        return fprintf(stderr, "%s\n", err.text), 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    bound_types_free();
    return failed;
}
