/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/audit_compare.c
 *
 * Compares two messages item by item, by the class of each.  compare_finish then finds what only
 * all values together show.  audit_compare_text.c compares names, paths, hosts and addresses;
 * rules_value.c asks the policy.  compare_messages is for audit_align.c, compare_finish for
 * audit.c.  The contract is in audit_parts.h.
 */
#include "audit/rules.h"
#include "base/bytes.h"
#include "base/digest.h"

#include <stdio.h>

enum { DATA_LEAST = 4 }; /* so few bytes may be equal by chance */

static struct pair_value value_of(const struct item *i)
{
    return (struct pair_value){ i->data, i->len };
}

static struct quote quote_item(const struct item *i)
{
    return i->is_bytes ? quote_bytes(i->data, i->len) : quote_number(i->value);
}

static void find_item(struct audit *a, const struct place *p, unsigned kind, const char *what,
                      const struct item *o, const struct item *n, const char *text)
{
    struct finding f;

    place_finding(p, kind, what, &f);
    f.original = quote_item(o);
    f.anonymized = quote_item(n);
    snprintf(f.text, sizeof(f.text), "%s", text);
    audit_find(a, &f);
}

static bool is_same(const struct item *o, const struct item *n)
{
    return o->is_bytes ? o->len == n->len && memcmp(o->data, n->data, o->len) == 0
                       : o->value == n->value;
}

static int compare_mapped(struct audit *a, const struct place *p, enum domain domain,
                          const struct item *o, const struct item *n, struct err *err)
{
    struct pair_values pair = { domain, o->bits, value_of(o), value_of(n), false };

    pair.kept = o->is_bytes
                    ? bytes_are_zeros(o->data, o->len) || allow_text(&a->allow, o->data, o->len)
                    : allow_number(&a->allow, domain, o->value);
    return compare_pair(a, p, &pair, NULL, err);
}

static void compare_data(struct audit *a, const struct place *p, const struct item *o,
                         const struct item *n)
{
    bool o_zero = true, n_zero = true;

    if (o->full_len != n->full_len)
        find_item(a, p, FOUND_VALUE, "data", o, n, "the length of file contents");
    for (uint32_t i = 0; i < o->len && o_zero; i++)
        o_zero = !o->data[i];
    for (uint32_t i = 0; i < n->len && n_zero; i++)
        n_zero = !n->data[i];
    if (o_zero)
        return;
    if (n_zero) {
        a->data_zero++;
        return;
    }
    if (!a->data_noise++)
        a->data_noise_frame = p->anonymized->frame;
    if (n->len >= DATA_LEAST && n->len <= o->len && memcmp(o->data, n->data, n->len) == 0)
        find_item(a, p, FOUND_CONTENTS, "data", o, n, "as they were");
}

/* Servers keep verifiers of exclusive CREATEs in times, half by half, as numbers of either byte
 * order, with or without their sign (RFC 1813 s3.3.8). */
static int note_create_verifier(struct audit *a, const struct item *o, struct err *err)
{
    for (uint32_t at = 0; at < 8 && a->in_times.count < PAIRS_MAX / 4; at += 4) {
        uint32_t half = load_be32(o->data + at);
        uint64_t numbers[] = { half & INT32_MAX, __builtin_bswap32(half) & INT32_MAX };

        for (unsigned i = 0; i < 2; i++) {
            struct pair_entry entry = { .key = { XXH3_64bits(&numbers[i], 8), numbers[i] } };

            if (!pair_side_find(&a->in_times, entry.key) &&
                pair_side_add(&a->in_times, &entry, err) < 0)
                return -err->code;
        }
    }
    return 0;
}

/* Part of a verifier, or what no time is: may become anything. */
static bool is_no_time(const struct audit *a, uint64_t number, bool fraction)
{
    uint64_t unsigned_number = number & INT32_MAX,
             key[2] = { XXH3_64bits(&unsigned_number, 8), unsigned_number };

    return number >= (fraction ? 1000000000u : 1u << 31) || pair_side_find(&a->in_times, key);
}

bool is_constant_time(uint64_t seconds)
{
    static const uint32_t constants[] = { 0,         1,         315532800, 315619200,  318211200,
                                          456789000, 499162500, 946684800, 1073741822, 1073741823,
                                          INT32_MAX, 1u << 31,  UINT32_MAX };

    for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
        if (constants[i] == seconds)
            return true;
    return false;
}

