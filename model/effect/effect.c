/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/effect/effect.c
 *
 * Reads the bodies of an operation, as records keep them, into their effect on files and names.
 * The roles of fields decide, never a procedure's number.  The contract is in effect.h.
 */
#include "effect/effect.h"
#include "wire/rpc.h"

enum {
    FATTR3_LEN = 84,
    WCC_ATTR_LEN = 24,
    WANTED_ARGUMENTS = ROLE_OBJECT | ROLE_PARENT | ROLE_NAME | ROLE_PARENT2 | ROLE_NAME2 |
                       ROLE_RANGE_START | ROLE_RANGE_LENGTH | ROLE_ROOT_PATH | ROLE_LINK_TEXT |
                       ROLE_SETS | ROLE_SETS_TIME | ROLE_DATA,
    WANTED_RESULT = ROLE_ATTRIBUTES | ROLE_ATTRIBUTES_NEW | ROLE_ATTRIBUTES_PARENT |
                    ROLE_ATTRIBUTES_PARENT2 | ROLE_BEFORE | ROLE_RANGE_LENGTH | ROLE_LINK_TEXT |
                    ROLE_EOF | ROLE_DATA | ROLE_SETS,
    WANTED_REPLY = WANTED_RESULT | ROLE_NEW_OBJECT,
};

static int64_t load_time(const uint8_t *p)
{
    return (int64_t)load_be32(p) * 1000000000 + load_be32(p + 4);
}

/* Of |count| times side by side. */
static bool is_over(const uint8_t *p, int count)
{
    for (int i = 0; i < count; i++)
        if (load_be32(p + 8 * i + 4) >= 1000000000)
            return true;
    return false;
}

void effect_load_attributes(const uint8_t *p, struct attributes *to)
{
    uint32_t type = load_be32(p);

    to->type = type <= OBJECT_FIFO ? (uint8_t)type : OBJECT_UNKNOWN;
    to->mode = load_be32(p + 4);
    to->nlink = load_be32(p + 8);
    to->uid = load_be32(p + 12);
    to->gid = load_be32(p + 16);
    to->size = load_be64(p + 20);
    to->rdev[0] = load_be32(p + 36);
    to->rdev[1] = load_be32(p + 40);
    to->fsid = load_be64(p + 44);
    to->fileid = load_be64(p + 52);
    to->atime = load_time(p + 60);
    to->mtime = load_time(p + 68);
    to->ctime = load_time(p + 76);
    to->is_over = is_over(p + 60, 3);
}

bool effect_attributes(const struct effect *e, enum whose whose, struct attributes *to)
{
    if (!e->fattr3[whose])
        return false;
    effect_load_attributes(e->fattr3[whose], to);
    return true;
}

bool effect_reads_contents(const struct effect *e)
{
    enum action action = effect_action(e);

    return action == ACTION_READ || action == ACTION_READ_LINK || action == ACTION_LIST;
}

bool effect_changes_rights(const struct effect *e)
{
    enum action action = effect_action(e);

    return e->object_role && (action == ACTION_SET || action == ACTION_SET_OTHER);
}

bool effect_changes_names(const struct effect *e)
{
    enum action action = effect_action(e);

    return (action_takes_name(action) || action_makes_name(action) || action_makes_name2(action)) &&
           e->roles & (ROLE_NAME | ROLE_NAME2);
}

bool effect_before(const struct effect *e, enum whose whose, struct attributes_before *to)
{
    const uint8_t *p = e->wcc_attr[whose];

    if (!p)
        return false;
    to->size = load_be64(p);
    to->mtime = load_time(p + 8);
    to->ctime = load_time(p + 16);
    to->is_over = is_over(p + 8, 2);
    return true;
}

bool effect_change_time(const struct effect *e, int64_t *ctime)
{
    enum whose whose = e->roles & ROLE_PARENT ? OF_PARENT : OF_OBJECT;
    struct attributes a;
    struct attributes_before b;

    if (!e->succeeded || !(e->object_role & ROLE_MODIFIES) || !effect_attributes(e, whose, &a) ||
        (effect_before(e, whose, &b) && b.ctime == a.ctime))
        return false;
    *ctime = a.ctime;
    return true;
}

static enum whose whose_of(uint32_t role)
{
    return role & ROLE_ATTRIBUTES           ? OF_OBJECT
           : role & ROLE_ATTRIBUTES_PARENT  ? OF_PARENT
           : role & ROLE_ATTRIBUTES_PARENT2 ? OF_PARENT2
           : role & ROLE_ATTRIBUTES_NEW     ? OF_NEW_OBJECT
                                            : OF_ENTRY;
}

