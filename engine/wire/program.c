/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/program.c
 *
 * The registry of programs, what wire_init derives from their tables, and names.
 */
#include "wire/programs.h"

#include "wire/walk.h"

#include <string.h>

static const struct field wire_void_fields[] = { END };
struct type wire_void = { .name = "void", .fields = wire_void_fields };

/* The most frequent first: program_find looks from the start. */
const struct program *const wire_programs[] = {
    &wire_nfs3,   &wire_nfsacl3, &wire_nlm4,   &wire_portmap2, &wire_rpcbind3, &wire_rpcbind4,
    &wire_mount3, &wire_nfsacl2, &wire_mount1, &wire_nlm1,     &wire_nlm3,     NULL,
};

static void derive(struct type *type);

static void add_type(struct type *sub, struct type *to)
{
    if (!sub)
        return;
    derive(sub);
    to->roles |= sub->roles;
    to->has_data |= sub->has_data;
}

static void add_field(const struct field *field, struct type *to)
{
    const struct arm *arm = field->arms;
    int32_t size = -1;
    bool plain = false;

    to->roles |= field->role;
    to->has_data |= field->cls == CLASS_DATA;
    switch (field->kind) {
    case XDR_U32:
    case XDR_I32:
    case XDR_ENUM:
        size = 4;
        plain = true;
        break;
    case XDR_BOOL:
        size = 4;
        break;
    case XDR_U64:
        size = 8;
        plain = true;
        break;
    case XDR_FIXED:
        size = (int32_t)((field->max + 3) & ~3u);
        plain = true;
        break;
    case XDR_STRUCT:
        add_type(field->sub, to);
        size = field->sub->fixed_size;
        plain = field->sub->plain;
        break;
    case XDR_OPTIONAL:
    case XDR_LIST:
    case XDR_ARRAY:
        add_type(field->sub, to);
        break;
    case XDR_UNION:
        for (;; arm++) {
            add_type(arm->type, to);
            if (arm->is_end)
                break;
        }
        break;
    }
    to->fixed_size = to->fixed_size < 0 || size < 0 ? -1 : to->fixed_size + size;
    to->plain &= plain;
}

/* Recursion over our own tables; they have no cycles (a list is a kind of field). */
static void derive(struct type *type)
{
    const struct field *field;

    if (type->ready)
        return;
    type->fixed_size = 0;
    type->plain = true;
    for (field = type->fields; field->kind != XDR_END; field++)
        add_field(field, type);
    type->ready = true;
}

void wire_init(void)
{
    const struct program *const *program;
    uint32_t i;

    derive(&wire_void);
    for (program = wire_programs; *program; program++) {
        for (i = 0; i < (*program)->procedure_count; i++) {
            const struct procedure *procedure = &(*program)->procedures[i];

            if (!procedure->name)
                continue;
            derive(procedure->arguments);
            derive(procedure->result);
        }
    }
}

const struct program *program_find(uint32_t program, uint32_t version)
{
    const struct program *const *p;

    for (p = wire_programs; *p; p++)
        if ((*p)->number == program && (*p)->version == version)
            return *p;
    return NULL;
}

const struct procedure *procedure_find(uint32_t program, uint32_t version, uint32_t procedure)
{
    const struct program *p = program_find(program, version);

    if (!p || procedure >= p->procedure_count || !p->procedures[procedure].name)
        return NULL;
    return &p->procedures[procedure];
}

/* RPC program numbers as in /etc/rpc of most systems; 0x40000000 is NFSv4's callback. */
const char *program_name(uint32_t program)
{
    static const struct value_name names[] = {
        { 100000, "PORTMAP" },     { 100001, "RSTAT" },  { 100002, "RUSERS" },
        { 100003, "NFS" },         { 100004, "YPSERV" }, { 100005, "MOUNT" },
        { 100007, "YPBIND" },      { 100008, "WALL" },   { 100009, "YPPASSWD" },
        { 100011, "RQUOTA" },      { 100012, "SPRAY" },  { 100017, "REXEC" },
        { 100020, "KLM" },         { 100021, "NLM" },    { 100024, "STAT" },
        { 100026, "BOOTPARAMS" },  { 100227, "NFSACL" }, { 150001, "PCNFSD" },
        { 0x40000000u, "NFS_CB" },
    };
    size_t i;

    for (i = 0; i < COUNT_OF(names); i++)
        if (names[i].value == program)
            return names[i].name;
    return NULL;
}