/* Seconds, all moved by one number or not at all; constants may stay. */
static void compare_time(struct audit *a, const struct place *p, const struct item *o,
                         const struct item *n)
{
    uint32_t shift = (uint32_t)n->value - (uint32_t)o->value;
    const char *name = o->field ? o->field->name : "";

    bool fraction = strstr(name, "nsec") || strstr(name, "usec");

    if ((o->value == n->value && is_constant_time(o->value)) ||
        (o->value != n->value && o->value && is_no_time(a, o->value, fraction)))
        return;
    if (fraction || !o->value) {
        if (o->value != n->value)
            find_item(a, p, FOUND_VALUE, "time", o, n, "");
        return;
    }
    if (!a->has_attribute_shift) {
        a->has_attribute_shift = true;
        a->attribute_shift = shift;
        if (a->has_shift && (uint32_t)(a->shift / 1000000000) != shift)
            find_item(a, p, FOUND_TIME, "time", o, n,
                      "attribute times are not shifted as capture times are");
    } else if (shift != a->attribute_shift) {
        find_item(a, p, FOUND_TIME, "time", o, n, "another shift than that of other times");
    }
}

/* Numbers and texts that tables call nothing; a port may be mapped. */
static int compare_none(struct audit *a, const struct place *p, const struct item *o,
                        const struct item *n, struct err *err)
{
    const char *name = o->field ? o->field->name : NULL;

    if (o->is_bytes)
        return compare_mapped(a, p, DOMAIN_OPAQUE, o, n, err);
    if (is_same(o, n))
        return 0;
    if (name && strcmp(name, "port") == 0)
        return compare_mapped(a, p, DOMAIN_PORT, o, n, err);
    find_item(a, p, FOUND_VALUE, "none", o, n, "");
    return 0;
}

/* Long since it is the table of classes: one case for each way to compare. */
static int compare_item(struct audit *a, const struct place *p, const struct item *o,
                        const struct item *n, struct err *err)
{
    static const uint8_t domains[ITEM_CLASSES] = {
        [CLASS_UID] = DOMAIN_UID,
        [CLASS_GID] = DOMAIN_GID,
        [CLASS_FILEID] = DOMAIN_FILEID,
        [CLASS_FSID] = DOMAIN_FSID,
        [CLASS_DEVICE] = DOMAIN_DEVICE,
        [CLASS_COOKIE] = DOMAIN_COOKIE,
        [CLASS_VERIFIER] = DOMAIN_VERIFIER,
        [CLASS_LOCK_OWNER] = DOMAIN_LOCK_OWNER,
        [CLASS_HANDLE] = DOMAIN_HANDLE,
        [CLASS_OPAQUE] = DOMAIN_OPAQUE,
        [ITEM_STAMP] = DOMAIN_STAMP,
        [ITEM_CREDENTIAL] = DOMAIN_CREDENTIAL,
        [ITEM_XID] = DOMAIN_XID,
    };

    a->fields[o->cls]++;
    policy_rules_value(a, p, o, n);
    if (o->field && o->field->in_times && o->is_bytes && o->len == 8 &&
        note_create_verifier(a, o, err) < 0)
        return -err->code;
    switch (o->cls) {
    case CLASS_NAME:
    case CLASS_PATH:
    case CLASS_HOST:
    case CLASS_ADDRESS:
        if (o->is_bytes)
            return compare_text(a, p, o, n, err);
        return compare_mapped(a, p, DOMAIN_ADDRESS, o, n, err);
    case CLASS_DATA:
        compare_data(a, p, o, n);
        return 0;
    case CLASS_TIME:
        if (!policy_rules_empty(a, p, o))
            compare_time(a, p, o, n);
        return 0;
    case CLASS_INTERVAL: /* the fraction of a time, or a length of time */
        if (!is_same(o, n) && !is_no_time(a, o->value, true) && !policy_rules_empty(a, p, o))
            find_item(a, p, FOUND_VALUE, item_class_name(o->cls), o, n, "");
        return 0;
    case CLASS_MODE: /* bits may be taken away */
        if (n->value & ~o->value)
            find_item(a, p, FOUND_VALUE, "mode", o, n, "has bits that the original lacks");
        return 0;
    case CLASS_NONE:
        return compare_none(a, p, o, n, err);
    case ITEM_XID:
        return is_same(o, n) ? 0 : compare_mapped(a, p, DOMAIN_XID, o, n, err);
    case CLASS_UID:
    case CLASS_GID:
    case CLASS_FILEID:
    case CLASS_FSID:
    case CLASS_DEVICE:
    case CLASS_COOKIE:
    case CLASS_VERIFIER:
    case CLASS_LOCK_OWNER:
    case CLASS_HANDLE:
    case CLASS_OPAQUE:
    case ITEM_STAMP:
    case ITEM_CREDENTIAL:
        return compare_mapped(a, p, (enum domain)domains[o->cls], o, n, err);
    default:
        if (!is_same(o, n))
            find_item(a, p, FOUND_VALUE, item_class_name(o->cls), o, n, "");
        return 0;
    }
}

