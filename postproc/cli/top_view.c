/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/top_view.c
 *
 * The tables of "nfsdigest top" as text.  Each line is made as text first, so that a terminal and a
 * file get the same; a terminal cuts what is too long.  The contract is in top_view.h.
 */
#include "cli/top_view.h"
#include "base/escape.h"
#include "base/values.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Where lines go: a stream, or also a terminal with so many lines left. */
struct lines {
    FILE *out;
    struct screen *screen; /* or NULL */
    unsigned left;
    unsigned columns; /* of the terminal; 0: no limit */
    unsigned label;   /* of these, that labels do not have */
    bool hidden[TOP_COLUMNS];
};

enum { LABEL_WANTED = 24, LABEL_LEAST = 8 };

static const struct {
    int width;
    const char *text;
} titles[TOP_COLUMNS] = {
    [TOP_OPERATIONS] = { 9, "ops/s" },
    [TOP_READ] = { 10, "read/s" },
    [TOP_WRITTEN] = { 10, "written/s" },
    [TOP_P50] = { 8, "p50" },
    [TOP_P99] = { 8, "p99" },
    [TOP_ERRORS] = { 7, "failed" },
    [TOP_RESENT] = { 7, "resent" },
    [TOP_WAITING] = { 7, "waiting" },
};

/* On a narrow terminal columns make room for labels, but not the one that rows are sorted by. */
static void choose_columns(struct lines *l, const struct top_view *v)
{
    static const enum top_column first_to_go[] = { TOP_WAITING, TOP_RESENT,  TOP_P50,
                                                   TOP_ERRORS,  TOP_WRITTEN, TOP_READ };

    l->label = 2; /* a blank, and the last place of a line, which clearing its end takes */
    for (int i = 0; i < TOP_COLUMNS; i++)
        l->label += (unsigned)titles[i].width + 1;
    for (size_t i = 0; i < sizeof(first_to_go) / sizeof(*first_to_go); i++) {
        enum top_column column = first_to_go[i];

        if (!l->columns || l->columns >= l->label + LABEL_WANTED || column == v->sort)
            continue;
        l->hidden[column] = true;
        l->label -= (unsigned)titles[column].width + 1;
    }
}

static void end_line(struct lines *l)
{
    if (!l->screen)
        putc('\n', l->out);
    else
        screen_line_end(l->screen);
    if (l->left)
        l->left--;
}

__attribute__((format(printf, 2, 3))) static void line(struct lines *l, const char *format, ...)
{
    va_list args;

    if (!l->left)
        return;
    va_start(args, format);
    vfprintf(l->out, format, args);
    va_end(args);
    end_line(l);
}

static const struct top_counts *counts_of(const struct top_view *v, const struct top_row *row)
{
    return v->all ? &row->all : &row->last;
}

static double rate(uint64_t count, double seconds)
{
    return seconds > 0 ? (double)count / seconds : 0;
}

static const char *rate_of(const struct top_view *v, uint64_t count, char text[VALUE_TEXT_MAX])
{
    double value = rate(count, v->all ? v->begun : v->now);

    if (value > 0 && value < 10)
        snprintf(text, VALUE_TEXT_MAX, "%.1f", value);
    else
        count_text((uint64_t)(value + 0.5), text);
    return text;
}

static const char *bytes_rate(const struct top_view *v, uint64_t bytes, char text[VALUE_TEXT_MAX])
{
    return size_text((uint64_t)rate(bytes, v->all ? v->begun : v->now), text);
}

static const char *bytes_of(const struct top_view *v, uint64_t bytes, char text[VALUE_TEXT_MAX])
{
    return bytes ? bytes_rate(v, bytes, text) : "-";
}

static const char *latency_of(const struct top_counts *c, double part, char text[VALUE_TEXT_MAX])
{
    return c->latency.count ? duration_rough_text(spread_at(&c->latency, part), text) : "-";
}

static void put_waiting(struct lines *l, const struct top_view *v)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];
    const struct top_counts *c = top_whole(v->top, !v->all);
    int64_t oldest = top_oldest(v->top);

    if (!v->knows_waiting)
        return;
    fprintf(l->out, ", %s waiting", count_text(c->waiting, a));
    if (c->waiting && oldest != TIME_NONE && v->time > oldest)
        fprintf(l->out, " (the oldest %s)", duration_text(v->time - oldest, b));
}

static void put_packets(struct lines *l, const struct top_view *v)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    if (v->packets)
        fprintf(l->out, "; packets %s, lost %s", count_text(v->packets->received, a),
                count_text(v->packets->dropped + v->packets->interface_dropped, b));
    if (v->forgotten)
        fprintf(l->out, "; names were forgotten %s times", count_text(v->forgotten, a));
}

static void put_head(struct lines *l, const struct top_view *v)
{
    const struct top_counts *c = top_whole(v->top, !v->all);
    double seconds = v->all ? v->begun : v->now;
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], d[VALUE_TEXT_MAX], when[VALUE_TEXT_MAX] = "";

    if (!l->left)
        return;
    if (v->time != TIME_NONE)
        *strchr(time_text(v->time, when), '.') = '\0';
    escape_print(l->out, v->name);
    fprintf(l->out, "  %s  %s%s", when, duration_text((int64_t)(seconds * 1e9), a),
            v->ended ? ""
            : v->all ? " since the beginning"
                     : "");
    put_packets(l, v);
    end_line(l);
    fprintf(l->out, "%s operations, %s/s, ", count_text(c->operations, a),
            rate_of(v, c->operations, b));
    fprintf(l->out, "read %s/s, written %s/s", bytes_rate(v, c->read, a),
            bytes_rate(v, c->written, b));
    end_line(l);
    fprintf(l->out, "%s errors, %s unanswered, %s resent", count_text(c->errors, a),
            count_text(c->unanswered, b), count_text(c->resent, d));
    put_waiting(l, v);
    fprintf(l->out, "; p50 %s, p99 %s", latency_of(c, 0.5, a), latency_of(c, 0.99, b));
    end_line(l);
    line(l, "%s", "");
}

