/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/survive_report.c
 *
 * Writes what survives as text and as JSON, class by class, with the rule that explains it.  Before
 * that it sorts the survivors, and computes how many of them chance explains.  For "nfsdigest
 * policy survives".  The contract is in survive.h.
 */
#include "audit/survive_parts.h"
#include "audit/report.h"
#include "base/json.h"

#include <math.h>
#include <stdlib.h>

/* --- what is counted when all is known --- */

/* By row; of one row the most frequent survivors first, then as they came. */
static int by_uses(const void *a, const void *b, void *ctx)
{
    const struct survive_value *values = ((struct survive *)ctx)->values;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct survive_value *x = &values[i], *y = &values[j];

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->same != y->same)
        return x->same > y->same ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* Of what is no value itself: only tokens hide lengths, and only a shift hides times. */
static const char *rule_of(const struct survive_row *row, const struct survive_show *show)
{
    bool length = row->cls == SURVIVE_LENGTH || row->cls == SURVIVE_MESSAGE;
    char place[WALK_PATH_MAX];
    const char *rule;

    snprintf(place, sizeof(place), "%.*s", (int)strcspn(row->place, ","), row->place);
    if (row->cls < ITEM_CLASSES)
        return show->rule(show->ctx, row->cls, row->place);
    if (!length && row->cls != SURVIVE_CAPTURED)
        return "keep";
    rule = show->rule(show->ctx, row->base, place);
    return rule && strcmp(rule, length ? "token" : "shift") != 0 ? "keep" : rule;
}

/* Distinct survivors that neither the rule nor what they are explains. */
static uint64_t others(const struct survive_row *row, const char *rule)
{
    bool value = row->cls < ITEM_CLASSES;

    return value && rule && strcmp(rule, "keep") != 0 ? row->distinct_same - row->distinct_special
                                                      : 0;
}

/* Whether the rule keeps all values, as far as they are known by this class. */
static bool is_kept(const char *rule)
{
    return rule && strcmp(rule, "keep") == 0;
}

/* How likely a pseudonym is its original; an upper bound.  Texts: as in secret.h's names, 5 bits a
 * character. */
static double chance_of_same(const struct survive_row *row, const struct survive_value *v)
{
    if (row->kind == SURVIVE_ADDRESS || row->cls == CLASS_ADDRESS)
        return 0x1p-16; /* private and link-local ones keep as many */
    if (row->kind == SURVIVE_NUMBER)
        return 0x1p-32;
    if (row->cls == CLASS_NAME || row->cls == CLASS_PATH || row->cls == CLASS_HOST ||
        row->cls == CLASS_LOCK_OWNER)
        return ldexp(1, v->len < 64 ? -5 * (int)v->len : -320);
    return ldexp(1, v->len < 64 ? -8 * (int)v->len : -512);
}

static int count_survivors(struct survive *s, struct err *err)
{
    uint32_t count = 0;

    free(s->order);
    s->order = malloc((s->value_count + 1) * sizeof(*s->order));
    if (!s->order)
        return err_memory(err, "a report");
    for (uint32_t i = 0; i < s->row_count; i++)
        s->rows[i].distinct_same = s->rows[i].distinct_special = s->rows[i].count = 0;
    for (uint32_t i = 0; i < s->value_count; i++) {
        struct survive_value *v = &s->values[i];
        struct survive_row *row = &s->rows[v->row];

        row->by_chance += v->special ? 0 : chance_of_same(row, v);
        if (!v->same)
            continue;
        row->distinct_same++;
        row->distinct_special += v->special;
        s->order[count++] = i;
    }
    qsort_r(s->order, count, sizeof(*s->order), by_uses, s);
    for (uint32_t i = 0; i < count; i++) {
        struct survive_row *row = &s->rows[s->values[s->order[i]].row];

        if (!row->count++)
            row->first = i;
    }
    return 0;
}

/* --- values as text --- */

enum { VALUE_MAX = 8 * SURVIVE_BYTES };