/* Addresses and ports stand in headers that no item shows. */
static int compare_ends(struct comparer *c, const struct place *p, struct err *err)
{
    struct audit *a = c->audit;
    struct place at = { NULL, p->original, p->anonymized, 0 };
    struct {
        struct address address[4];
        uint16_t port[4];
    } ends;
    int rc = 0;

    memset(&ends, 0, sizeof(ends));
    for (unsigned i = 0; i < 2; i++) {
        ends.address[i] = p->original->address[i];
        ends.address[i + 2] = p->anonymized->address[i];
        ends.port[i] = p->original->port[i];
        ends.port[i + 2] = p->anonymized->port[i];
    }
    if (seen_lately(a->seen_ends, SEEN_ENDS, 0, &ends, sizeof(ends)))
        return 0;
    for (unsigned i = 0; rc == 0 && i < 2; i++) {
        uint32_t from = __builtin_bswap32(ends.port[i]), to = __builtin_bswap32(ends.port[i + 2]);

        rc = compare_address(a, &at, &ends.address[i], &ends.address[i + 2], err);
        if (rc == 0 && from != to)
            rc = compare_pair(
                a, &at, &(struct pair_values){ DOMAIN_PORT, 32, { &from, 4 }, { &to, 4 }, false },
                NULL, err);
    }
    return rc;
}

static void find_structure(struct audit *a, const struct place *p, const char *text)
{
    struct finding f;

    place_finding(p, FOUND_STRUCTURE, "message", &f);
    snprintf(f.text, sizeof(f.text), "%s", text);
    audit_find(a, &f);
}

int compare_messages(struct comparer *c, const struct audit_message *o,
                     const struct audit_message *n, struct err *err)
{
    struct audit *a = c->audit;
    const struct items *x = &c->original, *y = &c->anonymized;
    struct place p = { c, o, n, 0 };
    bool whole = x->result == WALK_OK || (x->result == WALK_STOPPED && !o->header_cut);

    if (compare_ends(c, &p, err) < 0)
        return -err->code;
    a->unread_bodies += !o->procedure;
    for (; p.index < x->count && p.index < y->count; p.index++) {
        const struct item *i = &x->all[p.index], *j = &y->all[p.index];

        if (i->field != j->field || i->cls != j->cls) {
            find_structure(a, &p, "another field is here");
            return 0;
        }
        if (i->is_cut || j->is_cut) {
            if (!i->is_cut && whole)
                find_structure(a, &p, "cut, though the original is whole");
            a->incomplete++;
            return 0;
        }
        if (compare_item(a, &p, i, j, err) < 0)
            return -err->code;
    }
    if (y->count > x->count)
        find_structure(a, &p, "has fields that the original lacks");
    else if (y->count < x->count && whole)
        find_structure(a, &p, "lacks fields, though the original is whole");
    else if (y->count < x->count)
        a->incomplete++;
    return 0;
}

/* --- when all was seen --- */

static void finish_lengths(struct audit *a, bool hidden)
{
    const struct name_row *names = &a->names;
    uint64_t most = 0, mode = 0;
    struct finding f = { .kind = FOUND_LENGTH, .what = "name", .offset = -1 };

    for (unsigned i = 0; i < LENGTHS; i++) {
        if (names->lengths[i] <= most)
            continue;
        most = names->lengths[i];
        mode = i;
    }
    if (!hidden || names->distinct < 2 || most == names->distinct)
        return;
    snprintf(f.text, sizeof(f.text),
             "%llu of %llu distinct names have pseudonyms of another length than %llu, %llu the "
             "length of their original",
             (unsigned long long)(names->distinct - most), (unsigned long long)names->distinct,
             (unsigned long long)mode, (unsigned long long)names->same_length);
    audit_find(a, &f);
}

