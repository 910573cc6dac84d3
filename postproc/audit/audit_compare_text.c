/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/audit_compare_text.c
 *
 * Compares names, paths, hosts and addresses with what they became; paths component by component.
 * All mapped values, also audit_compare.c's, go through compare_pair.  It finds values that stayed,
 * originals with two pseudonyms, and pseudonyms of two originals.  It chooses which new pairs
 * keyed.c tests.  For audit_compare.c; place_finding is for all that compares.  The contract is in
 * audit_parts.h.
 */
#include "audit/audit_parts.h"
#include "base/bytes.h"
#include "base/digest.h"

void place_finding(const struct place *p, unsigned kind, const char *what, struct finding *f)
{
    memset(f, 0, sizeof(*f));
    f->kind = (uint8_t)kind;
    f->what = what;
    f->offset = -1;
    f->frame = p->anonymized ? p->anonymized->frame : 0;
    f->original_frame = p->original ? p->original->frame : 0;
    if (p->original && p->comparer)
        item_path(p->original, &p->comparer->original, p->index, f->place);
}

static struct quote quote_value(unsigned bits, struct pair_value v)
{
    if (bits == 32)
        return quote_number(load_be32(v.data));
    if (bits == 64)
        return quote_number(load_be64(v.data));
    return quote_bytes(v.data, v.len);
}

static void find_pair(struct audit *a, const struct place *p, unsigned kind,
                      const struct pair_values *pair, uint64_t other)
{
    struct finding f;

    place_finding(p, kind, domain_name(pair->domain), &f);
    f.original = quote_value(pair->bits, pair->from);
    f.anonymized = quote_value(pair->bits, pair->to);
    if (other)
        snprintf(f.text, sizeof(f.text), "the other one is in frame %llu of the original",
                 (unsigned long long)other);
    audit_find(a, &f);
}

/* A short text that stayed: whether by chance is known when all were seen. */
static void note_short(struct audit *a, const struct place *p, enum domain domain,
                       struct pair_value value)
{
    struct finding *f = &a->names.short_findings[a->names.short_finding_count];

    a->names.short_same[value.len]++;
    if (a->names.short_finding_count == FINDINGS_SHOWN)
        return;
    a->names.short_finding_count++;
    place_finding(p, FOUND_IDENTITY, domain_name(domain), f);
    f->original = f->anonymized = quote_value(0, value);
}

/* Verifiers are mapped half by half, so that times that hold a half agree with it; a half of
 * nothing but the bits that servers cut off stays (releasing.md). */
static int test_verifier(struct audit *a, struct pair_value from, struct pair_value to,
                         struct err *err)
{
    bool is_new[2] = { false, false };

    for (unsigned i = 0; i < 2; i++) {
        uint32_t half = load_be32((const uint8_t *)from.data + 4 * i);
        struct pair_entry entry = { .key = { XXH3_64bits(&half, sizeof(half)), half } };

        if (!(half & ~0x80000080u) || a->halves.count >= PAIRS_MAX / 4 ||
            pair_side_find(&a->halves, entry.key))
            continue;
        if (pair_side_add(&a->halves, &entry, err) < 0)
            return -err->code;
        is_new[i] = true;
    }
    keyed_halves(&a->keyed, DOMAIN_VERIFIER, is_new, from, to);
    return 0;
}

/* How much of a name's beginning and end is in both and allowed to stay. */
static void strip(struct audit *a, struct pair_value o, struct pair_value n, uint32_t kept[2])
{
    const uint8_t *x = o.data, *y = n.data;
    size_t suffix = allow_suffix(&a->allow, x, o.len), prefix;

    while (suffix && (suffix >= n.len || memcmp(x + o.len - suffix, y + n.len - suffix, suffix)))
        suffix = allow_suffix(&a->allow, x + o.len - suffix, suffix);
    prefix = allow_prefix(&a->allow, x, o.len - suffix);
    while (prefix && (prefix >= n.len - suffix || memcmp(x, y, prefix)))
        prefix = allow_prefix(&a->allow, x, prefix);
    kept[0] = (uint32_t)prefix;
    kept[1] = (uint32_t)suffix;
}

