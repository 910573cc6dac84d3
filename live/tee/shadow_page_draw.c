/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_page_draw.c
 *
 * What a shadow's page says, in the order of questions: do the servers answer alike, what differs,
 * how fast are they, and what was not compared and why.  For shadow_page.c.
 */
#include "align/codes.h"
#include "base/values.h"
#include "tee/shadow_page_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NEXT_MOST = 16 };

static const char *percent(uint64_t part, uint64_t all, char text[VALUE_TEXT_MAX])
{
    snprintf(text, VALUE_TEXT_MAX, "%.1f %%", all ? 100.0 * (double)part / (double)all : 0);
    return text;
}

/* --- the head */

static void verdict(struct page *page, const struct teelog_counts *t)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    if (t->differ)
        page_put(page, "<p class=\"verdict bad\">%s of %s pairs of answers differ.</p>\n",
                 count_text(t->differ, a), count_text(t->pairs, b));
    else if (t->agree)
        page_put(page,
                 "<p class=\"verdict good\">%s pairs of answers agree, and none differs.</p>\n",
                 count_text(t->agree, a));
    else
        page_put(page, "<p class=\"verdict\">No answers were compared so far.</p>\n");
    if (t->scrubs_differ)
        page_put(page,
                 "<p class=\"verdict bad\">%s times the servers differed when they were compared "
                 "while clients were quiet.</p>\n",
                 count_text(t->scrubs_differ, a));
    if (t->withheld)
        page_put(page,
                 "<p>Of %s pairs nobody can say it, for reasons that a table below lists.</p>\n",
                 count_text(t->withheld, a));
    if (t->failed)
        page_put(page,
                 "<p class=\"verdict bad\">The log could not be written. What differed since then "
                 "is not in it: %s pairs.</p>\n",
                 count_text(t->not_logged, a));
}

static void tiles(struct page *page, const struct page_view *v)
{
    struct shadow *s = v->setup->shadow;
    const struct shadow_counts *c = shadow_counts(s);
    uint64_t objects = shadow_history_objects(s);
    char text[VALUE_TEXT_MAX];

    cells_tiles(page);
    cells_tile(page, "requests of clients", count_text(c->requests, text));
    cells_tile(page, "compared", percent(c->fates[FATE_COMPARED], c->requests, text));
    cells_tile(page, "pairs that differ", count_text(shadow_verdicts(s)->differ, text));
    cells_tile(page, "objects", count_text(objects, text));
    cells_tile(page, "synchronized",
               percent(shadow_objects(s, MIRROR_SYNCHRONIZED), objects, text));
    cells_tile(page, "copied to the SUT", size_text(shadow_copied(s).bytes_written, text));
    cells_tile(page, "wait for the SUT", count_text(c->waiting, text));
    cells_tile(page, v->ended ? "time of the run" : "time so far",
               duration_text((v->now - v->began) / 1000000000 * 1000000000, text));
    cells_tiles_end(page);
}

static void over_time(struct page *page, const struct page_view *v)
{
    struct buf svg = { 0 };

    page_put(page, "<h2>Over time</h2>\n");
    if (v->history->count < 2) {
        page_put(page, "<p class=\"note\">The shadow has only begun.</p>\n");
        return;
    }
    if (shadow_history_plot(v->history, &svg, page->err) < 0) {
        page->failed = true;
    } else {
        page_put(page, "<div class=\"wide plot\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"The shadow over time\">");
        page_raw(page, svg.data, svg.len);
        page_put(page, "</div>\n");
    }
    buf_free(&svg);
}

/* --- differences */

static void kinds(struct page *page, const struct teelog_counts *t)
{
    static const char *const heads[] = { "kind", "differences", NULL };

    cells_begin(page, "Differences by kind", heads);
    for (int kind = 0; kind < KIND_MAX; kind++)
        if (t->differences[kind]) {
            cells_row(page, teelog_kind_name(kind));
            cells_count(page, t->differences[kind]);
            cells_row_end(page);
        }
    cells_end(page);
}

static void value_cell(struct page *page, const char *text)
{
    page_put(page, "<td class=\"t\"><code>");
    page_text_cut(page, text, 64);
    page_put(page, "</code></td>");
}

static int by_count(const void *a, const void *b)
{
    const struct teelog_group *x = *(const struct teelog_group *const *)a;
    const struct teelog_group *y = *(const struct teelog_group *const *)b;

    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : (x > y) - (x < y);
}

static void group_row(struct page *page, const struct teelog_group *g)
{
    char text[VALUE_TEXT_MAX];

    cells_row(page, g->procedure ? g->procedure->name : "-");
    cells_text(page, g->field[0] ? g->field : teelog_kind_name(g->kind));
    cells_text(page, g->what);
    cells_count(page, g->count);
    page_put(page, "<td class=\"t\"><code>");
    page_text_cut(page, g->path, 120);
    page_put(page, "</code></td>");
    value_cell(page, g->text[REF]);
    value_cell(page, g->text[SUT]);
    time_text(g->time, text);
    text[19] = '\0'; /* whole seconds */
    cells_text(page, text);
    cells_text(page, g->scrubs ? "while clients were quiet" : "clients");
    cells_row_end(page);
}

