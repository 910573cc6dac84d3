/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/audit_parts.h"

static bool stays(const struct item *item)
{
    switch (item->cls) {
    case CLASS_TIME:
    case CLASS_INTERVAL:
    case CLASS_SIZE:
    case CLASS_OFFSET:
    case CLASS_COUNT:
    case CLASS_MODE:
    case CLASS_TYPE:
    case CLASS_STATUS:
    case CLASS_BOOLEAN:
    case CLASS_ENUM:
    case ITEM_HEADER:
    case ITEM_XID:
        return true;
    case CLASS_NONE:
        return !item->is_bytes;
    default:
        return false;
    }
}

/* Suffixes, prefixes and slashes of names. */
static void mask_name(const struct audit *a, const uint8_t *name, uint32_t len, uint8_t *mask)
{
    size_t suffix = allow_suffix(&a->allow, name, len);

    memset(mask + len - suffix, 1, suffix);
    memset(mask, 1, allow_prefix(&a->allow, name, len));
}

static void mask_text(const struct audit *a, const struct item *item, uint8_t *mask)
{
    uint32_t start = 0;

    for (uint32_t i = 0; i <= item->len; i++) {
        if (i < item->len && (item->cls != CLASS_PATH || item->data[i] != '/'))
            continue;
        mask_name(a, item->data + start, i - start, mask + start);
        if (i < item->len)
            mask[i] = 1;
        start = i + 1;
    }
}

/* Well-known texts, and addresses: these are searched for as such, and digits of one are soon like
 * those of another. */
static bool may_stay(const struct audit *a, const struct item *item)
{
    struct address address;
    bool exact;

    if (allow_text(&a->allow, item->data, item->len))
        return true;
    return (item->cls == CLASS_ADDRESS || item->cls == CLASS_HOST) &&
           text_address(item->data, item->len, &address, &exact);
}

static void find_bytes(struct audit *a, const struct audit_message *m, unsigned kind,
                       const char *what, const char *place, const uint8_t *data, uint32_t len)
{
    struct finding f = { .kind = (uint8_t)kind, .what = what, .offset = -1, .frame = m->frame };

    snprintf(f.place, sizeof(f.place), "%s", place);
    f.anonymized = quote_bytes(data, len);
    audit_find(a, &f);
}

/* What stands behind everything that was read. */
static void check_rest(struct audit *a, const struct audit_message *m, const struct items *items)
{
    uint32_t at = items->read_to;

    /* a checksum's length behind a body that RPCSEC_GSS wraps, RFC 2203 s5.3.2.2 */
    if (!m->header_cut && m->header.body + m->header.body_len < m->wire_len &&
        at == m->header.body + m->header.body_len)
        at += 4;
    if (at < m->cap_len && !bytes_are_zeros(m->data + at, m->cap_len - at))
        find_bytes(a, m, FOUND_SURPLUS, "bytes", "behind what could be read", m->data + at,
                   m->cap_len - at);
}

int mask_message(struct audit *a, const struct audit_message *m, const struct items *items,
                 uint8_t *mask, struct err *err)
{
    char path[WALK_PATH_MAX];
    uint32_t read_to = items->read_to < m->cap_len ? items->read_to : m->cap_len;

    (void)err;
    memset(mask, 0, m->cap_len);
    memset(mask, 1, read_to);
    for (uint32_t i = 0; i < items->count; i++) {
        const struct item *item = &items->all[i];
        uint32_t end = item->offset + item->len, padding = -item->len & 3;

        if (item->is_bytes && !item->is_cut && end + padding <= m->cap_len &&
            !bytes_are_zeros(m->data + end, padding))
            find_bytes(a, m, FOUND_PADDING, item_class_name(item->cls),
                       item_path(m, items, i, path), m->data + end, padding);
        if (stays(item) || end > m->cap_len)
            continue;
        memset(mask + item->offset, 0, item->len);
        if (item->is_bytes && may_stay(a, item))
            memset(mask + item->offset, 1, item->len);
        else if (item->cls == CLASS_NAME || item->cls == CLASS_PATH)
            mask_text(a, item, mask + item->offset);
    }
    check_rest(a, m, items);
    return 0;
}
