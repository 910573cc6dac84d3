/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/curve.c
 *
 * The points of a curve, their table and their JSON.  See curve.h.
 */
#include "replay/curve.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/output.h"
#include "base/values.h"

#include <inttypes.h>
#include <stdlib.h>

int curve_open(struct curve *c, const struct replay_options *options, struct err *err)
{
    *c = (struct curve){ .options = options };
    c->room = options->target_count * ((uint32_t)options->points + 1);
    c->points = calloc(c->room, sizeof(*c->points));
    return c->points ? 0 : err_memory(err, "the curve");
}

void curve_close(struct curve *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        free(c->points[i].procedures);
    free(c->points);
}

const char *curve_run_name(uint32_t target, uint32_t number, char text[CURVE_RUN_TEXT])
{
    if (number)
        snprintf(text, CURVE_RUN_TEXT, "%" PRIu32 "-rate-%02" PRIu32, target + 1, number);
    else
        snprintf(text, CURVE_RUN_TEXT, "%" PRIu32 "-asap", target + 1);
    return text;
}

/* --- a point */

static int all_times(struct curve_point *p, const struct tally *tally, struct err *err)
{
    struct histogram *sent = calloc(1, sizeof(*sent)), *planned = calloc(1, sizeof(*planned));

    for (unsigned i = 0; sent && planned && i < TALLY_PROCEDURES; i++)
        if (tally->procedure[i]) {
            histogram_merge(sent, &tally->procedure[i]->sent);
            histogram_merge(planned, &tally->procedure[i]->planned);
        }
    if (sent && planned) {
        p->sent = report_times_of(sent);
        p->planned = report_times_of(planned);
    }
    free(sent);
    free(planned);
    return sent && planned ? 0 : err_memory(err, "latencies");
}

struct curve_point *curve_add(struct curve *c, uint32_t target, uint32_t number,
                              const struct report *report, const struct tally *tally,
                              struct err *err)
{
    struct curve_point *p = &c->points[c->count];
    uint32_t procedures = report->counts[REPORT_PROCEDURES];

    if (c->count == c->room) {
        err_set(err, ERR_USAGE, "too many points of a curve");
        return NULL;
    }
    *p = (struct curve_point){ .target = target,
                               .operations = report->run.operations,
                               .duration = report->run.duration };
    curve_run_name(target, number, p->run);
    for (unsigned i = 0; i < VERDICT_CLASSES; i++)
        if (i != VERDICT_AS_RECORDED && i != VERDICT_UNPLAYABLE &&
            !(i == VERDICT_NOT_PLAYED && c->options->duration))
            p->differ += tally->class[i];
    if (all_times(p, tally, err) < 0)
        return NULL;
    p->answered = p->sent.count;
    p->reached = p->duration > 0 ? (double)p->answered * 1e9 / (double)p->duration : 0;
    p->procedures = calloc((size_t)procedures + 1, sizeof(*p->procedures));
    if (!p->procedures) {
        err_memory(err, "procedures");
        return NULL;
    }
    memcpy(p->procedures, report->procedures, procedures * sizeof(*p->procedures));
    p->procedure_count = procedures;
    c->count++;
    return p;
}

/* --- the table */

void curve_print_head(const struct curve *c, uint32_t target, FILE *to)
{
    escape_print(to, c->options->targets[target].address);
    fprintf(to, "\n%22s  %29s  %29s\n%10s %11s  %9s %9s %9s  %9s %9s %9s %8s\n",
            "operations a second", "latency from sending", "latency from the plan", "planned",
            "reached", "50 %", "90 %", "99 %", "50 %", "90 %", "99 %", "differ");
}

static void print_times(const struct report_times *t, FILE *to)
{
    char p50[VALUE_TEXT_MAX], p90[VALUE_TEXT_MAX], p99[VALUE_TEXT_MAX];

    fprintf(to, "  %9s %9s %9s", duration_text(t->p50, p50), duration_text(t->p90, p90),
            duration_text(t->p99, p99));
}

void curve_print_row(const struct curve_point *p, FILE *to)
{
    if (p->wanted > 0)
        fprintf(to, "%10.1f", p->wanted);
    else
        fprintf(to, "%10s", "asap");
    fprintf(to, " %11.1f", p->reached);
    print_times(&p->sent, to);
    print_times(&p->planned, to);
    fprintf(to, " %8" PRIu64 "\n", p->differ);
    fflush(to);
}

/* --- JSON */

static void put_times(struct json *j, const char *key, const struct report_times *t)
{
    json_object(j, key);
    json_u64(j, "count", t->count);
    json_i64(j, "mean", t->mean);
    json_i64(j, "p50", t->p50);
    json_i64(j, "p90", t->p90);
    json_i64(j, "p99", t->p99);
    json_i64(j, "p999", t->p999);
    json_i64(j, "most", t->most);
    json_object_end(j);
}

static void put_procedure(struct json *j, const struct report_procedure *p)
{
    json_one_line(j);
    json_object(j, NULL);
    json_text(j, "name", p->name);
    json_u64(j, "operations", p->operations);
    json_u64(j, "differ", p->differ);
    put_times(j, "sent", &p->sent);
    put_times(j, "planned", &p->planned);
    json_object_end(j);
}

static void put_point(struct json *j, const struct curve *c, const struct curve_point *p)
{
    json_object(j, NULL);
    json_text(j, "target", c->options->targets[p->target].address);
    json_text(j, "run", p->run);
    if (p->wanted > 0)
        json_number(j, "planned_rate", "%.3f", p->wanted);
    else
        json_null(j, "planned_rate");
    json_number(j, "reached_rate", "%.3f", p->reached);
    json_u64(j, "operations", p->operations);
    json_u64(j, "answered", p->answered);
    json_u64(j, "differ", p->differ);
    json_i64(j, "duration", p->duration);
    json_one_line(j);
    put_times(j, "sent", &p->sent);
    json_one_line(j);
    put_times(j, "planned", &p->planned);
    json_array(j, "procedures");
    for (uint32_t i = 0; i < p->procedure_count; i++)
        put_procedure(j, &p->procedures[i]);
    json_array_end(j);
    json_object_end(j);
}

static void put_curve(struct json *j, const struct curve *c)
{
    json_object(j, NULL);
    json_u64(j, "version", 1);
    json_text(j, "dump", c->options->dumps[0].path);
    json_array(j, "points");
    for (uint32_t i = 0; i < c->count; i++)
        put_point(j, c, &c->points[i]);
    json_array_end(j);
    json_object_end(j);
    json_end(j);
}

int curve_print_json(const struct curve *c, FILE *to, struct err *err)
{
    struct json j = { .out = to, .indented = true };

    put_curve(&j, c);
    return j.failed ? err_memory(err, "a curve") : 0;
}

static int save_json(const struct curve *c, const char *path, struct err *err)
{
    struct buf text = { 0 };
    struct json j = { .to = &text, .indented = true };
    struct output *out = output_open(path, err);
    int result = out ? 0 : -err->code;

    put_curve(&j, c);
    if (result == 0 && j.failed)
        result = err_memory(err, path);
    if (result == 0)
        result = output_write(out, text.data, text.len, err);
    if (result == 0)
        result = output_commit(out, err);
    output_close(out);
    buf_free(&text);
    return result;
}

int curve_save(const struct curve *c, struct err *err)
{
    char path[4096];

    if (snprintf(path, sizeof(path), "%s/curve.json", c->options->output) >= (int)sizeof(path))
        return err_set(err, ERR_SYSTEM, "%s: the path is too long", c->options->output);
    return save_json(c, path, err) < 0 ? -err->code : curve_plots(c, err);
}
