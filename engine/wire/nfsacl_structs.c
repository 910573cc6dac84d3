/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/nfsacl_structs.h"

#include "wire/programs.h"

static const struct bind_row aclent_rows[] = {
    BIND(aclent, "type", type),
    BIND(aclent, "uid", id),
    BIND(aclent, "gid", id),
    BIND(aclent, "perm", perm),
    BIND_END,
};
static const struct bind_row secattr_rows[] = {
    BIND(secattr, "mask", mask),
    BIND(secattr, "aclcnt", aclcnt),
    BIND_LIST(secattr, "aclent", aclent, aclent),
    BIND(secattr, "dfaclcnt", dfaclcnt),
    BIND_LIST(secattr, "dfaclent", dfaclent, aclent),
    BIND_END,
};
static const struct bind_row GETACL3args_rows[] = {
    BIND(GETACL3args, "fh", fh),
    BIND(GETACL3args, "mask", mask),
    BIND_END,
};
static const struct bind_row GETACL3res_rows[] = {
    BIND(GETACL3res, "status", status),
    BIND_STRUCT(GETACL3res, "resok.attr", attr, post_op_attr),
    BIND_STRUCT(GETACL3res, "resfail.attr", attr, post_op_attr),
    BIND_STRUCT(GETACL3res, "resok.acl", acl, secattr),
    BIND_END,
};
static const struct bind_row SETACL3args_rows[] = {
    BIND(SETACL3args, "fh", fh),
    BIND_STRUCT(SETACL3args, "acl", acl, secattr),
    BIND_END,
};
static const struct bind_row SETACL3res_rows[] = {
    BIND(SETACL3res, "status", status),
    BIND_STRUCT(SETACL3res, "resok.attr", attr, post_op_attr),
    BIND_STRUCT(SETACL3res, "resfail.attr", attr, post_op_attr),
    BIND_END,
};

static const struct bind_struct structs[] = {
    BIND_STRUCT_OF("GETACL3args", GETACL3args),
    BIND_STRUCT_OF("GETACL3res", GETACL3res),
    BIND_STRUCT_OF("SETACL3args", SETACL3args),
    BIND_STRUCT_OF("SETACL3res", SETACL3res),
};
static const struct bind_structs all = { &wire_nfsacl3, structs, COUNT_OF(structs) };
static struct bindings bindings;

int nfsacl_structs_init(struct err *err)
{
    return bindings_make(&bindings, &all, err);
}

void nfsacl_structs_free(void)
{
    bindings_free(&bindings);
}

const struct wire_binding *nfsacl3_binding(uint32_t procedure)
{
    return bindings_find(&bindings, procedure);
}
