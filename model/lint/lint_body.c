/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_body.h"

#include <string.h>

struct reading {
    struct lint_body *body;
    enum action action;
    bool in_result, behind_guard;
};

static void take_enum(const struct reading *r, uint32_t value)
{
    struct lint_body *b = r->body;

    if (r->action == ACTION_ASK && !r->in_result) {
        b->wanted = value;
        b->has_wanted = true;
    }
    if (r->action != ACTION_WRITE)
        return;
    if (r->in_result) {
        b->committed = value;
        b->has_committed = true;
    } else {
        b->stable = value;
        b->has_stable = true;
    }
}

/* The guard is the time behind the one boolean that has a role. */
static void take_guard(struct reading *r, const struct visit *v)
{
    if (r->action != ACTION_SET || r->in_result)
        return;
    if (v->field->cls == CLASS_BOOLEAN && v->field->role & ROLE_SETS)
        r->behind_guard = v->value != 0;
    else if (r->behind_guard && v->field->cls == CLASS_TIME)
        r->body->guard = (int64_t)v->value * 1000000000;
    else if (r->behind_guard && v->field->cls == CLASS_INTERVAL) {
        r->body->guard += (int64_t)v->value;
        r->body->has_guard = true;
        r->behind_guard = false;
    }
}

static int visit(void *ctx, const struct visit *v)
{
    struct reading *r = ctx;
    struct lint_body *b = r->body;

    if (v->whole)
        return 0;
    switch (v->field->cls) {
    case CLASS_DATA:
        *(r->in_result ? &b->returned : &b->sent) = v->full_len;
        *(r->in_result ? &b->has_returned : &b->has_sent) = true;
        break;
    case CLASS_ENUM:
        take_enum(r, (uint32_t)v->value);
        break;
    case CLASS_COUNT: /* the last one bounds the whole result */
        if (r->action == ACTION_LIST && !r->in_result) {
            b->limit = v->value;
            b->has_limit = true;
        }
        break;
    case CLASS_SIZE: /* of FSINFO, by the RFC's name of the field */
        if (r->action == ACTION_ASK_FILE_SYSTEM && strcmp(v->field->name, "wtmax") == 0) {
            b->wtmax = (uint32_t)v->value;
            b->has_wtmax = true;
        } else if (r->action == ACTION_ASK_FILE_SYSTEM &&
                   strcmp(v->field->name, "maxfilesize") == 0) {
            b->largest = v->value;
        }
        break;
    case CLASS_VERIFIER:
        if (r->in_result && !v->cut && v->len == NFS3_WRITEVERFSIZE &&
            (r->action == ACTION_WRITE || r->action == ACTION_FLUSH)) {
            b->verifier = v->data;
            b->has_verifier = true;
        }
        if (!r->in_result && !v->cut && v->len == sizeof(b->made_by)) {
            b->made_by = load_be64(v->data);
            b->has_made_by = true;
        }
        break;
    default:
        take_guard(r, v);
    }
    return 0;
}

static void read_body(struct reading *r, const struct type *type, struct kept_body kept,
                      uint32_t roles)
{
    const struct visitor visitor = { visit, r, roles };
    struct walk w;

    kept_walk(&w, type, &kept, &visitor);
}

void lint_body_read(const struct effect *e, struct lint_body *body)
{
    struct reading r = { .body = body, .action = effect_action(e) };

    *body = (struct lint_body){ 0 };
    if (r.action == ACTION_WRITE || r.action == ACTION_LIST ||
        (r.action == ACTION_ASK && e->has_granted) ||
        (r.action == ACTION_SET && e->asked.bits & ASKED_GUARD) ||
        (r.action == ACTION_MAKE && e->asked.bits & ASKED_HOW && e->asked.how == EXCLUSIVE))
        read_body(&r, e->procedure->arguments, effect_arguments(e), 0);
    r.in_result = true;
    if (e->succeeded && (r.action == ACTION_WRITE || r.action == ACTION_FLUSH ||
                         r.action == ACTION_ASK_FILE_SYSTEM))
        read_body(&r, e->procedure->result, effect_result(e), 0);
    else if (e->succeeded && r.action == ACTION_READ)
        read_body(&r, e->procedure->result, effect_result(e), ROLE_DATA);
}