static void groups(struct page *page, const struct page_view *v)
{
    static const char *const heads[] = { "procedure", "<field",         "<difference",
                                         "count",     "<first path",    "<reference",
                                         "<SUT",      "<first at, UTC", "<found by",
                                         NULL };
    char text[VALUE_TEXT_MAX];
    uint32_t count;
    uint64_t further;
    const struct teelog_group *sorted[TEELOG_GROUPS];
    const struct teelog_group *g = shadow_differences(v->setup->shadow, &count, &further);

    cells_begin(page, "Each field, with the first example", heads);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &g[i];
    if (count)
        qsort(sorted, count, sizeof(*sorted), by_count);
    for (uint32_t i = 0; i < count; i++)
        group_row(page, sorted[i]);
    cells_end(page);
    if (further)
        page_put(page, "<p class=\"note\">%s further differences are of other kinds.</p>\n",
                 count_text(further, text));
}

static void differences(struct page *page, const struct page_view *v)
{
    const struct teelog_counts *t = shadow_verdicts(v->setup->shadow);

    page_put(page, "<h2>Differences</h2>\n");
    if (!t->differ) {
        page_put(page, "<p class=\"none\">None.</p>\n");
        return;
    }
    kinds(page, t);
    groups(page, v);
    page_put(page, "<p>The requests with both answers: <code>nfsdigest compare ");
    page_text(page, v->setup->log);
    page_put(page, "</code></p>\n");
}

/* --- latencies */

static void latencies(struct page *page, const struct shadow *s)
{
    static const char *const columns[] = { "", "reference", "SUT", "", NULL };
    static const uint8_t widths[] = { 1, 5, 5, 1 };
    static const char *const heads[] = { "procedure", "answers", "median",
                                         "90 %",      "99 %",    "most",
                                         "answers",   "median",  "90 %",
                                         "99 %",      "most",    "SUT / reference, medians",
                                         NULL };
    const struct shadow_latency *l = shadow_latencies(s);

    page_put(page, "<h2>Latencies</h2>\n");
    cells_begin_groups(page, "From a request to its answer", columns, widths);
    cells_heads(page, heads);
    for (const struct shadow_latency *end = l + SHADOW_LATENCIES; l < end; l++) {
        if (!l->side[REF].count && !l->side[SUT].count)
            continue;
        cells_row(page, l->name);
        for (int side = 0; side < SIDES; side++) {
            const struct histogram *h = &l->side[side];

            cells_count(page, h->count);
            cells_time(page, h->count, histogram_at(h, 0.5));
            cells_time(page, h->count, histogram_at(h, 0.9));
            cells_time(page, h->count, histogram_at(h, 0.99));
            cells_time(page, h->count, h->most);
        }
        if (l->side[SUT].count && histogram_at(&l->side[REF], 0.5) > 0)
            page_put(page, "<td>%.2f</td>",
                     (double)histogram_at(&l->side[SUT], 0.5) /
                         (double)histogram_at(&l->side[REF], 0.5));
        else
            page_put(page, "<td>-</td>");
        cells_row_end(page);
    }
    cells_end(page);
    page_put(page,
             "<p class=\"note\">The reference answers all requests, the SUT only those that it "
             "gets: compare procedures rather than the first row.</p>\n");
}

/* --- what was not compared */

static const char *meaning(enum shadow_fate fate)
{
    static const char *const texts[FATES] = {
        [FATE_COMPARED] = "both servers have answered",
        [FATE_UNANSWERED] = "the SUT did not answer in time",
        [FATE_NOT_SYNCHRONIZED] = "an object was not synchronized, or not any more",
        [FATE_EXCLUDED] = "the object is excluded, or the SUT cannot have it",
        [FATE_OVERLAPPING] = "changed the same as another request at the same time",
        [FATE_GAP] = "the call or the reply was not seen whole",
        [FATE_SUT_SLOW] = "too many requests waited for the SUT",
        [FATE_SUT_GONE] = "there was no connection to the SUT",
        [FATE_LISTING] = "a listing went on at a place that is not known on the SUT",
        [FATE_SECURED] = "credentials for one server only (RPCSEC_GSS)",
        [FATE_WITHOUT_OBJECT] = "has no object, or is malformed",
        [FATE_NOT_NFS] = "of another program, such as MOUNT",
        [FATE_TOO_LONG] = "writes more than the SUT takes at once",
    };

    return texts[fate];
}

static void requests(struct page *page, const struct shadow_counts *c)
{
    static const char *const heads[] = { "what became of it", "requests", "share", "<meaning",
                                         NULL };
    char text[VALUE_TEXT_MAX];

    cells_begin(page, "Requests", heads);
    for (int i = 0; i < FATES; i++) {
        if (!c->fates[i])
            continue;
        cells_row(page, shadow_fate_name((enum shadow_fate)i));
        cells_count(page, c->fates[i]);
        cells_share(page, c->fates[i], c->requests);
        cells_text(page, meaning((enum shadow_fate)i));
        cells_row_end(page);
    }
    cells_end(page);
    if (c->others)
        page_put(page,
                 "<p class=\"note\">Besides, other synchronizers sent %s requests to the "
                 "reference.  These are not of clients, and are not sent to the SUT.</p>\n",
                 count_text(c->others, text));
}