/* Whether a class's pseudonyms must depend on a key, and shall be tested for it. */
static int test_keyed(struct audit *a, const struct pair_values *pair, struct err *err)
{
    enum domain domain = pair->domain;
    struct pair_value from = pair->from, to = pair->to;
    const uint8_t *x = from.data, *y = to.data;
    struct address address;
    bool exact, is_text = domain == DOMAIN_NAME || domain == DOMAIN_HOST;
    uint32_t kept[2] = { 0, 0 };

    switch (domain) {
    case DOMAIN_NAME:
        strip(a, from, to, kept);
        break;
    case DOMAIN_HOST:
        if (text_address(x, from.len, &address, &exact))
            return 0;
        kept[0] = from.len && to.len && *x == '@' && *y == '@';
        break;
    case DOMAIN_ADDRESS:
        if (from.len == to.len && (from.len == 4 || from.len == 16))
            keyed_address(&a->keyed, domain, from, to);
        return 0;
    case DOMAIN_LOCK_OWNER:
    case DOMAIN_OPAQUE:
        if (!bytes_are_zeros(to.data, to.len))
            keyed_digests(&a->keyed, domain, from, to);
        return 0;
    case DOMAIN_HANDLE:
    case DOMAIN_UID:
    case DOMAIN_GID:
    case DOMAIN_FILEID:
    case DOMAIN_FSID:
    case DOMAIN_COOKIE:
    case DOMAIN_VERIFIER:
    case DOMAIN_STAMP:
        break;
    default:
        return 0;
    }
    for (uint32_t i = 0; i < to.len; i++)
        if (y[i]) {
            if (domain == DOMAIN_VERIFIER && from.len == 8 && to.len == 8)
                return test_verifier(a, from, to, err);
            keyed_pair(&a->keyed, pair, is_text, kept);
            return 0;
        }
    return 0;
}

int compare_pair(struct audit *a, const struct place *p, const struct pair_values *compared,
                 bool *is_new, struct err *err)
{
    struct domain_row *row = &a->domains[compared->domain];
    struct pair_value from = compared->from, to = compared->to;
    bool same = from.len == to.len && memcmp(from.data, to.data, from.len) == 0;
    bool is_short = !compared->bits && from.len < SHORT_NAME, kept = compared->kept && same;
    struct pair_values pair = *compared;
    struct pair_result result;

    row->compared++;
    if (kept)
        row->kept++;
    pair.kept = kept;
    if (pairs_add(&a->pairs, &pair, p->original->frame, &result, err) < 0)
        return -ERR_SYSTEM;
    if (is_new)
        *is_new = result.is_new;
    if (result.is_new && !kept && !same && test_keyed(a, &pair, err) < 0)
        return -err->code;
    if (is_short && result.is_new && !kept)
        a->names.short_seen[from.len]++;
    if (same && !kept) {
        row->same++;
        if (!is_short)
            find_pair(a, p, FOUND_IDENTITY, &pair, 0);
        else if (result.is_new)
            note_short(a, p, pair.domain, from);
    }
    if (result.contradicts) {
        row->contradictions++;
        find_pair(a, p, FOUND_FUNCTION, &pair, result.frame);
    }
    if (result.collides) {
        row->collisions++;
        find_pair(a, p, FOUND_COLLISION, &pair, result.frame);
    }
    row->zero_collisions += result.collides_in_zero;
    if (!same) {
        const uint8_t *b = to.data;
        bool zero = true;

        for (uint32_t i = 0; i < to.len && zero; i++)
            zero = !b[i];
        *(zero ? &row->changed_to_zero : &row->changed) += 1;
    }
    return 0;
}

/* --- names --- */

static bool is_dots(struct pair_value v)
{
    return v.len == 0 || bytes_are_dots((struct bytes){ v.data, v.len });
}

