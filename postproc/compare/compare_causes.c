/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/found.h"

#include <stdlib.h>

/* The gravest first, of these the most frequent. */
static int by_severity(const void *a, const void *b)
{
    const struct cause *x = a, *y = b;

    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    return x->count != y->count ? (x->count < y->count ? 1 : -1)
                                : (x->number > y->number) - (x->number < y->number);
}

/* |of|: by explanation, the cause that was made for it, plus 1.  Without an explanation a group
 * gets a cause of its own. */
static void collect(struct found *f, const struct explanations *explanations, uint32_t *of,
                    struct cause *causes, uint32_t *count)
{
    for (uint32_t i = 0; i < f->group_count; i++) {
        struct group *g = &f->groups[i];
        uint32_t none = 0, *at = g->explanation ? &of[g->explanation - explanations->list] : &none;

        if (!*at) {
            causes[*count] = (struct cause){ g->explanation, g->severity, 0, i };
            *at = ++*count;
        }
        causes[*at - 1].count += g->count;
        if (g->severity < causes[*at - 1].severity)
            causes[*at - 1].severity = g->severity;
    }
}

int causes_find(struct found *f, const struct explanations *explanations, struct cause **causes,
                uint32_t *count, struct err *err)
{
    uint32_t *of = calloc(explanations->count + 1, sizeof(*of));

    *count = 0;
    *causes = calloc(f->group_count + 1, sizeof(**causes));
    if (!of || !*causes) {
        free(of);
        return err_memory(err, "groups");
    }
    collect(f, explanations, of, *causes, count);
    qsort(*causes, *count, sizeof(**causes), by_severity);
    for (uint32_t i = 0; i < *count; i++) {
        const struct cause *cause = &(*causes)[i];

        if (cause->explanation)
            of[cause->explanation - explanations->list] = i + 1;
        else
            f->groups[cause->number].cause = i + 1;
    }
    for (uint32_t i = 0; i < f->group_count; i++)
        if (f->groups[i].explanation)
            f->groups[i].cause = of[f->groups[i].explanation - explanations->list];
    free(of);
    return 0;
}
