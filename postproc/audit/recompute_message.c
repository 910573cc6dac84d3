/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/recompute_message.c
 *
 * Decodes a message as it should be and as it is, and makes a finding of each value that differs.
 * It counts the values that no other key makes: they tell a wrong key from a changed file.  When
 * all values are equal, it says which other byte does not agree.  For recompute.c.  The contract is
 * in recompute.h.
 */
#include "audit/recompute.h"

#include <stdlib.h>

enum { PROTOCOL_TCP = 6, RECORD_MARK = 4, LONG_BYTES = 8 };

/* A message out of frames' payloads; NULL: no memory. */
static struct audit_message *message_of(const struct recompute *r, const struct buf *payload,
                                        uint32_t wire_len, const struct anon_written *written)
{
    uint32_t mark = written->transport == PROTOCOL_TCP ? RECORD_MARK : 0;
    uint32_t len = payload->len > mark ? (uint32_t)payload->len - mark : 0;
    struct audit_message *m = calloc(1, sizeof(*m) + len);

    if (!m)
        return NULL;
    if (len)
        memcpy(m->data, payload->data + mark, len);
    m->cap_len = len;
    m->wire_len = wire_len > mark + len ? wire_len - mark : len;
    m->frame = r->file.frames;
    m->transport = written->transport;
    m->header_cut = rpc_parse(m->data, m->cap_len, m->wire_len, &m->header) != RPC_OK;
    m->is_call = m->header.direction == RPC_CALL;
    if (!m->header_cut && !m->is_call && written->credential)
        rpc_reply_in_clear(m->data, m->cap_len, written->credential, &m->header);
    m->procedure = m->header_cut || m->header.body_protected ? NULL : written->procedure;
    return m;
}

static int no_memory(struct err *err)
{
    return err_memory(err, "a message");
}

/* --- whether the key is the right one --- */

static bool is_kept(const struct policy *policy, unsigned cls, uint64_t value)
{
    for (uint32_t i = 0; i < policy->kept[cls].count; i++)
        if (policy->kept[cls].values[i] == value)
            return true;
    return false;
}

/* Whether a value that should be this is so by no other key. */
static bool tells_key(const struct policy *policy, const struct item *i)
{
    static const bool keyed[RULE_MAX] = {
        [RULE_KEYED] = true, [RULE_TOKEN] = true, [RULE_SAME] = true
    };

    switch (i->cls) {
    case CLASS_NAME:
    case CLASS_PATH:
    case CLASS_HANDLE:
    case CLASS_FILEID:
    case CLASS_FSID:
    case CLASS_UID:
    case CLASS_GID:
        break;
    default:
        return false;
    }
    if (!keyed[policy->rules[i->cls]] || i->is_cut)
        return false;
    if (!i->is_bytes)
        return i->value && !is_kept(policy, i->cls, i->value);
    return i->len >= LONG_BYTES && !bytes_are_zeros(i->data, i->len);
}

int recompute_count(struct recompute *r, const struct anon_written *written, struct err *err)
{
    struct audit_message *m = message_of(r, &r->ours, r->our_len, written);
    int rc = m ? items_read(&r->our_items, m, err) : no_memory(err);

    for (uint32_t i = 0; rc == 0 && i < r->our_items.count; i++)
        r->right += tells_key(r->policy, &r->our_items.all[i]);
    free(m);
    return rc;
}

/* --- what differs --- */

/* From byte |from| on. */
static struct quote quote_item(const struct item *i, uint32_t from)
{
    return i->is_bytes ? quote_bytes(i->data + from, i->len - from) : quote_number(i->value);
}

/* From where on long values are shown, so that the difference is. */
static uint32_t shown_from(const struct item *e, const struct item *n)
{
    uint32_t at = 0;

    while (e->is_bytes && at < e->len && at < n->len && e->data[at] == n->data[at])
        at++;
    return at + LONG_BYTES > FINDING_BYTES ? at - LONG_BYTES : 0;
}

static void find_item(struct recompute *r, unsigned cls, const char *path, const struct item *e,
                      const struct item *n)
{
    uint32_t from = shown_from(e, n);
    struct quote ours = quote_item(e, from), theirs = quote_item(n, from);
    char text[64] = "";

    if (from)
        snprintf(text, sizeof(text), "shown from byte %u of the value on", from);
    recompute_find(r, item_class_name(cls), path, &ours, &theirs, text);
}

static bool is_same(const struct item *e, const struct item *n)
{
    if (e->is_cut != n->is_cut || e->full_len != n->full_len || e->len != n->len)
        return false;
    return e->is_bytes ? !e->len || memcmp(e->data, n->data, e->len) == 0 : e->value == n->value;
}

/* How many values were found to be otherwise. */
static uint64_t compare_items(struct recompute *r, const struct audit_message *m)
{
    const struct items *x = &r->our_items, *y = &r->their_items;
    uint64_t found = 0;
    char path[WALK_PATH_MAX];
    uint32_t i;

    for (i = 0; i < x->count && i < y->count; i++) {
        const struct item *e = &x->all[i], *n = &y->all[i];

        if (e->field != n->field || e->cls != n->cls)
            break;
        if (is_same(e, n)) {
            r->right += tells_key(r->policy, e);
            continue;
        }
        r->wrong += tells_key(r->policy, e);
        found++;
        find_item(r, e->cls, item_path(m, x, i, path), e, n);
    }
    if (i == x->count && i == y->count)
        return found;
    recompute_find(r, "structure", i < x->count ? item_path(m, x, i, path) : "(end)", NULL, NULL,
                   i == x->count   ? "fields follow that should not be there"
                   : i == y->count ? "fields from here on are not there"
                                   : "another field is here");
    return found + 1;
}

static void find_bytes(struct recompute *r, const struct audit_message *ours,
                       const struct audit_message *theirs)
{
    uint32_t at = 0;
    char text[96];

    while (at < ours->cap_len && at < theirs->cap_len && ours->data[at] == theirs->data[at])
        at++;
    if (at == ours->cap_len && at == theirs->cap_len)
        snprintf(text, sizeof(text), "its length is not that of its contents");
    else
        snprintf(text, sizeof(text), "byte %u, which is in no value", at);
    recompute_find(r, "message", "RPC message", NULL, NULL, text);
}

int recompute_message(struct recompute *r, const struct anon_written *written, struct err *err)
{
    struct audit_message *ours = message_of(r, &r->ours, r->our_len, written);
    struct audit_message *theirs = message_of(r, &r->theirs, r->their_len, written);
    uint64_t found = 0;
    int rc = ours && theirs ? 0 : no_memory(err);

    if (rc == 0)
        rc = items_read(&r->our_items, ours, err);
    if (rc == 0)
        rc = items_read(&r->their_items, theirs, err);
    if (rc == 0 && written->transport == PROTOCOL_TCP && r->our_len == r->their_len &&
        r->ours.len >= RECORD_MARK && r->theirs.len >= RECORD_MARK &&
        memcmp(r->ours.data, r->theirs.data, RECORD_MARK) != 0) {
        recompute_find(r, "record mark", "RPC record mark", NULL, NULL, "");
        found++;
    }
    if (rc == 0)
        found += compare_items(r, ours);
    if (rc == 0 && !found)
        find_bytes(r, ours, theirs);
    free(ours);
    free(theirs);
    return rc;
}
