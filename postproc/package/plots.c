/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/plots.c
 *
 * Draws how the known tree grows, which procedures are called over time, and their latencies.  Only
 * the busiest procedures of NFSv3 have a curve of their own.  Without any, only the tree is drawn.
 * parts.c draws concurrency, and calls this.  The contract is in plots.h.
 */
#include "package/plots.h"
#include "show/svg_plot.h"
#include "store/sql.h"
#include "wire/field.h"

#include <stdlib.h>

enum {
    SLOTS = 60,      /* of the trace's time */
    SHOWN = 5,       /* procedures, the busiest ones */
    QUANTILES = 200, /* of a procedure's latencies at most */
};

static int write_file(void *ctx, const void *data, size_t len, struct err *err)
{
    return fwrite(data, 1, len, ctx) == len ? 0 : err_set(err, ERR_SYSTEM, "a plot: not written");
}

static int put(struct stage *stage, const char *member, const struct plot *plot, struct err *err)
{
    FILE *file = stage_create(stage, member, err);
    bool found;
    int result;

    if (!file)
        return -err->code;
    result = svg_plot_write(plot, write_file, file, err);
    if (result == 0)
        result = stage_done(file, member, err);
    else
        fclose(file);
    return result == 0 ? stage_take(stage, member, NULL, &found, err) : result;
}

/* --- what came to be known of the tree, by length of the trace (FEUT's figure 3) --- */

static int plot_growth(struct stage *stage, const struct facts *f, struct err *err)
{
    double x[TREE_GROWTH], y[4][TREE_GROWTH];
    const struct plot_series objects[] = {
        { .label = "files", .style = 0, .markers = true, .x = x, .y = y[0] },
        { .label = "directories", .style = 1, .markers = true, .x = x, .y = y[1] },
        { .label = "subtrees", .style = 2, .markers = true, .x = x, .y = y[2] },
    };
    const struct plot_series bytes = {
        .label = "bytes", .style = 3, .markers = true, .x = x, .y = y[3]
    };
    struct plot_series above[3], below = bytes;
    struct plot_panel panels[2] = {
        { .y = { .title = "Known", .zero = true }, .series = above, .series_count = 3 },
        { .y = { .title = "Bytes in files", .unit = PLOT_BYTES, .zero = true },
          .series = &below,
          .series_count = 1 },
    };
    const struct plot plot = {
        .title = "What the trace shows of the tree, by its length",
        .x = { .title = "Length of the trace", .unit = PLOT_SECONDS, .zero = true },
        .panels = panels,
        .panel_count = 2,
    };

    for (uint32_t i = 0; i < f->growth_count; i++) {
        const struct tree_growth *g = &f->growth[i];

        x[i] = (double)(g->time - f->first_time) / 1e9;
        y[0][i] = (double)g->counts.files;
        y[1][i] = (double)g->counts.directories;
        y[2][i] = (double)g->counts.subtrees;
        y[3][i] = (double)g->counts.bytes;
    }
    for (int i = 0; i < 3; i++) {
        above[i] = objects[i];
        above[i].count = f->growth_count;
    }
    below.count = f->growth_count;
    return put(stage, "plots/growth.svg", &plot, err);
}

/* --- the busiest procedures of NFSv3 --- */

struct busy {
    int64_t procedure[SHOWN];
    const char *name[SHOWN];
    uint32_t count;
};

static void find_busy(const struct facts *f, struct busy *busy)
{
    busy->count = 0;
    for (int i = 0; i < f->grouped.by[BY_PROCEDURE].count && busy->count < SHOWN; i++) {
        const struct group *g = &f->grouped.by[BY_PROCEDURE].groups[i];
        const struct procedure *p;

        if (g->key[0] != 100003 || g->key[1] != 3)
            continue;
        p = procedure_find(100003, 3, (uint32_t)g->key[2]);
        busy->procedure[busy->count] = g->key[2];
        busy->name[busy->count++] = p ? p->name : "?";
    }
}

static uint32_t busy_index(const struct busy *busy, int64_t procedure)
{
    uint32_t i = 0;

    while (i < busy->count && busy->procedure[i] != procedure)
        i++;
    return i; /* |count|: one of the others */
}

/* --- their mix over time --- */

static const char sql_mix[] =
    "SELECT min((call_time - ?1) / ?2, ?3 - 1) AS slot, procedure, count(*) FROM operation"
    " WHERE program = 100003 AND version = 3 AND call_time >= ?1 GROUP BY 1, 2";