static const char *value_text(const struct survive_row *row, const struct survive_value *v,
                              char text[VALUE_MAX])
{
    struct quote quote;
    struct address address = { .version = v->len == 4 ? 4 : 6 };
    char full[QUOTE_TEXT_MAX];

    if (row->kind == SURVIVE_ADDRESS && (v->len == 4 || v->len == 16)) {
        memcpy(address.bytes, v->data, v->len);
        return address_text(&address, text);
    }
    if (row->kind != SURVIVE_NUMBER) {
        quote = quote_bytes(v->data, v->len < SURVIVE_BYTES ? v->len : SURVIVE_BYTES);
        snprintf(text, VALUE_MAX, "%s%s", quote_text(&quote, false, full),
                 v->len > SURVIVE_BYTES ? "..." : "");
    } else if (row->cls == CLASS_MODE || row->cls == SURVIVE_BITS) {
        snprintf(text, VALUE_MAX, "0%llo", (unsigned long long)v->number);
    } else if (row->cls == SURVIVE_DISTANCE || row->cls == SURVIVE_INTERVAL) {
        snprintf(text, VALUE_MAX, "%lld", (long long)v->number);
    } else {
        snprintf(text, VALUE_MAX, "%llu", (unsigned long long)v->number);
    }
    return text;
}

/* --- text --- */

static void say_examples(const struct survive *s, const struct survive_row *row, uint64_t most,
                         FILE *out)
{
    char text[VALUE_MAX];
    uint32_t i;

    for (i = 0; i < row->count && i < most; i++) {
        const struct survive_value *v = &s->values[s->order[row->first + i]];

        fprintf(out, "%s%s", i ? ", " : ": ", value_text(row, v, text));
    }
    fputs(i && i < row->count ? ", ...\n" : "\n", out);
}

static void say_row(const struct survive *s, const struct survive_row *row, const char *rule,
                    const struct survive_show *show, FILE *out)
{
    uint64_t chance = others(row, rule);

    fprintf(out, "    %s: %llu of %llu stay, %s%llu of %s%u distinct", row->place,
            (unsigned long long)row->same, (unsigned long long)row->values,
            row->more_same ? "at least " : "", (unsigned long long)row->distinct_same,
            row->more ? "at least " : "", row->distinct);
    say_examples(s, row, show->examples, out);
    if (chance)
        fprintf(out, "        %llu of the distinct ones stay by chance; %.3g are expected\n",
                (unsigned long long)chance, row->by_chance);
}

static void say_class(const struct survive *s, unsigned cls, const struct survive_show *show,
                      uint32_t *rows, uint32_t count, FILE *out)
{
    const struct survive_reason *reason = survive_reason(cls);
    bool kept = false, changed = false;
    const char *rule = NULL;

    for (uint32_t i = 0; i < count; i++) {
        rule = rule_of(&s->rows[rows[i]], show);
        kept |= is_kept(rule);
        changed |= rule && !is_kept(rule);
    }
    if (cls >= ITEM_CLASSES)
        fprintf(out, "\n%s\n", reason->name);
    else
        fprintf(out, "\n%s = %s\n", reason->name, !rule ? "?" : kept && changed ? "..." : rule);
    if (kept && reason->kept)
        fprintf(out, "    stay: %s\n", reason->kept);
    if (changed && reason->special)
        fprintf(out, "    stay: %s\n", reason->special);
    for (uint32_t i = 0; i < count; i++)
        say_row(s, &s->rows[rows[i]], rule_of(&s->rows[rows[i]], show), show, out);
}

static int by_place(const void *a, const void *b, void *ctx)
{
    const struct survive_row *rows = ((struct survive *)ctx)->rows;

    return strcmp(rows[*(const uint32_t *)a].place, rows[*(const uint32_t *)b].place);
}

/* The rows of a class with survivors, or all of them, sorted. */
static uint32_t class_rows(struct survive *s, unsigned cls, bool all, uint32_t *rows)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].cls == cls && (all || s->rows[i].same))
            rows[count++] = i;
    qsort_r(rows, count, sizeof(*rows), by_place, s);
    return count;
}

