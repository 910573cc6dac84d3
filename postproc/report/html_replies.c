/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/html_replies.c
 *
 * Two replies side by side: their fields as the walker finds them (judge/judge_body.h), those of
 * both sides that are the same field in one row.  Entries of directories meet by their names, other
 * elements of lists by their numbers.
 */
#include "report/html_parts.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

/* One value of one side. */
struct value {
    const struct item *item;
    char *label; /* of the element that it is in; NULL: in none */
    uint64_t key;
    uint32_t next; /* that is the same field of an element called the same */
    bool used;
};

struct values {
    struct body body;
    struct value *values;
    struct table by_key;
    char **labels; /* by number of the element */
    uint32_t label_count;
};

/* Another discrepancy of the same two operations. */
struct other {
    int64_t group;
    char *field, *element;
};

struct view {
    struct html *h;
    const struct html_message *message;
    const struct html_found *found;
    struct values sides[SIDES];
    struct other *others;
    uint32_t other_count;
    uint32_t shown, left_out; /* rows */
};

enum { OTHERS_MAX = 256, MARK_NONE = 0, MARK_DIFFERS, MARK_OTHER, MARK_FOUND };

static int no_memory(struct html *h)
{
    return err_memory(h->err, "a report");
}

static void free_values(struct values *v)
{
    for (uint32_t i = 0; i < v->label_count; i++)
        free(v->labels[i]);
    free(v->labels);
    free(v->values);
    table_free(&v->by_key);
    body_free(&v->body);
}

/* Entries are called by their names. */
static int make_labels(struct values *v)
{
    char text[COMPARE_TEXT_MAX];

    for (uint32_t i = 0; i < v->body.count; i++)
        if (v->body.items[i].element != ELEMENT_NONE && v->body.items[i].element >= v->label_count)
            v->label_count = v->body.items[i].element + 1;
    v->labels = calloc(v->label_count + 1u, sizeof(*v->labels));
    if (!v->labels) {
        v->label_count = 0;
        return -1;
    }
    for (uint32_t i = 0; i < v->body.count; i++) {
        const struct item *item = &v->body.items[i];

        if (item->element != ELEMENT_NONE && !v->labels[item->element] &&
            item->place->field->role & ROLE_ENTRY_NAME)
            v->labels[item->element] = strdup(values_text(item, NULL, text));
    }
    for (uint32_t i = 0; i < v->label_count; i++) {
        snprintf(text, sizeof(text), "%u", i);
        if (!v->labels[i] && !(v->labels[i] = strdup(text)))
            return -1;
    }
    return 0;
}

static bool same_place(const struct value *a, const struct value *b)
{
    return a->item->place == b->item->place &&
           (!a->label || !b->label ? a->label == b->label : strcmp(a->label, b->label) == 0);
}

/* From the last one to the first, so that the table has the first of those that are the same. */
static int chain_values(struct values *v)
{
    for (uint32_t i = v->body.count; i-- > 0;) {
        struct value *value = &v->values[i];
        uint32_t at, slot = table_first(&v->by_key, value->key, &at);

        while (slot != TABLE_NONE && !same_place(&v->values[slot], value))
            slot = table_next(&v->by_key, value->key, &at);
        value->next = slot;
        if (slot != TABLE_NONE)
            table_move(&v->by_key, value->key, slot, i);
        else if (table_add(&v->by_key, value->key, i) < 0)
            return -1;
    }
    return 0;
}

static int read_side(struct view *view, int side)
{
    const struct html_message *m = &view->message[side];
    struct values *v = &view->sides[side];
    struct html *h = view->h;
    const struct places_key key = { (uint32_t)m->program, (uint32_t)m->version, m->procedure,
                                    true };
    struct places *places;

    if (!m->procedure || !m->answered || !m->body.data.len)
        return 0;
    if (places_get(&h->places, &key, &places, h->err) < 0 ||
        body_read(&v->body, places, m->body, h->err) < 0)
        return -h->err->code;
    v->values = calloc(v->body.count + 1u, sizeof(*v->values));
    if (!v->values || make_labels(v) < 0)
        return no_memory(h);
    for (uint32_t i = 0; i < v->body.count; i++) {
        const struct item *item = &v->body.items[i];
        struct value *value = &v->values[i];

        value->item = item;
        value->label = item->element == ELEMENT_NONE ? NULL : v->labels[item->element];
        value->key = item->place->index;
        if (value->label)
            value->key = XXH3_64bits_withSeed(value->label, strlen(value->label), value->key);
    }
    return chain_values(v) < 0 ? no_memory(h) : 0;
}

/* Those that are the same are chained; the table has the first one that may be unused. */
static struct value *find_counterpart(struct values *v, const struct value *value)
{
    uint32_t at;