const char *status_name(const struct procedure *procedure, uint32_t status)
{
    const struct value_name *name;
    const struct field *field;

    if (!procedure || !(procedure->result->roles & ROLE_STATUS))
        return NULL;
    for (field = procedure->result->fields; field->kind != XDR_END;) {
        if (field->role & ROLE_STATUS)
            break;
        if (field->kind == XDR_STRUCT && field->sub->roles & ROLE_STATUS)
            field = field->sub->fields;
        else
            field++;
    }
    for (name = field->names; name && name->name; name++)
        if (name->value == status)
            return name->name;
    return NULL;
}

const char *class_name(enum field_class cls)
{
    static const char *const names[CLASS_MAX] = {
        [CLASS_NONE] = "none",
        [CLASS_HANDLE] = "handle",
        [CLASS_NAME] = "name",
        [CLASS_PATH] = "path",
        [CLASS_UID] = "uid",
        [CLASS_GID] = "gid",
        [CLASS_HOST] = "host",
        [CLASS_ADDRESS] = "address",
        [CLASS_TIME] = "time",
        [CLASS_INTERVAL] = "interval",
        [CLASS_SIZE] = "size",
        [CLASS_OFFSET] = "offset",
        [CLASS_COUNT] = "count",
        [CLASS_MODE] = "mode",
        [CLASS_TYPE] = "type",
        [CLASS_FILEID] = "fileid",
        [CLASS_FSID] = "fsid",
        [CLASS_DEVICE] = "device",
        [CLASS_COOKIE] = "cookie",
        [CLASS_VERIFIER] = "verifier",
        [CLASS_DATA] = "data",
        [CLASS_STATUS] = "status",
        [CLASS_BOOLEAN] = "boolean",
        [CLASS_ENUM] = "enum",
        [CLASS_LOCK_OWNER] = "lock_owner",
        [CLASS_OPAQUE] = "opaque",
    };

    return (unsigned)cls < CLASS_MAX ? names[cls] : NULL;
}

/* The listing of fields. |path| is one buffer for all; each level writes behind its own |len|. */
struct listing {
    int (*visit)(void *ctx, const struct field_place *place);
    void *ctx;
    struct field_place place;
    char path[WALK_PATH_MAX];
};

static size_t path_append(struct listing *l, size_t len, const char *name)
{
    size_t more = name ? strlen(name) : 0;

    if (!name)
        return len;
    if (len + 1 + more >= sizeof(l->path))
        more = sizeof(l->path) - len - 2;
    l->path[len] = '.';
    memcpy(l->path + len + 1, name, more);
    return len + 1 + more;
}

static int list_type(struct listing *l, const struct type *type, size_t len);

/* Several values of a discriminant may lead to one arm: it is listed once. */
static bool is_arm_listed(const struct arm *first, const struct arm *arm)
{
    for (; first < arm; first++)
        if (first->type == arm->type &&
            (first->name == arm->name ||
             (first->name && arm->name && strcmp(first->name, arm->name) == 0)))
            return true;
    return false;
}

static int list_field(struct listing *l, const struct field *field, size_t outer)
{
    size_t len = path_append(l, outer, field->name);
    const struct arm *arm;
    int result = 0;

    if (field->kind != XDR_STRUCT) {
        l->path[len] = '\0';
        l->place.field = field;
        result = l->visit(l->ctx, &l->place);
    }
    if (!result && field->sub)
        result = list_type(l, field->sub, len);
    for (arm = field->arms; !result && arm; arm = arm->is_end ? NULL : arm + 1)
        if (arm->type && !is_arm_listed(field->arms, arm))
            result = list_type(l, arm->type, path_append(l, outer, arm->name));
    return result;
}

static int list_type(struct listing *l, const struct type *type, size_t len)
{
    const struct field *field;
    int result = 0;

    for (field = type->fields; !result && field->kind != XDR_END; field++)
        result = list_field(l, field, len);
    return result;
}

static int list_root(struct listing *l, const struct type *type, bool is_result)
{
    size_t len = strlen(type->name);

    l->place.result = is_result;
    memcpy(l->path, type->name, len);
    return list_type(l, type, len);
}

int wire_each_field(int (*visit)(void *ctx, const struct field_place *place), void *ctx)
{
    struct listing l = { .visit = visit, .ctx = ctx };
    const struct program *const *program;
    int result = 0;
    uint32_t i;

    l.place.path = l.path;
    for (program = wire_programs; !result && *program; program++) {
        l.place.program = *program;
        for (i = 0; !result && i < (*program)->procedure_count; i++) {
            l.place.procedure = &(*program)->procedures[i];
            if (!l.place.procedure->name)
                continue;
            result = list_root(&l, l.place.procedure->arguments, false);
            if (!result)
                result = list_root(&l, l.place.procedure->result, true);
        }
    }
    return result;
}