/* Names of a few characters may stay the same where lengths do, but not many of them. */
static void finish_short_names(struct audit *a)
{
    const struct name_row *names = &a->names;
    bool lengths_stay = names->distinct && names->same_length == names->distinct;
    double expected = 0, space = 1;
    uint64_t same = 0;

    for (unsigned len = 1; len < SHORT_NAME; len++) {
        space *= 32;
        expected += (double)names->short_seen[len] / space;
        same += names->short_same[len];
    }
    if (!same || (lengths_stay && chance_of(same, expected) >= CHANCE_LIMIT))
        return;
    for (uint32_t i = 0; i < names->short_finding_count; i++)
        audit_find(a, &names->short_findings[i]);
}

/* Pseudonyms that are originals, too. */
static void finish_foreign(struct audit *a)
{
    const struct pair_side *back = &a->pairs.back;
    uint64_t originals[DOMAIN_MAX][3] = { { 0 } }, pseudonyms[DOMAIN_MAX][3] = { { 0 } };

    for (uint32_t i = 0; i < a->pairs.forward.count; i++) {
        const struct pair_entry *e = &a->pairs.forward.all[i];
        originals[e->domain][e->bits == 32 ? 1 : e->bits ? 2 : 0] += !e->kept;
    }
    for (uint32_t i = 0; i < back->count; i++) {
        const struct pair_entry *e = &back->all[i], *original;
        pseudonyms[e->domain][e->bits == 32 ? 1 : e->bits ? 2 : 0] += !e->kept;
        if (e->kept || e->zero || e->short_value || e->domain == DOMAIN_XID ||
            e->domain == DOMAIN_PORT)
            continue;
        original = pairs_original(&a->pairs, e);
        if (original && memcmp(e->key, e->other, sizeof(e->key)) != 0)
            a->domains[e->domain].foreign++;
    }
    for (unsigned d = 0; d < DOMAIN_MAX; d++) {
        struct domain_row *row = &a->domains[d];
        struct finding f = { .kind = FOUND_SAME_FIELD, .what = domain_name(d), .offset = -1 };

        row->foreign_by_chance = (double)originals[d][1] * (double)pseudonyms[d][1] / 0x1p32;
        if (!row->foreign || chance_of(row->foreign, row->foreign_by_chance) >= CHANCE_LIMIT)
            continue;
        snprintf(f.text, sizeof(f.text),
                 "%llu pseudonyms are values of the original, other than their own; by chance "
                 "%.3g",
                 (unsigned long long)row->foreign, row->foreign_by_chance);
        audit_find(a, &f);
    }
}

static void finish_zeros(struct audit *a)
{
    for (unsigned d = 0; d < DOMAIN_MAX; d++) {
        const struct domain_row *row = &a->domains[d];
        struct finding f = { .kind = FOUND_COLLISION, .what = domain_name(d), .offset = -1 };

        if (!row->zero_collisions || !row->changed)
            continue;
        snprintf(f.text, sizeof(f.text), "%llu values became zeros, %llu did not",
                 (unsigned long long)row->changed_to_zero, (unsigned long long)row->changed);
        audit_find(a, &f);
    }
}

int compare_finish(struct audit *a, struct err *err)
{
    struct finding f = { .kind = FOUND_CONTENTS, .what = "data", .offset = -1 };
    bool hidden = a->rules->words[CLASS_NAME] == WORD_TOKEN;

    (void)err;
    finish_lengths(a, hidden);
    finish_short_names(a);
    finish_foreign(a);
    finish_zeros(a);
    rules_finish(a);
    if (a->data_zero && a->data_noise) {
        snprintf(f.text, sizeof(f.text),
                 "contents became zeros in %llu places, and something else in %llu",
                 (unsigned long long)a->data_zero, (unsigned long long)a->data_noise);
        f.frame = a->data_noise_frame;
        audit_find(a, &f);
    }
    return 0;
}