static void withheld(struct page *page, const struct teelog_counts *t)
{
    static const char *const heads[] = { "reason", "values", NULL };

    if (!t->withheld)
        return;
    cells_begin(page, "Values in pairs that could not be compared", heads);
    for (int i = 0; i < WITHHELD_MAX; i++)
        if (t->withheld_values[i]) {
            cells_row(page, teelog_reason_name(i));
            cells_count(page, t->withheld_values[i]);
            cells_row_end(page);
        }
    cells_end(page);
}

/* --- what is not synchronized */

static void states(struct page *page, const struct shadow *s)
{
    static const char *const heads[] = { "state", "objects", "<meaning", NULL };
    static const char *const texts[MIRROR_STATES] = {
        [MIRROR_UNKNOWN] = "was seen, but its directory was not copied yet",
        [MIRROR_QUEUED] = "waits to be copied",
        [MIRROR_COPYING] = "is being copied",
        [MIRROR_SYNCHRONIZED] = "is the same on both servers",
        [MIRROR_DIVERGED] = "the SUT made something else of it",
        [MIRROR_EXCLUDED] = "is excluded, or the SUT cannot have it",
        [MIRROR_GONE] = "was removed on the reference",
    };

    cells_begin(page, "Objects", heads);
    for (int i = 0; i < MIRROR_STATES; i++) {
        uint64_t count = shadow_objects(s, (enum mirror_state)i);

        if (!count)
            continue;
        cells_row(page, shadow_state_name((enum mirror_state)i));
        cells_count(page, count);
        cells_text(page, texts[i]);
        cells_row_end(page);
    }
    cells_end(page);
}

static void reason(struct page *page, const char *text, uint64_t count)
{
    if (!count)
        return;
    cells_row(page, text);
    cells_count(page, count);
    cells_row_end(page);
}

static void reasons(struct page *page, struct shadow *s)
{
    static const char *const again[] = { "copied again because", "objects", NULL };
    static const char *const not[] = { "could not be copied because", "times", NULL };
    const struct shadow_counts *c = shadow_counts(s);
    struct copy_counts copied = shadow_copied(s);
    uint64_t failed = 0;

    for (int i = 0; i < COPY_REASONS; i++)
        failed += copied.failed[i];
    if (c->overlaps || c->diverged || c->behind || c->mended || c->gaps) {
        cells_begin(page, "Objects that ceased to be synchronized", again);
        reason(page, "requests at the same time changed the same", c->overlaps);
        reason(page, "the SUT answered otherwise", c->diverged);
        reason(page, "others than the relay's clients changed it", c->behind);
        reason(page, "a change could not be sent to the SUT", c->mended);
        reason(page, "the ring was overwritten (times, for all objects)", c->gaps);
        cells_end(page);
    }
    if (failed) {
        cells_begin(page, "Copies that failed, and begin again", not);
        for (int i = 0; i < COPY_REASONS; i++)
            reason(page, copy_why_text((enum copy_why)i), copied.failed[i]);
        cells_end(page);
    }
}

static void next_ones(struct page *page, const struct shadow *s)
{
    static const char *const heads[] = { "path", "<state", "accesses", NULL };
    struct shadow_object next[NEXT_MOST];
    uint32_t count = shadow_unsynchronized(s, next, NEXT_MOST);

    if (!count)
        return;
    cells_begin(page, "Not synchronized, and used most", heads);
    for (uint32_t i = 0; i < count; i++) {
        page_put(page, "<tr><th scope=\"row\"><code>");
        page_text_cut(page, next[i].path, 120);
        page_put(page, "</code></th>");
        cells_text(page, shadow_state_name(next[i].state));
        page_put(page, "<td>%.1f</td>", next[i].accesses);
        cells_row_end(page);
    }
    cells_end(page);
    page_put(page, "<p class=\"note\">Accesses, of the object and of what is below it, count half "
                   "after a minute.</p>\n");
}

void shadow_page_draw(struct page *page, const struct page_view *v)
{
    struct shadow *s = v->setup->shadow;
    char text[VALUE_TEXT_MAX];

    verdict(page, shadow_verdicts(s));
    tiles(page, v);
    over_time(page, v);
    differences(page, v);
    latencies(page, s);
    page_put(page, "<h2>What was compared, and what was not</h2>\n");
    requests(page, shadow_counts(s));
    withheld(page, shadow_verdicts(s));
    page_put(page, "<h2>What is synchronized, and what is not</h2>\n");
    states(page, s);
    reasons(page, s);
    next_ones(page, s);
    time_text(v->now, text);
    text[19] = '\0'; /* whole seconds */
    page_put(page, "<p class=\"note\">Written at %s UTC.</p>\n", text);
}
