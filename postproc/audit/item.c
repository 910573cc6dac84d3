/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/item.c
 *
 * Lists the words of the RPC header here, and lets wire/walk.h list the fields of the body.  The
 * path of an item is made only when it is asked for, by a second walk that ends there: most items
 * are never named.  For all parts of the audit that look at messages.  The contract is in item.h.
 */
#include "audit/item.h"
#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>

const char *item_class_name(unsigned cls)
{
    static const char *const names[] = { "header", "xid", "stamp", "credential" };

    return cls < CLASS_MAX ? class_name(cls) : names[cls - CLASS_MAX];
}

void items_free(struct items *items)
{
    free(items->all);
    memset(items, 0, sizeof(*items));
}

static struct item *add(struct items *items)
{
    if (GROW(items->all, items->count, items->cap) < 0)
        return NULL;
    memset(&items->all[items->count], 0, sizeof(struct item));
    return &items->all[items->count++];
}

/* --- the header --- */

struct header {
    struct items *items;
    const struct audit_message *m;
    uint32_t at;
    bool failed; /* no memory */
};

static void word(struct header *h, unsigned cls, const char *name)
{
    struct item *item;

    if (h->failed || h->at + 4 > h->m->cap_len)
        return;
    item = add(h->items);
    h->failed = !item;
    if (!item)
        return;
    item->name = name;
    item->cls = (uint8_t)cls;
    item->bits = 32;
    item->offset = h->at;
    item->len = item->full_len = 4;
    item->data = h->m->data + h->at;
    item->value = load_be32(item->data);
    h->at += 4;
}

/* Length and bytes, of which the header's reader has seen that they are there. */
static void opaque(struct header *h, unsigned cls, const char *name)
{
    uint32_t len;
    struct item *item;

    if (h->failed || h->at + 4 > h->m->cap_len)
        return;
    len = load_be32(h->m->data + h->at);
    if (len > h->m->cap_len - h->at - 4)
        return;
    item = add(h->items);
    h->failed = !item;
    if (!item)
        return;
    item->name = name;
    item->cls = (uint8_t)cls;
    item->is_bytes = item->has_length = true;
    item->offset = h->at + 4;
    item->len = item->full_len = len;
    item->data = h->m->data + h->at + 4;
    h->at += 4 + ((len + 3) & ~3u);
}

static void auth(struct header *h, const struct rpc_auth *a, bool credential)
{
    word(h, ITEM_HEADER, credential ? "credential flavor" : "verifier flavor");
    if (!credential || !a->valid || (a->flavor != RPC_AUTH_SYS && a->flavor != RPC_GSS)) {
        opaque(h, ITEM_CREDENTIAL, credential ? "credential" : "verifier");
        return;
    }
    h->at += 4; /* its length follows from what is in it */
    if (a->flavor == RPC_GSS) {
        word(h, ITEM_HEADER, "gss version");
        word(h, ITEM_HEADER, "gss procedure");
        word(h, ITEM_HEADER, "gss sequence");
        word(h, ITEM_HEADER, "gss service");
        opaque(h, ITEM_CREDENTIAL, "gss context");
        return;
    }
    word(h, ITEM_STAMP, "stamp");
    opaque(h, CLASS_HOST, "machine");
    word(h, CLASS_UID, "uid");
    word(h, CLASS_GID, "gid");
    word(h, ITEM_HEADER, "count of gids");
    for (uint32_t i = 0; i < a->gid_count; i++)
        word(h, CLASS_GID, "gids");
}

