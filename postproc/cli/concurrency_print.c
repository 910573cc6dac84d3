/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/concurrency_print.c
 *
 * A simulation as a table and as lines of JSON.  Throughput, concurrency and the window that is
 * enough are computed here, from the times that replays took.  For cmd_concurrency.c.  The contract
 * is in concurrency_print.h.
 */
#include "cli/concurrency_print.h"
#include "base/json.h"
#include "base/values.h"
#include "depend/access.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A window is enough that reaches this share of the throughput of the largest one. */
#define ENOUGH 0.9

/* The coarser one first: it is the paper's. */
static const enum granularity order[] = { ACCESS_OBJECT, ACCESS_FINE };

static int64_t makespan(const struct concurrency_report *r, enum granularity g, uint32_t model,
                        uint32_t window)
{
    return r->makespans[((uint32_t)g * r->model_count + model) * r->window_count + window];
}

/* Both are NAN when nothing takes time. */
static double throughput(const struct concurrency_report *r, int64_t span)
{
    return span > 0 ? (double)(r->operations - r->unplayable) / (double)span * 1e9 : NAN;
}

static double concurrency(const struct concurrency_report *r, uint32_t model, int64_t span)
{
    return span > 0 ? r->busy[model] / (double)span : NAN;
}

static double own_concurrency(const struct concurrency_report *r)
{
    return r->end > r->begin ? r->answered_time / (double)(r->end - r->begin) : NAN;
}

static double own_throughput(const struct concurrency_report *r)
{
    return r->end > r->begin ? (double)r->answered / (double)(r->end - r->begin) * 1e9 : NAN;
}

static double mean_latency(const struct concurrency_report *r, uint32_t model)
{
    uint64_t played = r->operations - r->unplayable;

    return played ? r->busy[model] / (double)played : 0;
}

/* The first window that is enough, or 0: none of them is. */
static uint32_t enough(const struct concurrency_report *r, enum granularity g, uint32_t model)
{
    for (uint32_t w = 0; w < r->window_count; w++)
        if ((double)makespan(r, g, model, w) * ENOUGH <= (double)r->largest[g][model])
            return r->windows[w];
    return 0;
}

/* Four digits. */
static const char *figure(double value, char text[VALUE_TEXT_MAX])
{
    if (isnan(value))
        snprintf(text, VALUE_TEXT_MAX, "-");
    else if (value >= 999.95)
        count_text((uint64_t)llround(value), text);
    else
        snprintf(text, VALUE_TEXT_MAX, "%.*f", value < 9.9995 ? 3 : value < 99.995 ? 2 : 1, value);
    return text;
}

static const char *latency_words(const struct latency_model *model, char text[128])
{
    char time[VALUE_TEXT_MAX], factor[48] = "";

    if (model->directory_factor != 1)
        snprintf(factor, sizeof(factor), ", those of directory operations x %g",
                 model->directory_factor);
    snprintf(text, 128, "%s%s", model->constant ? duration_text(model->constant, time) : "measured",
             factor);
    return text;
}

static void print_trace(const struct concurrency_report *r)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX];

    printf("operations     %s; %s of them inferred, %s cannot be replayed\n",
           count_text(r->operations, a), count_text(r->inferred, b), count_text(r->unplayable, c));
    printf("trace itself   concurrency %s, %s operations/s, %s\n", figure(own_concurrency(r), a),
           figure(own_throughput(r), b), duration_text(r->end - r->begin, c));
    for (unsigned i = 0; i < 2; i++) {
        uint64_t n = r->dependencies[order[i]];

        printf("dependencies   %-6s %s, %s per operation\n", granularity_name(order[i]),
               count_text(n, a), figure(r->operations ? (double)n / (double)r->operations : 0, b));
    }
    if (r->outstanding)
        printf("limit          %s outstanding requests\n", count_text(r->outstanding, a));
}