static uint32_t *prepare(struct survive *s, struct err *err)
{
    uint32_t *rows = malloc((s->row_count + 1) * sizeof(*rows));

    if (rows && count_survivors(s, err) == 0)
        return rows;
    if (!rows)
        err_memory(err, "a report");
    free(rows);
    return NULL;
}

int survive_text(struct survive *s, const struct survive_show *show, FILE *out, struct err *err)
{
    uint32_t *rows = prepare(s, err), gone = 0;

    if (!rows)
        return -err->code;
    fprintf(out, "Policy %s: %llu messages compared, %llu of the original are missing\n",
            show->policy, (unsigned long long)s->audit.matched,
            (unsigned long long)s->audit.missing);
    for (unsigned cls = 0; cls < SURVIVE_CLASSES; cls++) {
        uint32_t count = class_rows(s, cls, false, rows);

        if (count)
            say_class(s, cls, show, rows, count, out);
    }
    for (uint32_t i = 0; i < s->row_count; i++)
        gone += !s->rows[i].same;
    fprintf(out, "\nOf %u other fields, no value stays.\n", gone);
    if (s->left_out)
        fprintf(
            out,
            "%llu values or ends of connections were not compared, because there were too many.\n",
            (unsigned long long)s->left_out);
    free(rows);
    return 0;
}

/* --- JSON --- */

static void json_row(struct json *j, const struct survive *s, const struct survive_row *row,
                     const struct survive_show *show)
{
    const char *rule = rule_of(row, show);
    char text[VALUE_MAX];

    json_object(j, NULL);
    json_text(j, "field", row->place);
    json_text(j, "class", survive_reason(row->cls)->name);
    json_text(j, "rule", rule);
    json_text(j, "wireshark", row->wireshark);
    json_u64(j, "values", row->values);
    json_u64(j, "same", row->same);
    json_u64(j, "same_special", row->same_special);
    json_u64(j, "distinct", row->distinct);
    json_u64(j, "distinct_same", row->distinct_same);
    json_u64(j, "distinct_special", row->distinct_special);
    json_bool(j, "exact", !row->more);
    json_u64(j, "others", others(row, rule));
    json_number(j, "by_chance", "%.6g", row->by_chance);
    json_array(j, "examples");
    for (uint32_t i = 0; i < row->count && i < show->examples; i++) {
        const struct survive_value *v = &s->values[s->order[row->first + i]];

        json_object(j, NULL);
        json_text(j, "value", value_text(row, v, text));
        json_u64(j, "same", v->same);
        json_u64(j, "of", v->uses);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void json_classes(struct json *j)
{
    json_array(j, "classes");
    for (unsigned cls = 0; cls < SURVIVE_CLASSES; cls++) {
        const struct survive_reason *reason = survive_reason(cls);

        json_object(j, NULL);
        json_text(j, "class", reason->name);
        json_text(j, "topic", reason->topic);
        json_text(j, "kept", reason->kept);
        json_text(j, "special", reason->special);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_messages(struct json *j, const struct audit *audit)
{
    json_object(j, "messages");
    json_u64(j, "compared", audit->matched);
    json_u64(j, "missing", audit->missing);
    json_u64(j, "surplus", audit->surplus);
    json_u64(j, "incomplete", audit->incomplete);
    json_object_end(j);
}

int survive_json(struct survive *s, const struct survive_show *show, FILE *out, struct err *err)
{
    uint32_t *rows = prepare(s, err);
    struct json j = { .out = out };
    bool first = true;

    if (!rows)
        return -err->code;
    json_object(&j, NULL);
    json_text(&j, "policy", show->policy);
    json_messages(&j, &s->audit);
    json_u64(&j, "left_out", s->left_out);
    json_classes(&j);
    json_array(&j, "fields");
    for (unsigned cls = 0; cls < SURVIVE_CLASSES; cls++) {
        uint32_t count = class_rows(s, cls, true, rows);

        for (uint32_t i = 0; i < count; i++) {
            if (!first)
                json_break(&j);
            json_row(&j, s, &s->rows[rows[i]], show);
            first = false;
        }
    }
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    free(rows);
    return 0;
}