/* Where a label begins so that its end is on the screen: the end of a path says more than its
 * beginning. */
static const char *end_of(const struct lines *l, const char *label)
{
    size_t room = l->columns > l->label + LABEL_LEAST ? l->columns - l->label : LABEL_LEAST;
    size_t characters = 0;

    for (const char *p = label; *p; p++)
        characters += (*p & 0xc0) != 0x80;
    for (; l->columns && characters > room; label++)
        characters -= (label[1] & 0xc0) != 0x80;
    return label;
}

static const char *cell(const struct top_view *v, const struct top_counts *c,
                        enum top_column column, char text[VALUE_TEXT_MAX])
{
    switch (column) {
    case TOP_OPERATIONS:
        return rate_of(v, c->operations, text);
    case TOP_READ:
        return bytes_of(v, c->read, text);
    case TOP_WRITTEN:
        return bytes_of(v, c->written, text);
    case TOP_P50:
        return latency_of(c, 0.5, text);
    case TOP_P99:
        return latency_of(c, 0.99, text);
    case TOP_ERRORS:
        return count_text(c->errors + c->unanswered, text);
    case TOP_RESENT:
        return count_text(c->resent, text);
    default:
        return v->knows_waiting ? count_text(c->waiting, text) : "-";
    }
}

static void put_row(struct lines *l, const struct top_view *v, const struct top_counts *c,
                    const char *label)
{
    char text[VALUE_TEXT_MAX];

    if (!l->left)
        return;
    for (int i = 0; i < TOP_COLUMNS; i++)
        if (!l->hidden[i])
            fprintf(l->out, "%*s ", titles[i].width, cell(v, c, (enum top_column)i, text));
    fprintf(l->out, " %s", end_of(l, label));
    end_line(l);
}

static void put_titles(struct lines *l, const struct top_view *v)
{
    char text[16];

    if (!l->left)
        return;
    for (int i = 0; i < TOP_COLUMNS; i++) {
        if (l->hidden[i])
            continue;
        snprintf(text, sizeof(text), "%s%s", i == (int)v->sort ? "*" : "", titles[i].text);
        fprintf(l->out, "%*s ", titles[i].width, text);
    }
    fprintf(l->out, " %s", top_by_names[v->by]);
    end_line(l);
}

/* The rows that are not shown, together. */
static void rest_of(const struct top_view *v, const struct top_row **rows, size_t shown,
                    size_t count, struct top_counts *rest)
{
    *rest = *top_others(v->top, v->by, !v->all);
    for (size_t i = shown; i < count; i++)
        top_counts_merge(rest, counts_of(v, rows[i]));
}

static void put_table(struct lines *l, const struct top_view *v)
{
    const struct top_row *rows[TOP_ROWS];
    size_t count = top_sorted(v->top, v->by, v->sort, !v->all, rows, TOP_ROWS), shown = count;
    struct top_counts rest;
    char label[64];

    choose_columns(l, v);
    put_titles(l, v);
    if (shown > v->limit)
        shown = (size_t)v->limit;
    if (shown >= l->left) /* one line is for the others */
        shown = l->left ? l->left - 1 : 0;
    for (size_t i = 0; i < shown; i++)
        put_row(l, v, counts_of(v, rows[i]), rows[i]->label);
    rest_of(v, rows, shown, count, &rest);
    snprintf(label, sizeof(label), "others%s",
             top_lost(v->top, v->by) ? ", of too many to tell apart" : "");
    if (rest.operations || rest.resent || rest.waiting)
        put_row(l, v, &rest, label);
}

void top_print(const struct top_view *v)
{
    struct lines l = { .out = stdout, .left = UINT32_MAX };

    put_head(&l, v);
    put_table(&l, v);
    line(&l, "%s", "");
    fflush(stdout);
}

void top_draw(const struct top_view *v, struct screen *screen, bool paused)
{
    struct lines l = { .out = screen->out, .screen = screen };

    screen_size(screen, &l.left, &l.columns);
    l.left = l.left > 2 ? l.left - 1 : 1; /* the last line has the keys */
    screen_clear(screen);
    put_head(&l, v);
    put_table(&l, v);
    fputs(v->ended ? "[the end] " : "", screen->out); /* at most 79 characters */
    fputs("c)lient p)ath o)peration u)ser e)xport sort: < >", screen->out);
    if (!v->ended)
        fprintf(screen->out, " t)otals%s space: %s", v->all ? " off" : "",
                paused ? "go on" : "pause");
    fputs(" q)uit", screen->out);
    screen_flush(screen);
}

void top_slow(const struct top_operation *o)
{
    char a[VALUE_TEXT_MAX], when[VALUE_TEXT_MAX] = "-", range[2 * VALUE_TEXT_MAX] = "";
    const struct record_operation *r = o->record;

    if (o->time != TIME_NONE)
        time_text(o->time, when);
    if (r->call.flags & SIGHTING_COUNT)
        snprintf(range, sizeof(range), " %llu+%llu", (unsigned long long)r->offset,
                 (unsigned long long)r->count);
    printf("%s %9s %-15s uid %-6s %-11s %s%s  %s\n", when,
           o->latency != TIME_NONE ? duration_text(o->latency, a) : "-", o->client, o->uid,
           o->procedure, *o->path ? o->path : "-", range, o->status);
    fflush(stdout);
}