static void print_model(const struct concurrency_report *r, uint32_t m)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], words[128];

    printf("\nlatencies      %s; %s on average", latency_words(&r->models[m], words),
           duration_text(llround(mean_latency(r, m)), a));
    if (r->guessed && !r->models[m].constant)
        printf("; medians for %s", count_text(r->guessed, b));
    printf("\n");
    for (unsigned i = 0; i < 2; i++) {
        enum granularity g = order[i];
        uint32_t window = enough(r, g, m);

        printf("critical path  %-6s %s", granularity_name(g), duration_text(r->critical[g][m], a));
        if (window)
            printf("; 90 %% of the largest throughput with a window of %s", count_text(window, b));
        printf("\n");
    }
    printf("\n%9s  %-40s  %s\n%9s", "", granularity_name(order[0]), granularity_name(order[1]),
           "window");
    for (unsigned i = 0; i < 2; i++)
        printf("  %14s %12s %12s", "operations/s", "concurrency", "makespan");
    printf("\n");
    for (uint32_t w = 0; w < r->window_count; w++) {
        printf("%9s", count_text(r->windows[w], a));
        for (unsigned i = 0; i < 2; i++) {
            int64_t span = makespan(r, order[i], m, w);

            printf("  %14s", figure(throughput(r, span), a));
            printf(" %12s %12s", figure(concurrency(r, m, span), a), duration_text(span, b));
        }
        printf("\n");
    }
}

void concurrency_text(const struct concurrency_report *r)
{
    print_trace(r);
    for (uint32_t m = 0; m < r->model_count; m++)
        print_model(r, m);
}

static void json_figure(struct json *j, const char *key, double value)
{
    if (isnan(value))
        json_null(j, key);
    else
        json_number(j, key, "%.9g", value);
}

static void json_unless_0(struct json *j, const char *key, uint32_t value)
{
    if (value)
        json_u64(j, key, value);
    else
        json_null(j, key);
}

static void json_model(struct json *j, const struct concurrency_report *r, enum granularity g,
                       uint32_t m)
{
    json_text(j, "granularity", granularity_name(g));
    if (r->models[m].constant)
        json_i64(j, "latency", r->models[m].constant);
    else
        json_text(j, "latency", "measured");
    json_figure(j, "directory_factor", r->models[m].directory_factor);
}

static void json_simulation(struct json *j, const struct concurrency_report *r, enum granularity g,
                            uint32_t m)
{
    json_object(j, NULL);
    json_text(j, "kind", "model");
    json_model(j, r, g, m);
    json_u64(j, "dependencies", r->dependencies[g]);
    json_i64(j, "critical_path", r->critical[g][m]);
    json_figure(j, "mean_latency", mean_latency(r, m));
    json_unless_0(j, "enough", enough(r, g, m));
    json_object_end(j);
    json_end(j);
    for (uint32_t w = 0; w < r->window_count; w++) {
        int64_t span = makespan(r, g, m, w);

        json_object(j, NULL);
        json_text(j, "kind", "window");
        json_model(j, r, g, m);
        json_u64(j, "window", r->windows[w]);
        json_i64(j, "makespan", span);
        json_figure(j, "throughput", throughput(r, span));
        json_figure(j, "concurrency", concurrency(r, m, span));
        json_object_end(j);
        json_end(j);
    }
}

void concurrency_json(const struct concurrency_report *r)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_text(&j, "kind", "trace");
    json_u64(&j, "operations", r->operations);
    json_u64(&j, "inferred", r->inferred);
    json_u64(&j, "unplayable", r->unplayable);
    json_u64(&j, "guessed", r->guessed);
    json_i64(&j, "duration", r->end - r->begin);
    json_figure(&j, "concurrency", own_concurrency(r));
    json_figure(&j, "throughput", own_throughput(r));
    json_unless_0(&j, "outstanding", r->outstanding);
    json_object_end(&j);
    json_end(&j);
    for (uint32_t m = 0; m < r->model_count; m++)
        for (unsigned i = 0; i < 2; i++)
            json_simulation(&j, r, order[i], m);
}