static int plot_mix(struct stage *stage, sqlite3 *db, const struct facts *f,
                    const struct busy *busy, struct err *err)
{
    int64_t width = (f->last_time - f->first_time) / SLOTS + 1;
    double x[SLOTS], y[SHOWN + 1][SLOTS] = { 0 };
    struct plot_series series[SHOWN + 1];
    struct plot_panel panel = { .y = { .title = "Operations/s", .zero = true }, .series = series };
    const struct plot plot = {
        .title = "Operations by procedure, over time",
        .x = { .title = "Time in the trace", .unit = PLOT_SECONDS, .zero = true },
        .panels = &panel,
        .panel_count = 1,
        .panel_height = 320,
    };
    sqlite3_stmt *s;

    if (sql_prepare(db, sql_mix, &s, err) < 0)
        return -err->code;
    sqlite3_bind_int64(s, 1, f->first_time);
    sqlite3_bind_int64(s, 2, width);
    sqlite3_bind_int(s, 3, SLOTS);
    while (sqlite3_step(s) == SQLITE_ROW)
        y[busy_index(busy, sqlite3_column_int64(s, 1))][sqlite3_column_int(s, 0) % SLOTS] +=
            (double)sqlite3_column_int64(s, 2) * 1e9 / (double)width;
    if (sql_end(s, 0, err) < 0)
        return -err->code;
    for (int i = 0; i < SLOTS; i++)
        x[i] = ((double)i + 0.5) * (double)width / 1e9;
    for (uint32_t i = 0; i <= busy->count; i++)
        series[i] = (struct plot_series){
            .label = i < busy->count ? busy->name[i] : "others",
            .style = (uint8_t)i,
            .x = x,
            .y = y[i],
            .count = SLOTS,
        };
    panel.series_count = busy->count + 1;
    return put(stage, "plots/operations.svg", &plot, err);
}

/* --- distribution of their latencies --- */

/* Each of so many quantiles, and the largest. */
static const char sql_latency[] =
    "SELECT procedure, latency, k, n FROM (SELECT procedure, latency,"
    "  row_number() OVER (PARTITION BY procedure ORDER BY latency) AS k,"
    "  count(*) OVER (PARTITION BY procedure) AS n FROM operation"
    "  WHERE program = 100003 AND version = 3 AND latency > 0)"
    " WHERE k = n OR k * ?1 / n > (k - 1) * ?1 / n";

struct curve {
    double x[QUANTILES + 1], y[QUANTILES + 1];
    size_t count;
};

static int read_curves(sqlite3 *db, const struct busy *busy, struct curve *curves, struct err *err)
{
    sqlite3_stmt *s;

    if (sql_prepare(db, sql_latency, &s, err) < 0)
        return -err->code;
    sqlite3_bind_int(s, 1, QUANTILES);
    while (sqlite3_step(s) == SQLITE_ROW) {
        uint32_t at = busy_index(busy, sqlite3_column_int64(s, 0));
        struct curve *c = at < busy->count ? &curves[at] : NULL;

        if (!c || c->count > QUANTILES)
            continue;
        c->x[c->count] = (double)sqlite3_column_int64(s, 1) / 1e9;
        c->y[c->count++] =
            (double)sqlite3_column_int64(s, 2) * 100 / (double)sqlite3_column_int64(s, 3);
    }
    return sql_end(s, 0, err);
}

static int plot_latency(struct stage *stage, sqlite3 *db, const struct busy *busy, struct err *err)
{
    struct curve *curves = calloc(SHOWN, sizeof(*curves));
    struct plot_series series[SHOWN];
    const struct plot_panel panel = {
        .y = { .title = "Answered within (%)", .zero = true },
        .series = series,
        .series_count = busy->count,
    };
    const struct plot plot = {
        .title = "Latency by procedure",
        .subtitle = "From the call's last frame to the reply's last frame.",
        .x = { .title = "Latency", .scale = PLOT_LOG10, .unit = PLOT_SECONDS },
        .panels = &panel,
        .panel_count = 1,
        .panel_height = 320,
    };
    int result;

    if (!curves)
        return err_memory(err, "a plot");
    result = read_curves(db, busy, curves, err);
    for (uint32_t i = 0; i < busy->count; i++)
        series[i] = (struct plot_series){
            .label = busy->name[i],
            .kind = PLOT_STEP,
            .style = (uint8_t)i,
            .x = curves[i].x,
            .y = curves[i].y,
            .count = curves[i].count,
        };
    if (result == 0)
        result = put(stage, "plots/latency.svg", &plot, err);
    free(curves);
    return result;
}

int plots_make(struct stage *stage, sqlite3 *db, const struct facts *facts, struct err *err)
{
    struct busy busy;

    find_busy(facts, &busy);
    if (plot_growth(stage, facts, err) < 0)
        return -err->code;
    if (!busy.count)
        return 0;
    if (plot_mix(stage, db, facts, &busy, err) < 0)
        return -err->code;
    return plot_latency(stage, db, &busy, err);
}