static void ask(struct asked *a, const struct visit *v)
{
    uint32_t value = (uint32_t)v->value;

    switch (v->field->cls) {
    case CLASS_MODE:
        a->mode = value;
        a->bits |= ASKED_MODE;
        break;
    case CLASS_UID:
        a->uid = value;
        a->bits |= ASKED_UID;
        break;
    case CLASS_GID:
        a->gid = value;
        a->bits |= ASKED_GID;
        break;
    case CLASS_SIZE:
        a->size = v->value;
        a->bits |= ASKED_SIZE;
        break;
    case CLASS_TYPE:
        a->type = value <= OBJECT_FIFO ? value : OBJECT_UNKNOWN;
        a->bits |= ASKED_TYPE;
        break;
    case CLASS_ENUM:
        a->how = value;
        a->bits |= ASKED_HOW;
        break;
    case CLASS_BOOLEAN:
        a->bits |= value ? ASKED_GUARD : 0;
        break;
    case CLASS_COOKIE:
        a->cookie = v->value;
        break;
    default:
        break;
    }
}

static int visit_arguments(void *ctx, const struct visit *v)
{
    struct effect *e = ctx;
    uint32_t role = v->field->role;
    struct bytes b = { v->data, v->len };

    e->roles |= role;
    if (v->cut || v->whole)
        return 0;
    if (role & ROLE_OBJECT) {
        e->object_role = role;
        e->handle = b;
    }
    if (role & ROLE_NAME) {
        e->name = b;
        e->name_role = role;
    }
    if (role & ROLE_PARENT2) {
        e->parent2_role = role;
        e->handle2 = b;
    }
    if (role & ROLE_NAME2) {
        e->name2 = b;
        e->name2_role = role;
    }
    if (role & ROLE_ROOT_PATH)
        e->root_path = b;
    if (role & ROLE_LINK_TEXT)
        e->link_text = b;
    if (role & ROLE_RANGE_START)
        e->offset = v->value;
    if (role & ROLE_RANGE_LENGTH)
        e->count = v->value;
    if (role & ROLE_SETS)
        ask(&e->asked, v);
    if (role & ROLE_SETS_TIME && v->value)
        e->asked.bits |= ASKED_TIMES;
    return 0;
}

static int visit_result(void *ctx, const struct visit *v)
{
    struct effect *e = ctx;
    uint32_t role = v->field->role;

    e->result_roles |= role;
    if (v->whole) {
        if (role & ROLE_BEFORE) {
            /* of whom, the field behind it says */
            if (v->len == WCC_ATTR_LEN)
                e->wcc_attr[whose_of(v->field[1].role)] = v->data;
        } else if (v->len == FATTR3_LEN) {
            e->fattr3[whose_of(role)] = v->data;
        }
        return 0;
    }
    if (v->cut)
        return 0;
    if (role & ROLE_LINK_TEXT)
        e->link_text = (struct bytes){ v->data, v->len };
    if (role & ROLE_RANGE_LENGTH) {
        e->done = v->value;
        e->has_done = true;
    }
    if (role & ROLE_EOF) {
        e->eof = v->value != 0;
        e->has_eof = true;
    }
    if (role & ROLE_SETS) {
        e->granted = (uint32_t)v->value;
        e->has_granted = true;
    }
    if (role & ROLE_NEW_OBJECT)
        e->new_handle = (struct bytes){ v->data, v->len };
    if (role & ROLE_DATA)
        e->contents = (struct bytes){ v->data, v->len };
    return 0;
}

static enum walk_result run(const struct type *type, struct kept_body body,
                            const struct visitor *visitor)
{
    struct walk w;
    enum walk_result result = kept_walk(&w, type, &body, visitor);

    return result == WALK_MALFORMED && w.surplus ? WALK_OK : result;
}

struct effect effect_of_record(const struct record_operation *op)
{
    return (struct effect){ .procedure = procedure_find(op->program, op->version, op->procedure),
                            .program = op->program,
                            .version = op->version,
                            .rpc_status = op->rpc_status,
                            .status = op->status,
                            .call_flags = op->call.flags,
                            .reply_flags = op->reply.flags,
                            .arguments_body = op->arguments,
                            .result_body = op->result,
                            .arguments_length = op->arguments_wire,
                            .result_length = op->result_wire };
}

void effect_decode(struct effect *e)
{
    const struct visitor arguments = { visit_arguments, e, WANTED_ARGUMENTS };
    const struct visitor result = { visit_result, e, WANTED_RESULT };
    uint32_t object = e->object;

    e->arguments = e->result = WALK_TRUNCATED;
    if (!e->procedure)
        return;
    e->arguments = run(e->procedure->arguments, effect_arguments(e), &arguments);
    if (e->roles & ROLE_PARENT)
        e->parent = object;
    if (e->rpc_status == RPC_SUCCESS)
        e->result = run(e->procedure->result, effect_result(e), &result);
    e->succeeded = e->rpc_status == RPC_SUCCESS && e->status == 0;
}

void effect_decode_reply(struct effect *e)
{
    const struct visitor visitor = { visit_result, e, WANTED_REPLY };
    struct bytes body = e->result_body;
    struct walk w;

    e->result = WALK_TRUNCATED;
    if (!e->procedure || e->rpc_status != RPC_SUCCESS)
        return;
    e->result_length = body.len;
    e->result = walk(&w, e->procedure->result, body.data, body.len, body.len, false, &visitor);
    if (e->result == WALK_MALFORMED && w.surplus)
        e->result = WALK_OK;
    e->succeeded = e->status == 0;
}