    for (uint32_t slot = table_first(&v->by_key, value->key, &at); slot != TABLE_NONE;
         slot = table_next(&v->by_key, value->key, &at)) {
        uint32_t first = slot;

        if (!same_place(&v->values[slot], value))
            continue;
        while (v->values[first].used && v->values[first].next != TABLE_NONE)
            first = v->values[first].next;
        if (first != slot)
            table_move(&v->by_key, value->key, slot, first);
        return v->values[first].used ? NULL : &v->values[first];
    }
    return NULL;
}

static bool differ(const struct view *view, const struct value *pair[SIDES])
{
    const struct item *a, *b;

    if (!pair[REF] || !pair[SUT])
        return true;
    a = pair[REF]->item;
    b = pair[SUT]->item;
    if (a->place->field->cls == CLASS_DATA) {
        const struct bytes *x = &view->message[REF].data_digest;
        const struct bytes *y = &view->message[SUT].data_digest;

        return a->full_len != b->full_len || x->len != y->len ||
               memcmp(x->data, y->data, x->len) != 0;
    }
    if (field_is_bytes(a->place->field))
        return a->full_len != b->full_len || a->len != b->len ||
               (a->len && memcmp(a->data, b->data, a->len) != 0);
    return a->value != b->value;
}

/* Whether a discrepancy speaks of this value, or of a structure or element that it is in. */
static bool speaks_of(const char *field, const char *element, const struct value *value)
{
    const char *path = value->item->place->path;
    size_t len = strlen(field);

    return strncmp(path, field, len) == 0 && (!path[len] || (path[len] == '.' && element)) &&
           (!element || (value->label && strcmp(element, value->label) == 0));
}

static int mark_of(const struct view *view, const struct value *pair[SIDES],
                   const struct other **other)
{
    const struct value *value = pair[REF] ? pair[REF] : pair[SUT];

    *other = NULL;
    if (!differ(view, pair))
        return MARK_NONE;
    if (speaks_of(view->found->field, view->found->element, value))
        return MARK_FOUND;
    for (uint32_t i = 0; i < view->other_count; i++)
        if (speaks_of(view->others[i].field, view->others[i].element, value)) {
            *other = &view->others[i];
            return MARK_OTHER;
        }
    return MARK_DIFFERS;
}

/* How it is compared, when that does not depend on more than the field. */
static const char *how_compared(const struct value *value)
{
    const struct compare_rule *const *rules =
        (const struct compare_rule *const *)value->item->place->rules;

    return rules && rules[0] && !rules[0]->has_case ? compare_kind_name(rules[0]->kind) : NULL;
}

/* |in_list|: then another part of a listing may have it. */
static void put_value(const struct view *view, int side, const struct value *value, bool mark,
                      bool in_list)
{
    struct page *page = &view->h->page;
    const struct bytes *digest = &view->message[side].data_digest;
    char text[COMPARE_TEXT_MAX];

    page_put(page, "<td class=\"t\">");
    if (!value) {
        page_put(page, "<span class=\"none\">%s</span></td>",
                 in_list ? "not in this reply" : "absent");
        return;
    }
    values_text(value->item, digest->len ? digest : NULL, text);
    page_put(page, mark ? "<mark>" : "");
    if (value->item->place->field->cls == CLASS_DATA && !digest->len)
        page_put(page, "%u bytes", value->item->full_len);
    else
        page_text_cut(page, text, HTML_TEXT_MAX);
    page_put(page, mark ? "</mark></td>" : "</td>");
}

static void put_row(struct view *view, const struct value *ref, const struct value *sut)
{
    static const char *const classes[] = { "", " class=\"differs\"", " class=\"differs\"",
                                           " class=\"found\"" };
    const struct value *pair[SIDES] = { ref, sut }, *value = ref ? ref : sut;
    const struct other *other;
    struct page *page = &view->h->page;
    const char *path = value->item->place->path, *dot = strchr(path, '.'), *how;
    int mark = mark_of(view, pair, &other);

    if ((mark == MARK_NONE && value->label) || view->shown >= HTML_ROWS_MAX) {
        view->left_out++;
        return;
    }
    view->shown++;
    page_put(page, "<tr%s><th scope=\"row\"><code>", classes[mark]);
    if (value->label) {
        page_put(page, "<span class=\"entry\">");
        page_text_cut(page, value->label, HTML_TEXT_MAX);
        page_put(page, "</span> ");
    }
    page_text(page, dot ? dot + 1 : path);
    page_put(page, "</code></th>");
    put_value(view, REF, ref, mark != MARK_NONE, value->label);
    put_value(view, SUT, sut, mark != MARK_NONE, value->label);
    if (mark == MARK_FOUND)
        page_put(page, "<td class=\"t\">this discrepancy</td></tr>\n");
    else if (mark == MARK_OTHER && other->group <= HTML_GROUPS_MAX)
        page_put(page, "<td class=\"t\"><a href=\"#g%lld\">group %lld</a></td></tr>\n",
                 (long long)other->group, (long long)other->group);
    else if (mark == MARK_OTHER)
        page_put(page, "<td class=\"t\">group %lld</td></tr>\n", (long long)other->group);
    else if (mark == MARK_DIFFERS && (how = how_compared(value)))
        page_put(page, "<td class=\"t\">differs (%s)</td></tr>\n", how);
    else
        page_put(page, "<td class=\"t\">%s</td></tr>\n", mark == MARK_DIFFERS ? "differs" : "");
}

