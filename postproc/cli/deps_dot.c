/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/deps_dot.c
 *
 * A graph in the DOT language of Graphviz: an arrow leads from an operation to each that waits for
 * it.
 */
#include "base/output.h"
#include "cli/deps_print.h"

#include <stdio.h>
#include <stdlib.h>

struct deps_dot {
    struct deps_item *items[DEPS_DOT_NODES]; /* by growing place */
    uint32_t count;
    uint64_t edges;
};

struct deps_dot *deps_dot_new(struct err *err)
{
    struct deps_dot *dot = calloc(1, sizeof(*dot));

    if (!dot)
        err_memory(err, "a graph");
    return dot;
}

void deps_dot_free(struct deps_dot *dot)
{
    for (uint32_t i = 0; dot && i < dot->count; i++)
        deps_item_free(dot->items[i]);
    free(dot);
}

int deps_dot_add(struct deps_dot *dot, struct deps_item *item, struct err *err)
{
    uint32_t edges = item->count;

    if (dot->count < DEPS_DOT_NODES && dot->edges + edges <= DEPS_DOT_EDGES) {
        dot->items[dot->count++] = item;
        dot->edges += edges;
        return 0;
    }
    deps_item_free(item);
    return err_set(
        err, ERR_USAGE,
        "--dot: the graph would have more than %d %s: choose less with --range, --object "
        "or --path",
        dot->count == DEPS_DOT_NODES ? DEPS_DOT_NODES : DEPS_DOT_EDGES,
        dot->count == DEPS_DOT_NODES ? "operations" : "dependencies");
}

/* As part of a quoted string: a backslash begins an escape and "&" an entity there. */
static void put_escaped(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', to);
        fputs(*text == '&' ? "&amp;" : (char[]){ *text, '\0' }, to);
    }
}

static void put_frame(FILE *to, int64_t source, int64_t frame)
{
    if (!frame)
        fputs("not captured", to);
    else if (source > 1)
        fprintf(to, "frame %lld:%lld", (long long)source, (long long)frame);
    else
        fprintf(to, "frame %lld", (long long)frame);
}

static void put_node(FILE *to, const struct deps_item *item)
{
    bool called = item->call_frame != 0;

    fprintf(to, "  p%llu [label=\"", (unsigned long long)item->place);
    put_frame(to, called ? item->call_source : item->reply_source,
              called ? item->call_frame : item->reply_frame);
    fprintf(to, "\\n%s", item->procedure ? item->procedure : "?");
    for (int i = 0; i < 2; i++)
        if (i ? item->path2 : item->path) {
            fputs("\\n", to);
            put_escaped(to, i ? item->path2 : item->path);
        }
    if (item->inferred)
        fprintf(to, "\\ninferred: %s", repair_reason_name((enum repair_reason)item->inferred));
    if (item->unplayable)
        fprintf(to, "\\nunplayable: %s", unplayable_name((enum unplayable)item->unplayable));
    fputs("\"", to);
    if (item->inferred)
        fputs(", style=dotted", to);
    if (item->unplayable)
        fputs(", color=gray, fontcolor=gray", to);
    fputs("];\n", to);
}

static int by_place(const void *a, const void *b)
{
    const struct deps_on *left = a, *right = b;

    return left->place < right->place ? -1 : left->place > right->place;
}

static int by_item(const void *key, const void *element)
{
    uint64_t place = *(const uint64_t *)key;
    const struct deps_item *item = *(struct deps_item *const *)element;

    return place < item->place ? -1 : place > item->place;
}

static bool is_inside(const struct deps_dot *dot, uint64_t place)
{
    return dot->count &&
           bsearch(&place, dot->items, dot->count, sizeof(dot->items[0]), by_item) != NULL;
}

/* Operations outside, each once. */
static int put_outside(struct deps_dot *dot, struct deps_pick *pick, FILE *to, struct err *err)
{
    struct deps_on *outside = malloc((dot->edges + 1) * sizeof(*outside));
    uint32_t count = 0;
    int result = 0;

    if (!outside)
        return err_memory(err, "a graph");
    for (uint32_t i = 0; i < dot->count; i++)
        for (uint32_t n = 0; n < dot->items[i]->count; n++)
            if (!is_inside(dot, dot->items[i]->on[n].place))
                outside[count++] = dot->items[i]->on[n];
    qsort(outside, count, sizeof(*outside), by_place);
    for (uint32_t i = 0; result == 0 && i < count; i++) {
        int64_t source, frame;

        if (i && outside[i].place == outside[i - 1].place)
            continue;
        result = deps_frame(pick, outside[i].operation, &source, &frame, err);
        fprintf(to, "  p%llu [label=\"", (unsigned long long)outside[i].place);
        put_frame(to, source, frame);
        fprintf(to, "\\n%s\", style=dashed, fontsize=8, height=0.2, width=0.2];\n",
                outside[i].procedure ? outside[i].procedure : "?");
    }
    free(outside);
    return result;
}

static int put_graph(struct deps_dot *dot, struct deps_pick *pick, FILE *to, struct err *err)
{
    fputs("digraph dependencies {\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n",
          to);
    fprintf(to, "  label=\"dependencies (%s)\";\n", granularity_name(pick->choice->granularity));
    for (uint32_t i = 0; i < dot->count; i++)
        put_node(to, dot->items[i]);
    if (put_outside(dot, pick, to, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < dot->count; i++) {
        const struct deps_item *item = dot->items[i];

        for (uint32_t n = item->count; n-- > 0;)
            fprintf(to, "  p%llu -> p%llu%s;\n", (unsigned long long)item->on[n].place,
                    (unsigned long long)item->place,
                    is_inside(dot, item->on[n].place) ? "" : " [style=dashed]");
    }
    fputs("}\n", to);
    return 0;
}

int deps_dot_write(struct deps_dot *dot, struct deps_pick *pick, const char *path, struct err *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    struct output *out;
    int result;

    if (!to)
        return err_memory(err, "a graph");
    result = put_graph(dot, pick, to, err);
    if (fclose(to) != 0 && result == 0)
        result = err_memory(err, "a graph");
    if (result == 0) {
        out = output_open(path, err);
        result = out ? output_write(out, text, len, err) : -err->code;
        if (result == 0)
            result = output_commit(out, err);
        output_close(out);
    }
    free(text);
    return result;
}