static int compare_name(struct audit *a, const struct place *p, struct pair_value o,
                        struct pair_value n, struct err *err)
{
    uint32_t kept[2], n_len;
    bool is_new, dots = is_dots(o);
    const struct pair_values pair = { DOMAIN_NAME, 0, o, n, dots };

    if (compare_pair(a, p, &pair, &is_new, err) < 0)
        return -err->code;
    if (!is_new || dots)
        return 0;
    strip(a, o, n, kept);
    n_len = n.len - kept[0] - kept[1];
    a->names.distinct++;
    a->names.suffix += kept[1] > 0;
    a->names.prefix += kept[0] > 0;
    a->names.same_length += o.len == n.len;
    a->names.lengths[n_len < LENGTHS ? n_len : LENGTHS - 1]++;
    return 0;
}

static uint32_t count_components(const struct item *item)
{
    uint32_t count = 1;

    for (uint32_t i = 0; i < item->len; i++)
        count += item->data[i] == '/';
    return count;
}

static struct pair_value next_component(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *slash = *at < end ? memchr(*at, '/', (size_t)(end - *at)) : NULL;
    struct pair_value v = { *at, (uint32_t)((slash ? slash : end) - *at) };

    *at = slash ? slash + 1 : end;
    return v;
}

static int compare_path(struct audit *a, const struct place *p, const struct item *o,
                        const struct item *n, struct err *err)
{
    const struct pair_values whole = { .domain = DOMAIN_PATH,
                                       .from = { o->data, o->len },
                                       .to = { n->data, n->len } };
    uint32_t count = count_components(o);
    const uint8_t *x = o->data, *y = n->data;
    int rc = 0;

    a->names.paths++;
    if (count_components(n) != count) {
        a->names.paths_flattened++;
        return compare_pair(a, p, &whole, NULL, err);
    }
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = compare_name(a, p, next_component(&x, o->data + o->len),
                          next_component(&y, n->data + n->len), err);
    return rc;
}

/* --- hosts and addresses --- */

int compare_address(struct audit *a, const struct place *p, const struct address *o,
                    const struct address *n, struct err *err)
{
    struct pair_values pair = { .domain = DOMAIN_ADDRESS,
                                .bits = o->version == 4 ? 32 : 128,
                                .from = { o->bytes, address_len(o) },
                                .to = { n->bytes, address_len(n) } };
    struct finding f;

    if (o->version == n->version) {
        pair.kept = secret_is_special_address(o);
        return compare_pair(a, p, &pair, NULL, err);
    }
    place_finding(p, FOUND_STRUCTURE, domain_name(DOMAIN_ADDRESS), &f);
    snprintf(f.text, sizeof(f.text), "another version of IP");
    audit_find(a, &f);
    return 0;
}

static int compare_host(struct audit *a, const struct place *p, const struct item *o,
                        const struct item *n, struct err *err)
{
    struct pair_values pair = { .domain = DOMAIN_HOST,
                                .from = { o->data, o->len },
                                .to = { n->data, n->len },
                                .kept = allow_text(&a->allow, o->data, o->len) || !o->len };
    struct address x, y;
    bool exact, n_exact;

    /* everybody, exports(5); and a netgroup's sign without a name */
    pair.kept |= o->len == 1 && (o->data[0] == '*' || o->data[0] == '@');
    if (!text_address(o->data, o->len, &x, &exact) || !text_address(n->data, n->len, &y, &n_exact))
        return compare_pair(a, p, &pair, NULL, err);
    if (exact)
        return compare_address(a, p, &x, &y, err);
    /* of a network some bits count only: it is compared as the text that it is */
    pair.kept = secret_is_special_address(&x);
    return compare_pair(a, p, &pair, NULL, err);
}

int compare_text(struct audit *a, const struct place *p, const struct item *o, const struct item *n,
                 struct err *err)
{
    switch (o->cls) {
    case CLASS_NAME:
        return compare_name(a, p, (struct pair_value){ o->data, o->len },
                            (struct pair_value){ n->data, n->len }, err);
    case CLASS_PATH:
        return compare_path(a, p, o, n, err);
    default:
        return compare_host(a, p, o, n, err);
    }
}