static int read_header(struct items *items, const struct audit_message *m)
{
    const struct rpc_header *r = &m->header;
    struct header h = { .items = items, .m = m };
    bool denied = r->status == RPC_MISMATCH || r->status == RPC_AUTH_ERROR;

    word(&h, ITEM_XID, "xid");
    word(&h, ITEM_HEADER, "direction");
    if (m->header_cut) {
        for (unsigned i = 0; m->is_call && r->body >= 24 && i < 4; i++)
            word(&h, ITEM_HEADER, "program");
    } else if (m->is_call) {
        word(&h, ITEM_HEADER, "rpc version");
        word(&h, ITEM_HEADER, "program");
        word(&h, ITEM_HEADER, "version");
        word(&h, ITEM_HEADER, "procedure");
        auth(&h, &r->credential, true);
        auth(&h, &r->verifier, false);
    } else {
        word(&h, ITEM_HEADER, "reply state");
        if (!denied)
            auth(&h, &r->verifier, false);
        word(&h, ITEM_HEADER, "status");
        if (r->status == RPC_PROG_MISMATCH || r->status == RPC_MISMATCH)
            word(&h, ITEM_HEADER, "lowest version");
        if (denied || r->status == RPC_PROG_MISMATCH)
            word(&h, ITEM_HEADER, "detail");
    }
    items->read_to = h.at;
    return h.failed ? -1 : 0;
}

/* --- the body --- */

static bool has_bytes(const struct field *field)
{
    return field->kind == XDR_STRING || field->kind == XDR_OPAQUE || field->kind == XDR_FIXED;
}

struct body {
    struct items *items;
    const struct audit_message *m;
    bool failed;
};

static int visit(void *ctx, const struct visit *v)
{
    struct body *b = ctx;
    struct item *item;

    if (v->whole)
        return 0;
    item = add(b->items);
    b->failed = !item;
    if (!item)
        return 1;
    item->field = v->field;
    item->cls = v->field->cls;
    item->is_bytes = has_bytes(v->field);
    item->has_length = item->is_bytes && v->field->kind != XDR_FIXED;
    item->is_cut = v->cut;
    item->bits = item->is_bytes ? 0 : v->field->kind == XDR_U64 ? 64 : 32;
    item->data = v->data;
    item->offset = (uint32_t)(v->data - b->m->data);
    item->len = v->len;
    item->full_len = v->full_len;
    item->value = item->bits == 32 ? (uint32_t)v->value : v->value;
    return 0;
}

/* The captured part of the body. */
static uint32_t body_here(const struct audit_message *m)
{
    uint32_t here = m->cap_len > m->header.body ? m->cap_len - m->header.body : 0;

    return here < m->header.body_len ? here : m->header.body_len;
}

static const struct type *body_type(const struct audit_message *m)
{
    if (!m->procedure || m->header_cut || (!m->is_call && m->header.status != RPC_SUCCESS))
        return NULL;
    return m->is_call ? m->procedure->arguments : m->procedure->result;
}

void items_walk(const struct audit_message *m, const struct visitor *visitor)
{
    struct walk w;

    if (body_type(m))
        walk(&w, body_type(m), m->data + m->header.body, body_here(m), m->header.body_len, false,
             visitor);
}

int items_read(struct items *items, const struct audit_message *m, struct err *err)
{
    const struct type *type = body_type(m);
    struct body body = { items, m, false };
    const struct visitor visitor = { visit, &body, 0 };
    struct walk w;

    items->count = 0;
    items->result = WALK_STOPPED;
    items->surplus = false;
    if (read_header(items, m) < 0)
        body.failed = true;
    if (!body.failed && type) {
        items->result = walk(&w, type, m->data + m->header.body, body_here(m), m->header.body_len,
                             false, &visitor);
        items->surplus = w.surplus;
        items->read_to = m->header.body + w.offset;
    }
    return body.failed ? err_memory(err, "a message's fields") : 0;
}

struct seek {
    uint32_t left;
    char *text;
};

static int seek(void *ctx, const struct visit *v)
{
    struct seek *s = ctx;

    if (v->whole || s->left--)
        return 0;
    walk_path(v->walk, v->field, s->text);
    return 1;
}

const char *item_path(const struct audit_message *m, const struct items *items, uint32_t index,
                      char text[WALK_PATH_MAX])
{
    struct seek s = { index, text };
    const struct visitor visitor = { seek, &s, 0 };

    snprintf(text, WALK_PATH_MAX, "(end)");
    for (uint32_t i = 0; i < items->count && !items->all[i].field; i++)
        s.left -= i < index;
    if (index < items->count && !items->all[index].field)
        snprintf(text, WALK_PATH_MAX, "RPC %s", items->all[index].name);
    else if (index < items->count)
        items_walk(m, &visitor);
    return text;
}
