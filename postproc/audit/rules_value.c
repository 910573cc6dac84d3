/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/rules_value.c
 *
 * Judges what became of one value by the policy's rule for its field, or else for its class.  Times
 * that do not become zeros, and verifiers, are left to audit_compare.c and rules.c, which know more
 * than one value.  For audit_compare.c.  The contract is in rules.h.
 */
#include "audit/rules.h"

#include <ctype.h>
#include <stdlib.h>

enum { TOKEN = 16, OWNERS_BITS = 0170700 };

/* "entries[3].name" is the policy's "entries.name". */
static bool is_path(const char *path, const char *wanted)
{
    while (*path && (*path == *wanted || *path == '[')) {
        if (*path != '[') {
            path++;
            wanted++;
            continue;
        }
        path += strcspn(path, "]");
        path += *path == ']';
    }
    return !*path && !*wanted;
}

static enum rule_word rule_of(const struct policy_rules *rules, const struct place *p,
                              const struct item *item)
{
    char path[WALK_PATH_MAX];

    if (item->field && rules->field_count && p->comparer) {
        item_path(p->original, &p->comparer->original, p->index, path);
        for (uint32_t i = 0; i < rules->field_count; i++)
            if (is_path(path, rules->fields[i].path))
                return rules->fields[i].word;
    }
    return rules->words[item->cls];
}

bool policy_rules_empty(const struct audit *a, const struct place *p, const struct item *o)
{
    return rule_of(a->rules, p, o) == WORD_ZERO;
}

static void find(struct audit *a, const struct place *p, const struct item *o, const struct item *n,
                 const char *text)
{
    struct finding f;

    place_finding(p, FOUND_POLICY, item_class_name(o->cls), &f);
    f.original = o->is_bytes ? quote_bytes(o->data, o->len) : quote_number(o->value);
    f.anonymized = n->is_bytes ? quote_bytes(n->data, n->len) : quote_number(n->value);
    snprintf(f.text, sizeof(f.text), "%s", text);
    audit_find(a, &f);
}

static bool is_zero(const struct item *item)
{
    return item->is_bytes ? bytes_are_zeros(item->data, item->len) : !item->value;
}

static bool is_same(const struct item *o, const struct item *n)
{
    return o->is_bytes ? o->len == n->len && memcmp(o->data, n->data, o->len) == 0
                       : o->value == n->value;
}

/* --- names --- */

static uint32_t affix(char *const *all, const uint8_t *name, uint32_t len, bool at_end)
{
    uint32_t longest = 0;

    for (uint32_t i = 0; all && all[i]; i++) {
        uint32_t n = (uint32_t)strlen(all[i]);

        if (n > longest && n < len && memcmp(name + (at_end ? len - n : 0), all[i], n) == 0)
            longest = n;
    }
    return longest;
}

/* Words for what is wrong with the pseudonym of a component, or NULL. */
static const char *check_name(const struct policy_rules *rules, enum rule_word rule,
                              const uint8_t *o, uint32_t o_len, const uint8_t *n, uint32_t n_len)
{
    uint32_t suffix = affix(rules->suffixes, o, o_len, true);
    uint32_t prefix = affix(rules->prefixes, o, o_len - suffix, false);

    if (!o_len || (o_len <= 2 && o[0] == '.' && o[o_len - 1] == '.'))
        return n_len == o_len && memcmp(o, n, o_len) == 0 ? NULL : "a name that stays was changed";
    if (rule == WORD_SAME && o_len != n_len)
        return "a name of another length";
    if (rule == WORD_TOKEN && n_len != prefix + TOKEN + suffix)
        return "no token, with what of the name is kept";
    if (n_len < prefix + suffix || memcmp(n, o, prefix) != 0 ||
        memcmp(n + n_len - suffix, o + o_len - suffix, suffix) != 0)
        return "a prefix or suffix that is kept was changed";
    for (uint32_t i = prefix; rule == WORD_TOKEN && i < prefix + TOKEN; i++)
        if (!isalnum(n[i]))
            return "a token of other characters";
    return NULL;
}

