/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_view.c
 *
 * Draws the view of a shadow.  For cmd_shadow.c; the contract is in shadow_view.h.
 */
#include "tee/shadow_view.h"
#include "base/values.h"
#include "show/lines.h"

#include <stdio.h>
#include <unistd.h>

#define PERIOD INT64_C(500000000)

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static void draw_requests(const struct shadow_counts *c)
{
    char text[VALUE_TEXT_MAX];
    const char *between = ": ";

    fprintf(stderr, "requests %s, compared %.1f %%", count_text(c->requests, text),
            percent(c->fates[FATE_COMPARED], c->requests));
    for (int i = FATE_COMPARED + 1; i < FATES; i++)
        if (c->fates[i]) {
            fprintf(stderr, "%s%s %s", between, count_text(c->fates[i], text),
                    shadow_fate_name((enum shadow_fate)i));
            between = ", ";
        }
    if (c->waiting)
        fprintf(stderr, "; %s wait for the SUT", count_text(c->waiting, text));
    line_end(stderr);
}

static void draw_objects(const struct shadow *s)
{
    struct copy_counts copied = shadow_copied(s);
    char text[VALUE_TEXT_MAX];
    uint64_t all = 0, same = shadow_objects(s, MIRROR_SYNCHRONIZED);

    for (int i = 0; i < MIRROR_STATES; i++)
        if (i != MIRROR_GONE && i != MIRROR_EXCLUDED)
            all += shadow_objects(s, (enum mirror_state)i);
    fprintf(stderr, "objects %s, synchronized %.1f %%", count_text(all, text), percent(same, all));
    for (int i = 0; i < MIRROR_STATES; i++)
        if (i != MIRROR_SYNCHRONIZED && shadow_objects(s, (enum mirror_state)i))
            fprintf(stderr, ", %s %s", count_text(shadow_objects(s, (enum mirror_state)i), text),
                    shadow_state_name((enum mirror_state)i));
    fprintf(stderr, "; %s copied", size_text(copied.bytes_written, text));
    line_end(stderr);
}

static void draw_verdicts(const struct teelog_counts *t)
{
    char text[VALUE_TEXT_MAX];
    const char *between = ": ";

    fprintf(stderr, "answers that differ %s", count_text(t->differ, text));
    for (int kind = 0; kind < KIND_MAX; kind++)
        if (t->differences[kind]) {
            fprintf(stderr, "%s%s %s", between, count_text(t->differences[kind], text),
                    teelog_kind_name(kind));
            between = ", ";
        }
    fprintf(stderr, "; %s agree", count_text(t->agree, text));
    if (t->withheld)
        fprintf(stderr, ", %s withheld", count_text(t->withheld, text));
    line_end(stderr);
}

/* The median and the 99th percentile of what was answered since it was drawn last. */
static void draw_latency(struct shadow_view *v, int side)
{
    const struct histogram *now = &shadow_latencies(v->shadow)->side[side];
    char median[VALUE_TEXT_MAX], late[VALUE_TEXT_MAX];
    struct histogram since;

    fputs(side == SUT ? "; SUT " : "latency: reference ", stderr);
    histogram_since(&since, now, &v->before[side]);
    if (since.count)
        fprintf(stderr, "%s, p99 %s", duration_text(histogram_at(&since, 0.5), median),
                duration_text(histogram_at(&since, 0.99), late));
    else
        fputs("-", stderr);
    v->before[side] = *now;
}

static void draw_scrub(struct shadow_view *v, const struct scrub_counts *c)
{
    char text[VALUE_TEXT_MAX];

    if (!c->objects)
        return;
    fprintf(stderr, "compared while clients were quiet: %s objects", count_text(c->objects, text));
    fprintf(stderr, ", %s differ", count_text(c->differ, text));
    line_end(stderr);
    v->lines++;
}

static void draw(struct shadow_view *v)
{
    const struct shadow_counts *c = shadow_counts(v->shadow);

    shadow_view_clear(v);
    lines_cut(stderr, true);
    draw_requests(c);
    draw_objects(v->shadow);
    draw_verdicts(shadow_verdicts(v->shadow));
    draw_latency(v, REF);
    draw_latency(v, SUT);
    line_end(stderr);
    v->lines = 4;
    draw_scrub(v, &c->scrub);
    lines_cut(stderr, false);
}

void shadow_view_clear(struct shadow_view *v)
{
    if (v->lines)
        lines_again(stderr, v->lines);
    v->lines = 0;
}

static int due(void *ctx, struct err *err)
{
    struct shadow_view *v = ctx;

    draw(v);
    return loop_set(v->loop, &v->timer, loop_now(v->loop) + PERIOD, err);
}

int shadow_view_begin(struct shadow_view *v, struct loop *loop, struct shadow *shadow,
                      struct err *err)
{
    if (!isatty(STDERR_FILENO))
        return 0;
    v->loop = loop;
    v->shadow = shadow;
    v->timer = (struct timer){ .due = due, .ctx = v };
    return loop_set(loop, &v->timer, loop_clock() + PERIOD, err);
}

void shadow_view_end(struct shadow_view *v)
{
    if (!v->loop)
        return;
    loop_unset(v->loop, &v->timer);
    draw(v);
    v->loop = NULL;
}
