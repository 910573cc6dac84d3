/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/nfs3_structs.c
 *
 * Rows that say which member of nfs3_structs.h's structs holds which field of NFSv3's types
 * (bind.h), and the programs made of them.
 */
#include "wire/nfs3_structs.h"

#include "wire/bindings.h"
#include "wire/programs.h"

#include <stdlib.h>

/* clang-format off */
#define SAME(TAG, MEMBER) BIND(TAG, #MEMBER, MEMBER)
#define SAME_STRUCT(TAG, MEMBER, NESTED_TAG) BIND_STRUCT(TAG, #MEMBER, MEMBER, NESTED_TAG)
/* In the arms of a result: the successful one, the other one, both. */
#define OK(TAG, MEMBER) BIND(TAG, "resok." #MEMBER, MEMBER)
#define OK_STRUCT(TAG, MEMBER, NESTED_TAG) \
    BIND_STRUCT(TAG, "resok." #MEMBER, MEMBER, NESTED_TAG)
#define BOTH_STRUCT(TAG, MEMBER, NESTED_TAG) \
    OK_STRUCT(TAG, MEMBER, NESTED_TAG), \
    BIND_STRUCT(TAG, "resfail." #MEMBER, MEMBER, NESTED_TAG)
/* clang-format on */

/* --- s3.3: arguments and results */

static const struct bind_row GETATTR3args_rows[] = {
    SAME(GETATTR3args, object),
    BIND_END,
};
static const struct bind_row GETATTR3res_rows[] = {
    SAME(GETATTR3res, status),
    OK_STRUCT(GETATTR3res, obj_attributes, fattr3),
    BIND_END,
};
static const struct bind_row sattrguard3_rows[] = {
    SAME(sattrguard3, check),
    SAME_STRUCT(sattrguard3, obj_ctime, nfstime3),
    BIND_END,
};
static const struct bind_row SETATTR3args_rows[] = {
    SAME(SETATTR3args, object),
    SAME_STRUCT(SETATTR3args, new_attributes, sattr3),
    SAME_STRUCT(SETATTR3args, guard, sattrguard3),
    BIND_END,
};
static const struct bind_row SETATTR3res_rows[] = {
    SAME(SETATTR3res, status),
    BOTH_STRUCT(SETATTR3res, obj_wcc, wcc_data),
    BIND_END,
};
static const struct bind_row LOOKUP3args_rows[] = {
    SAME_STRUCT(LOOKUP3args, what, diropargs3),
    BIND_END,
};
static const struct bind_row LOOKUP3res_rows[] = {
    SAME(LOOKUP3res, status),
    OK(LOOKUP3res, object),
    OK_STRUCT(LOOKUP3res, obj_attributes, post_op_attr),
    BOTH_STRUCT(LOOKUP3res, dir_attributes, post_op_attr),
    BIND_END,
};
static const struct bind_row ACCESS3args_rows[] = {
    SAME(ACCESS3args, object),
    SAME(ACCESS3args, access),
    BIND_END,
};
static const struct bind_row ACCESS3res_rows[] = {
    SAME(ACCESS3res, status),
    BOTH_STRUCT(ACCESS3res, obj_attributes, post_op_attr),
    OK(ACCESS3res, access),
    BIND_END,
};
static const struct bind_row READLINK3args_rows[] = {
    SAME(READLINK3args, symlink),
    BIND_END,
};
static const struct bind_row READLINK3res_rows[] = {
    SAME(READLINK3res, status),
    BOTH_STRUCT(READLINK3res, symlink_attributes, post_op_attr),
    OK(READLINK3res, data),
    BIND_END,
};
static const struct bind_row READ3args_rows[] = {
    SAME(READ3args, file),
    SAME(READ3args, offset),
    SAME(READ3args, count),
    BIND_END,
};
static const struct bind_row READ3res_rows[] = {
    SAME(READ3res, status), BOTH_STRUCT(READ3res, file_attributes, post_op_attr),
    OK(READ3res, count),    OK(READ3res, eof),
    OK(READ3res, data),     BIND_END,
};
static const struct bind_row WRITE3args_rows[] = {
    SAME(WRITE3args, file),   SAME(WRITE3args, offset), SAME(WRITE3args, count),
    SAME(WRITE3args, stable), SAME(WRITE3args, data),   BIND_END,
};
static const struct bind_row WRITE3res_rows[] = {
    SAME(WRITE3res, status), BOTH_STRUCT(WRITE3res, file_wcc, wcc_data),
    OK(WRITE3res, count),    OK(WRITE3res, committed),
    OK(WRITE3res, verf),     BIND_END,
};
static const struct bind_row createhow3_rows[] = {
    SAME(createhow3, mode),
    SAME_STRUCT(createhow3, obj_attributes, sattr3),
    SAME(createhow3, verf),
    BIND_END,
};
static const struct bind_row CREATE3args_rows[] = {
    SAME_STRUCT(CREATE3args, where, diropargs3),
    SAME_STRUCT(CREATE3args, how, createhow3),
    BIND_END,
};
static const struct bind_row CREATE3res_rows[] = {
    SAME(CREATE3res, status),
    BIND(CREATE3res, "resok.obj", obj_follows),
    BIND(CREATE3res, "resok.obj.handle", obj),
    OK_STRUCT(CREATE3res, obj_attributes, post_op_attr),
    BOTH_STRUCT(CREATE3res, dir_wcc, wcc_data),
    BIND_END,
};
static const struct bind_row MKDIR3args_rows[] = {
    SAME_STRUCT(MKDIR3args, where, diropargs3),
    SAME_STRUCT(MKDIR3args, attributes, sattr3),
    BIND_END,
};
static const struct bind_row symlinkdata3_rows[] = {
    SAME_STRUCT(symlinkdata3, symlink_attributes, sattr3),
    SAME(symlinkdata3, symlink_data),
    BIND_END,
};
static const struct bind_row SYMLINK3args_rows[] = {
    SAME_STRUCT(SYMLINK3args, where, diropargs3),
    SAME_STRUCT(SYMLINK3args, symlink, symlinkdata3),
    BIND_END,
};
static const struct bind_row mknoddata3_rows[] = {
    SAME(mknoddata3, type),
    BIND_STRUCT(mknoddata3, "device.dev_attributes", attributes, sattr3),
    BIND_STRUCT(mknoddata3, "device.spec", spec, specdata3),
    BIND_STRUCT(mknoddata3, "pipe_attributes", attributes, sattr3),
    BIND_END,
};
static const struct bind_row MKNOD3args_rows[] = {
    SAME_STRUCT(MKNOD3args, where, diropargs3),
    SAME_STRUCT(MKNOD3args, what, mknoddata3),
    BIND_END,
};
static const struct bind_row REMOVE3args_rows[] = {
    SAME_STRUCT(REMOVE3args, object, diropargs3),
    BIND_END,
};
static const struct bind_row REMOVE3res_rows[] = {
    SAME(REMOVE3res, status),
    BOTH_STRUCT(REMOVE3res, dir_wcc, wcc_data),
    BIND_END,
};
static const struct bind_row RENAME3args_rows[] = {
    SAME_STRUCT(RENAME3args, from, diropargs3),
    SAME_STRUCT(RENAME3args, to, diropargs3),
    BIND_END,
};
static const struct bind_row RENAME3res_rows[] = {
    SAME(RENAME3res, status),
    BOTH_STRUCT(RENAME3res, fromdir_wcc, wcc_data),
    BOTH_STRUCT(RENAME3res, todir_wcc, wcc_data),
    BIND_END,
};
static const struct bind_row LINK3args_rows[] = {
    SAME(LINK3args, file),
    SAME_STRUCT(LINK3args, link, diropargs3),
    BIND_END,
};
static const struct bind_row LINK3res_rows[] = {
    SAME(LINK3res, status),
    BOTH_STRUCT(LINK3res, file_attributes, post_op_attr),
    BOTH_STRUCT(LINK3res, linkdir_wcc, wcc_data),
    BIND_END,
};
static const struct bind_row READDIR3args_rows[] = {
    SAME(READDIR3args, dir),
    SAME(READDIR3args, cookie),
    SAME(READDIR3args, cookieverf),
    SAME(READDIR3args, count),
    BIND_END,
};
static const struct bind_row entry3_rows[] = {
    SAME(entry3, fileid),
    SAME(entry3, name),
    SAME(entry3, cookie),
    BIND_END,
};
static const struct bind_row READDIR3res_rows[] = {
    SAME(READDIR3res, status),
    BOTH_STRUCT(READDIR3res, dir_attributes, post_op_attr),
    OK(READDIR3res, cookieverf),
    BIND_LIST(READDIR3res, "resok.reply.entries", entries, entry3),
    BIND(READDIR3res, "resok.reply.eof", eof),
    BIND_END,
};
static const struct bind_row READDIRPLUS3args_rows[] = {
    SAME(READDIRPLUS3args, dir),        SAME(READDIRPLUS3args, cookie),
    SAME(READDIRPLUS3args, cookieverf), SAME(READDIRPLUS3args, dircount),
    SAME(READDIRPLUS3args, maxcount),   BIND_END,
};
static const struct bind_row entryplus3_rows[] = {
    SAME(entryplus3, fileid),
    SAME(entryplus3, name),
    SAME(entryplus3, cookie),
    SAME_STRUCT(entryplus3, name_attributes, post_op_attr),
    BIND(entryplus3, "name_handle", name_handle_follows),
    BIND(entryplus3, "name_handle.handle", name_handle),
    BIND_END,
};
static const struct bind_row READDIRPLUS3res_rows[] = {
    SAME(READDIRPLUS3res, status),
    BOTH_STRUCT(READDIRPLUS3res, dir_attributes, post_op_attr),
    OK(READDIRPLUS3res, cookieverf),
    BIND_LIST(READDIRPLUS3res, "resok.reply.entries", entries, entryplus3),
    BIND(READDIRPLUS3res, "resok.reply.eof", eof),
    BIND_END,
};
static const struct bind_row FSSTAT3args_rows[] = {
    SAME(FSSTAT3args, fsroot),
    BIND_END,
};
static const struct bind_row FSSTAT3res_rows[] = {
    SAME(FSSTAT3res, status), BOTH_STRUCT(FSSTAT3res, obj_attributes, post_op_attr),
    OK(FSSTAT3res, tbytes),   OK(FSSTAT3res, fbytes),
    OK(FSSTAT3res, abytes),   OK(FSSTAT3res, tfiles),
    OK(FSSTAT3res, ffiles),   OK(FSSTAT3res, afiles),
    OK(FSSTAT3res, invarsec), BIND_END,
};
static const struct bind_row FSINFO3args_rows[] = {
    SAME(FSINFO3args, fsroot),
    BIND_END,
};
static const struct bind_row FSINFO3res_rows[] = {
    SAME(FSINFO3res, status),
    BOTH_STRUCT(FSINFO3res, obj_attributes, post_op_attr),
    OK(FSINFO3res, rtmax),
    OK(FSINFO3res, rtpref),
    OK(FSINFO3res, rtmult),
    OK(FSINFO3res, wtmax),
    OK(FSINFO3res, wtpref),
    OK(FSINFO3res, wtmult),
    OK(FSINFO3res, dtpref),
    OK(FSINFO3res, maxfilesize),
    OK_STRUCT(FSINFO3res, time_delta, nfstime3),
    OK(FSINFO3res, properties),
    BIND_END,
};
static const struct bind_row PATHCONF3args_rows[] = {
    SAME(PATHCONF3args, object),
    BIND_END,
};
static const struct bind_row PATHCONF3res_rows[] = {
    SAME(PATHCONF3res, status),
    BOTH_STRUCT(PATHCONF3res, obj_attributes, post_op_attr),
    OK(PATHCONF3res, linkmax),
    OK(PATHCONF3res, name_max),
    OK(PATHCONF3res, no_trunc),
    OK(PATHCONF3res, chown_restricted),
    OK(PATHCONF3res, case_insensitive),
    OK(PATHCONF3res, case_preserving),
    BIND_END,
};
static const struct bind_row COMMIT3args_rows[] = {
    SAME(COMMIT3args, file),
    SAME(COMMIT3args, offset),
    SAME(COMMIT3args, count),
    BIND_END,
};
static const struct bind_row COMMIT3res_rows[] = {
    SAME(COMMIT3res, status),
    BOTH_STRUCT(COMMIT3res, file_wcc, wcc_data),
    OK(COMMIT3res, verf),
    BIND_END,
};

/* --- their programs */

/* clang-format off */
#define BOTH_OF(NAME) \
    BIND_STRUCT_OF(#NAME "3args", NAME##3args), BIND_STRUCT_OF(#NAME "3res", NAME##3res)
#define MAKES(NAME) \
    BIND_STRUCT_OF(#NAME "3args", NAME##3args), BIND_STRUCT_OF(#NAME "3res", CREATE3res)
/* clang-format on */

static const struct bind_struct structs[] = {
    BOTH_OF(GETATTR),
    BOTH_OF(SETATTR),
    BOTH_OF(LOOKUP),
    BOTH_OF(ACCESS),
    BOTH_OF(READLINK),
    BOTH_OF(READ),
    BOTH_OF(WRITE),
    BOTH_OF(CREATE),
    MAKES(MKDIR),
    MAKES(SYMLINK),
    MAKES(MKNOD),
    BOTH_OF(REMOVE),
    BIND_STRUCT_OF("RMDIR3args", REMOVE3args),
    BIND_STRUCT_OF("RMDIR3res", REMOVE3res),
    BOTH_OF(RENAME),
    BOTH_OF(LINK),
    BOTH_OF(READDIR),
    BIND_STRUCT_OF("entry3", entry3),
    BOTH_OF(READDIRPLUS),
    BIND_STRUCT_OF("entryplus3", entryplus3),
    BOTH_OF(FSSTAT),
    BOTH_OF(FSINFO),
    BOTH_OF(PATHCONF),
    BOTH_OF(COMMIT),
};

static const struct bind_structs all = { &wire_nfs3, structs, COUNT_OF(structs) };
static struct bindings bindings;
static struct nfs3_binding *with_entries; /* as many */

static int bind_entry(void *ctx, const struct field_place *place)
{
    struct nfs3_binding *to = &with_entries[place->procedure->number];
    size_t size;

    if (place->program != &wire_nfs3 || !(place->field->role & ROLE_ENTRY))
        return 0;
    return bind_type(place->field->sub, &all, &to->entry, &size, ctx);
}

int nfs3_structs_init(struct err *err)
{
    int result;

    if (with_entries)
        return 0;
    result = bindings_make(&bindings, &all, err);
    if (result < 0)
        return result;
    with_entries = calloc(bindings.count, sizeof(*with_entries));
    result = with_entries ? wire_each_field(bind_entry, err) : err_memory(err, "NFS");
    if (result < 0)
        nfs3_structs_free();
    for (size_t i = 0; i < bindings.count; i++) {
        const struct wire_binding *from = &bindings.of[i];

        with_entries[i] =
            (struct nfs3_binding){ from->arguments_size, from->result_size, from->arguments,
                                   from->result, with_entries[i].entry };
    }
    return result;
}

void nfs3_structs_free(void)
{
    for (size_t i = 0; with_entries && i < bindings.count; i++)
        bound_free((struct bound *)with_entries[i].entry);
    free(with_entries);
    with_entries = NULL;
    bindings_free(&bindings);
}

const struct nfs3_binding *nfs3_binding(uint32_t procedure)
{
    return with_entries && procedure < bindings.count ? &with_entries[procedure] : NULL;
}