/* In the reference's order; what only sut has comes where it stands there. */
static void put_rows(struct view *view)
{
    struct values *ref = &view->sides[REF], *sut = &view->sides[SUT];
    uint32_t next = 0;

    for (uint32_t i = 0; i < ref->body.count; i++) {
        struct value *value = &ref->values[i], *counterpart = find_counterpart(sut, value);

        if (counterpart)
            for (; &sut->values[next] < counterpart; next++)
                if (!sut->values[next].used && !find_counterpart(ref, &sut->values[next])) {
                    sut->values[next].used = true;
                    put_row(view, NULL, &sut->values[next]);
                }
        value->used = true;
        if (counterpart)
            counterpart->used = true;
        put_row(view, value, counterpart);
    }
    for (next = 0; next < sut->body.count; next++)
        if (!sut->values[next].used)
            put_row(view, NULL, &sut->values[next]);
}

static int read_others(struct view *view)
{
    struct html *h = view->h;
    sqlite3_stmt *row;
    int result;

    view->others = calloc(OTHERS_MAX, sizeof(*view->others));
    if (!view->others)
        return no_memory(h);
    if (sql_prepare(h->db,
                    "SELECT c.id, c.field, d.element FROM discrepancy d"
                    " JOIN discrepancy_group c ON c.id = d.discrepancy_group WHERE d.ref IS ?1 "
                    "AND d.sut IS ?2"
                    " AND c.id <> ?3 ORDER BY d.id LIMIT ?4",
                    &row, h->err) < 0)
        return -h->err->code;
    sql_bind_unless(row, 1, view->found->ref, 0);
    sql_bind_unless(row, 2, view->found->sut, 0);
    sqlite3_bind_int64(row, 3, view->found->group);
    sqlite3_bind_int(row, 4, OTHERS_MAX);
    while ((result = sql_row(row, h->err)) > 0) {
        struct other *o = &view->others[view->other_count];
        const char *element = (const char *)sqlite3_column_text(row, 2);

        o->group = sqlite3_column_int64(row, 0);
        o->field = strdup(html_column(row, 1));
        o->element = element ? strdup(element) : NULL;
        view->other_count++;
        if (!o->field || (element && !o->element)) {
            result = no_memory(h);
            break;
        }
    }
    sqlite3_finalize(row);
    return result;
}

static void put_status(const struct view *view, int side)
{
    const struct html_message *m = &view->message[side];
    const struct body *body = &view->sides[side].body;
    struct page *page = &view->h->page;

    page_put(page, "<td class=\"t\">");
    page_text(page, m->status ? m->status : m->answered ? "answered" : "no reply");
    if (m->answered && !m->body.data.len && m->body.wire_len)
        page_put(page, " <span class=\"none\">(the reply is not in the result)</span>");
    if (body->walked == WALK_TRUNCATED)
        page_put(page, " <span class=\"none\">(the rest was not captured)</span>");
    if (body->walked == WALK_MALFORMED || body->surplus)
        page_put(page, " <span class=\"none\">(%s)</span>",
                 body->surplus ? "bytes are left over" : "malformed from here on");
    page_put(page, "</td>");
}

static void put_table(struct view *view)
{
    struct page *page = &view->h->page;

    page_put(page, "<div class=\"wide\"><table class=\"replies\"><caption>Both replies</caption>"
                   "<thead><tr><th scope=\"col\">field</th><th scope=\"col\" class=\"t\">reference"
                   "</th><th scope=\"col\" class=\"t\">system under test</th>"
                   "<th scope=\"col\" class=\"t\">mark</th></tr></thead><tbody>\n"
                   "<tr><th scope=\"row\">outcome</th>");
    put_status(view, REF);
    put_status(view, SUT);
    page_put(page, "<td></td></tr>\n");
    put_rows(view);
    page_put(page, "</tbody></table></div>\n");
    if (view->left_out)
        page_put(page, "<p class=\"note\">%u more fields of these replies are not shown%s.</p>\n",
                 view->left_out,
                 view->shown >= HTML_ROWS_MAX ? "" : ": elements of lists that are equal");
}

int html_replies(struct html *h, const struct html_message message[SIDES],
                 const struct html_found *found)
{
    struct view view = { .h = h, .message = message, .found = found };
    int result = read_others(&view);

    if (result == 0)
        result = read_side(&view, REF);
    if (result == 0)
        result = read_side(&view, SUT);
    if (result == 0)
        put_table(&view);
    free_values(&view.sides[REF]);
    free_values(&view.sides[SUT]);
    for (uint32_t i = 0; i < view.other_count; i++) {
        free(view.others[i].field);
        free(view.others[i].element);
    }
    free(view.others);
    return result;
}
