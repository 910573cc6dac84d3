/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "depend/concurrency.h"
#include "depend/concurrency_queue.h"

#include <stdlib.h>

/* Without a limit an operation's beginning follows from what was before it: the latest of the
 * finishes of its dependencies and of all operations that must have left the window. */
struct simulation {
    uint32_t window, mask;
    int64_t *finish;       /* of the last |window| operations or more; places: number & mask */
    int64_t left;          /* latest finish of what is before the window */
    int64_t makespan;      /* so far */
    struct limited *queue; /* with a limit, in place of all this */
};

struct concurrency {
    struct concurrency_options options;
    uint64_t count; /* operations so far */
    uint32_t simulation_count;
    struct simulation simulations[]; /* [granularity][model][window] */
};

static int simulation_init(struct simulation *s, uint32_t window, uint32_t outstanding)
{
    uint32_t places = 1;

    while (places < window)
        places *= 2;
    s->window = window;
    s->mask = places - 1;
    if (outstanding)
        s->queue = limited_new(window, outstanding);
    else
        s->finish = calloc(places, sizeof(*s->finish));
    return s->queue || s->finish ? 0 : -ERR_SYSTEM;
}

struct concurrency *concurrency_new(const struct concurrency_options *options, struct err *err)
{
    uint32_t each = options->model_count * options->window_count;
    struct concurrency *c;

    if (!options->model_count || options->model_count > CONCURRENCY_MODELS_MAX ||
        !options->window_count || options->window_count > 1000) {
        err_set(err, ERR_USAGE, "1 to %d models of latencies and 1 to 1000 windows",
                CONCURRENCY_MODELS_MAX);
        return NULL;
    }
    c = calloc(1, sizeof(*c) + CONCURRENCY_GRANULARITIES * each * sizeof(*c->simulations));
    if (!c) {
        err_memory(err, "simulations");
        return NULL;
    }
    c->options = *options;
    c->simulation_count = CONCURRENCY_GRANULARITIES * each;
    for (uint32_t i = 0; i < c->simulation_count; i++) {
        uint32_t window = options->windows[i % options->window_count];

        if (!window || window > CONCURRENCY_WINDOW_MAX)
            err_set(err, ERR_USAGE, "a window of %u: they have 1 to %d operations", window,
                    CONCURRENCY_WINDOW_MAX);
        else if (simulation_init(&c->simulations[i], window, options->outstanding) < 0)
            err_memory(err, "simulations");
        else
            continue;
        concurrency_free(c);
        return NULL;
    }
    return c;
}

void concurrency_free(struct concurrency *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->simulation_count; i++) {
        free(c->simulations[i].finish);
        limited_free(c->simulations[i].queue);
    }
    free(c);
}

static void simulate(struct simulation *s, uint64_t number, int64_t latency,
                     const struct concurrency_edges *edges)
{
    int64_t begin;

    if (number >= s->window && s->finish[(number - s->window) & s->mask] > s->left)
        s->left = s->finish[(number - s->window) & s->mask];
    begin = s->left;
    /* distances grow; from |window| on they are of what is finished */
    for (uint32_t i = 0; i < edges->count && edges->distances[i] < s->window; i++) {
        int64_t end = s->finish[(number - edges->distances[i]) & s->mask];

        if (end > begin)
            begin = end;
    }
    if (__builtin_add_overflow(begin, latency, &begin))
        begin = INT64_MAX;
    s->finish[number & s->mask] = begin;
    if (begin > s->makespan)
        s->makespan = begin;
}

int concurrency_next(struct concurrency *c, const int64_t *latencies,
                     const struct concurrency_edges edges[CONCURRENCY_GRANULARITIES],
                     struct err *err)
{
    struct simulation *s = c->simulations;

    for (uint32_t g = 0; g < CONCURRENCY_GRANULARITIES; g++)
        if (edges[g].count &&
            (!edges[g].distances[0] || edges[g].distances[edges[g].count - 1] > c->count))
            return err_set(err, ERR_INPUT, "operation %llu depends on what does not come before it",
                           (unsigned long long)c->count);
    for (uint32_t g = 0; g < CONCURRENCY_GRANULARITIES; g++)
        for (uint32_t m = 0; m < c->options.model_count; m++)
            for (uint32_t w = 0; w < c->options.window_count; w++, s++) {
                if (!s->queue)
                    simulate(s, c->count, latencies[m], &edges[g]);
                else if (limited_next(s->queue, latencies[m], &edges[g]) < 0)
                    return err_set(err, ERR_SYSTEM, "out of memory for a window of %u operations",
                                   s->window);
            }
    c->count++;
    return 0;
}

int64_t concurrency_makespan(struct concurrency *c, uint32_t granularity, uint32_t model,
                             uint32_t window)
{
    struct simulation *s =
        &c->simulations[(granularity * c->options.model_count + model) * c->options.window_count +
                        window];

    return s->queue ? limited_makespan(s->queue) : s->makespan;
}