static const char *check_path(const struct policy_rules *rules, enum rule_word rule,
                              const struct item *o, const struct item *n)
{
    const uint8_t *x = o->data, *y = n->data, *x_end = x + o->len, *y_end = y + n->len;
    const char *wrong = NULL;
    int64_t slashes = 0;

    if (rule == WORD_SAME && o->len != n->len)
        return "a path of another length";
    for (uint32_t i = 0; i < o->len; i++)
        slashes += x[i] == '/';
    for (uint32_t i = 0; i < n->len; i++)
        slashes -= y[i] == '/';
    while (!wrong && slashes == 0 && x < x_end) { /* else it became one token, as a whole */
        const uint8_t *x_to = memchr(x, '/', (size_t)(x_end - x));
        const uint8_t *y_to = y < y_end ? memchr(y, '/', (size_t)(y_end - y)) : NULL;

        x_to = x_to ? x_to : x_end;
        y_to = y_to ? y_to : y_end;
        wrong = check_name(rules, rule, x, (uint32_t)(x_to - x), y, (uint32_t)(y_to - y));
        x = x_to < x_end ? x_to + 1 : x_end;
        y = y_to < y_end ? y_to + 1 : y_end;
    }
    return wrong;
}

static const char *check_text(const struct policy_rules *rules, enum rule_word rule,
                              const struct item *o, const struct item *n)
{
    switch (o->cls) {
    case CLASS_NAME:
        return check_name(rules, rule, o->data, o->len, n->data, n->len);
    case CLASS_PATH:
        return check_path(rules, rule, o, n);
    case CLASS_LOCK_OWNER:
        if (o->is_bytes && o->len && n->len != (rule == WORD_TOKEN ? TOKEN : o->len))
            return "a token of another length";
        return NULL;
    default: /* addresses in digits among hosts, and words that stay, have lengths of their own */
        return NULL;
    }
}

/* --- numbers and bytes --- */

static const char *check_keyed(const struct policy_rules *rules, const struct item *o,
                               const struct item *n)
{
    bool kept = is_zero(o);

    if (o->is_bytes && o->cls != CLASS_ADDRESS && o->cls != CLASS_HOST && o->len != n->len)
        return "of another length";
    if (o->cls == CLASS_ADDRESS)
        return NULL;
    for (char **k = o->is_bytes ? NULL : rules->kept[o->cls]; k && *k; k++)
        kept |= strtoull(*k, NULL, 0) == o->value;
    if (!kept && is_zero(n))
        return "zeros in place of a pseudonym";
    /* that others differ is judged beside what the allow-list allows */
    return kept && !is_same(o, n) ? "a number that is kept was changed" : NULL;
}

/* Of names of protocols only well-known ones are kept; others become tokens. */
static const char *check_kept(const struct audit *a, const struct item *o, const struct item *n)
{
    bool token = o->cls == CLASS_NONE && o->is_bytes && n->len == TOKEN &&
                 !allow_text(&a->allow, o->data, o->len);

    return token || is_same(o, n) ? NULL : "changed, though the policy keeps it";
}

/* Times move together, which is judged over all of them; parts of verifiers in them do not. */
static bool is_judged_elsewhere(const struct item *o, enum rule_word rule)
{
    return rule == WORD_SHIFT || o->cls == CLASS_VERIFIER ||
           ((o->cls == CLASS_TIME || o->cls == CLASS_INTERVAL) && rule != WORD_ZERO);
}

void policy_rules_value(struct audit *a, const struct place *p, const struct item *o,
                        const struct item *n)
{
    enum rule_word rule = rule_of(a->rules, p, o);
    const char *wrong = NULL;

    if (is_judged_elsewhere(o, rule))
        return;
    switch (rule) {
    case WORD_KEEP:
        wrong = check_kept(a, o, n);
        break;
    case WORD_ZERO:
        if (!is_zero(n) || (o->is_bytes && o->full_len != n->full_len))
            wrong = "no zeros of its length";
        break;
    case WORD_OWNER:
        if (n->value != (o->value & OWNERS_BITS))
            wrong = "other bits than those of the type and the owner";
        break;
    case WORD_NOISE:
        if (o->len > 8 && !is_zero(o) && is_zero(n))
            wrong = "zeros in place of noise";
        break;
    case WORD_KEYED:
        wrong = check_keyed(a->rules, o, n);
        break;
    case WORD_TOKEN:
    case WORD_SAME:
        wrong = check_text(a->rules, rule, o, n);
        break;
    default:
        break;
    }
    if (wrong)
        find(a, p, o, n, wrong);
}
