/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/scan.c
 *
 * A visitor of a body (wire/walk.h) that keeps the values which pairing and objects need.  For
 * pair.c and pair_reply.c.  The contract is in scan.h.
 */
#include "flow/scan.h"
#include "record/record.h"

#include <stdio.h>

enum {
    WANTED = ROLE_OBJECT | ROLE_PARENT | ROLE_NAME | ROLE_PARENT2 | ROLE_NAME2 | ROLE_NEW_OBJECT |
             ROLE_ENTRY_NAME | ROLE_ENTRY_OBJECT | ROLE_RANGE_START | ROLE_RANGE_LENGTH |
             ROLE_STATUS | ROLE_ATTRIBUTES | ROLE_ATTRIBUTES_NEW | ROLE_ATTRIBUTES_ENTRY |
             ROLE_ROOT_PATH | ROLE_DATA | ROLE_PORT_PROGRAM | ROLE_PORT,
};

static int attribute(void *ctx, const struct visit *v)
{
    struct scan_identity *i = ctx;

    if (v->field->cls == CLASS_TYPE)
        i->type = v->value <= OBJECT_FIFO ? (uint8_t)v->value : OBJECT_UNKNOWN;
    else if (v->field->cls == CLASS_COUNT) /* nlink, the only one in fattr3 */
        i->links = (uint32_t)v->value;
    else if (v->field->cls == CLASS_FSID)
        i->fsid = v->value;
    else if (v->field->cls == CLASS_FILEID)
        i->fileid = v->value;
    return 0;
}

struct scan_identity scan_identify(struct scan_attributes attributes)
{
    struct scan_identity i = { 0 };
    struct visitor v = { .visit = attribute, .ctx = &i };
    struct walk w;

    if (attributes.data)
        walk(&w, attributes.type, attributes.data, attributes.len, attributes.len, false, &v);
    return i;
}

/* The port of a universal address (RFC 5665 s5.2.3.3), or of a number. */
static uint16_t port_of(const struct visit *v)
{
    uint32_t part[2] = { 0 }, dots = 0;

    if (v->field->kind != XDR_STRING && v->field->kind != XDR_OPAQUE)
        return v->value > UINT16_MAX ? 0 : (uint16_t)v->value;
    for (uint32_t i = v->len; i > 0 && dots < 2; i--)
        if (v->data[i - 1] == '.') {
            dots++;
            for (uint32_t j = i; j < v->len && v->data[j] >= '0' && v->data[j] <= '9'; j++)
                part[2 - dots] = (part[2 - dots] * 10 + (uint32_t)(v->data[j] - '0')) & 0xffff;
        }
    return dots == 2 && part[0] < 256 && part[1] < 256 ? (uint16_t)(part[0] << 8 | part[1]) : 0;
}

static void take_whole(struct scan *s, const struct visit *v)
{
    uint32_t role = v->field->role;
    struct scan_attributes *to = role & ROLE_ATTRIBUTES       ? &s->attributes
                                 : role & ROLE_ATTRIBUTES_NEW ? &s->attributes_new
                                                              : &s->entry.about;

    if (v->len && (role & (ROLE_ATTRIBUTES | ROLE_ATTRIBUTES_NEW | ROLE_ATTRIBUTES_ENTRY)))
        *to = (struct scan_attributes){ v->field->sub, v->data, v->len };
}

/* Handles and names. */
static void take_bytes(struct scan *s, uint32_t role, struct bytes b)
{
    if (role & ROLE_OBJECT) {
        s->object = b;
        s->object_role = role;
    }
    if (role & ROLE_PARENT)
        s->parent = b;
    if (role & ROLE_PARENT2) {
        s->parent2 = b;
        s->parent2_role = role;
    }
    if (role & ROLE_NAME) {
        s->name = b;
        s->name_role = role;
    }
    if (role & ROLE_NAME2) {
        s->name2 = b;
        s->name2_role = role;
    }
    if (role & ROLE_NEW_OBJECT)
        s->new_object = b;
    if (role & ROLE_ROOT_PATH)
        s->root_path = b;
}

static int visit(void *ctx, const struct visit *v)
{
    struct scan *s = ctx;
    uint32_t role = v->field->role;
    struct bytes b = { v->data, v->len };

    s->roles |= role;
    if (v->whole) {
        take_whole(s, v);
        return 0;
    }
    if (role & ROLE_DATA) {
        s->has_data = true;
        s->data_at = v->offset;
        s->data_len = v->len;
        s->data_full = v->full_len;
        return 0;
    }
    if (v->cut)
        return 0;
    if (role & ROLE_STATUS)
        s->status = (int64_t)v->value;
    take_bytes(s, role, b);
    if (role & ROLE_RANGE_START)
        s->offset = v->value;
    if (role & ROLE_RANGE_LENGTH)
        s->count = v->value;
    if (role & ROLE_PORT_PROGRAM)
        s->port_program = (uint32_t)v->value;
    if ((role & ROLE_PORT) && s->port_program && s->host)
        s->host->port(s->host->ctx, s->port_program, port_of(v));
    if (role & ROLE_ENTRY_NAME)
        s->entry = (struct scan_entry){ .name = b };
    if ((role & ROLE_ENTRY_OBJECT) && s->host) {
        s->entry.handle = b;
        s->failed = s->host->entry(s->host->ctx, &s->entry, s->err);
    }
    return s->failed;
}

int scan_body(struct scan *s, const struct type *type, const struct captured *body,
              char problem[SCAN_PROBLEM_MAX], struct err *err)
{
    struct visitor v = { .visit = visit, .ctx = s, .roles = WANTED };
    const struct scan_host *host = s->host;
    uint32_t port_program = s->port_program;
    char path[WALK_PATH_MAX];
    struct walk w;

    memset(s, 0, sizeof(*s));
    s->port_program = port_program;
    s->status = STATUS_NONE;
    s->host = host;
    s->err = err;
    s->result = rpc_body_walk(&w, type, body, &v);
    s->offset_end = w.offset;
    if (s->result == WALK_STOPPED)
        return s->failed;
    if (s->result == WALK_MALFORMED && problem)
        snprintf(problem, SCAN_PROBLEM_MAX, "%s: %s at offset %u of the body",
                 walk_path(&w, NULL, path), w.problem, w.offset);
    return 0;
}

uint32_t scan_kept(const struct scan *s, uint32_t cap_len)
{
    uint32_t kept = cap_len;

    if (s->has_data && s->data_at < kept)
        kept = s->data_at;
    if (s->result == WALK_MALFORMED && s->offset_end < kept)
        kept = s->offset_end;
    return kept;
}
