/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/noise.c
 *
 * Finds what differs between two runs of the reference, and which groups that explains.
 *
 * A group is explained only by the same difference: of the same kind, procedure and field, in the
 * same words.  Chance decides which of two runs is the later one, so the direction does not matter:
 * "sut later" and "sut earlier", "only ref" and "only sut", a pair of statuses in either order.
 * Both directions together are noise if they are at most twice as frequent as between the runs of
 * the reference.
 */
#include "compare/compare_parts.h"

#include <string.h>

/* Words that change places when the sides do. */
static const char *turned(const char *word, size_t len)
{
    static const char *const words[][2] = {
        { "sut", "ref" },       { "sut's", "ref's" }, { "smaller", "larger" },
        { "earlier", "later" }, { "fewer", "more" },
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i][0]) == len && memcmp(word, words[i][0], len) == 0)
            return words[i][1];
    return NULL;
}

void noise_neutral(const char *difference, char text[COMPARE_TEXT_MAX])
{
    struct bytes words[COMPARE_TEXT_MAX];
    uint32_t count = 0;
    size_t len = 0;

    while (*difference && count < COMPARE_TEXT_MAX) {
        size_t n = strcspn(difference, " ,");
        const char *other = turned(difference, n);
        struct bytes word = { (const uint8_t *)(other ? other : difference),
                              (uint32_t)(other ? strlen(other) : n) };
        uint32_t at = count;

        for (; at && n; at--) { /* few words */
            const struct bytes *w = &words[at - 1];
            int order = memcmp(w->data, word.data, w->len < word.len ? w->len : word.len);

            if (order < 0 || (order == 0 && w->len <= word.len))
                break;
            words[at] = *w;
        }
        words[at] = word;
        count += n > 0;
        difference += n + (difference[n] != '\0');
    }
    for (uint32_t i = 0; i < count && len + words[i].len + 2 < COMPARE_TEXT_MAX; i++) {
        if (len)
            text[len++] = ' ';
        memcpy(text + len, words[i].data, words[i].len);
        len += words[i].len;
    }
    text[len] = '\0';
}

static void neutral(sqlite3_context *ctx, int count, sqlite3_value **values)
{
    const char *difference = (const char *)sqlite3_value_text(values[0]);
    char text[COMPARE_TEXT_MAX];

    (void)count;
    noise_neutral(difference ? difference : "", text);
    sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static const char make_tables[] =
    "CREATE TEMP TABLE noise_rate (kind INTEGER, operation TEXT, field TEXT, difference TEXT,"
    " count INTEGER, compared INTEGER, PRIMARY KEY (kind, operation, field, difference))"
    " WITHOUT ROWID;"
    "CREATE TEMP TABLE found_rate (kind INTEGER, operation TEXT, field TEXT, difference TEXT,"
    " count INTEGER, PRIMARY KEY (kind, operation, field, difference)) WITHOUT ROWID;"
    "INSERT INTO temp.found_rate SELECT kind, operation, field, neutral(difference), sum(count)"
    " FROM main.discrepancy_group GROUP BY 1, 2, 3, 4;";

#define SAME_RATE                                                                                  \
    " r WHERE r.kind = discrepancy_group.kind AND r.operation = discrepancy_group.operation AND "  \
    "r.field ="                                                                                    \
    " discrepancy_group.field AND r.difference = neutral(discrepancy_group.difference)"

static const char judge[] =
    "UPDATE main.discrepancy_group SET is_noise = noise_count > 0 AND noise_compared > 0 AND 1.0 *"
    " (SELECT r.count FROM temp.found_rate" SAME_RATE ") / max(compared, 1)"
    " <= 2.0 * noise_count / noise_compared WHERE noise_count IS NOT NULL;"
    "DROP TABLE temp.noise_rate; DROP TABLE temp.found_rate;";

/* |sql| fills noise_rate and, by it, columns of table group. */
static int apply(struct compare *c, const char *sql, struct err *err)
{
    if (sqlite3_create_function(c->db, "neutral", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                neutral, NULL, NULL) != SQLITE_OK)
        return err_memory(err, "noise");
    if (sql_run(c->db, make_tables, err) < 0 || sql_run(c->db, sql, err) < 0)
        return -err->code;
    return sql_run(c->db, judge, err);
}

static const char measure[] =
    "INSERT INTO temp.noise_rate SELECT kind, operation, field, neutral(difference), sum(count),"
    " NULL FROM noise.discrepancy_group GROUP BY 1, 2, 3, 4;"
    "UPDATE main.discrepancy_group SET noise_count = ifnull((SELECT r.count FROM"
    " temp.noise_rate" SAME_RATE "), 0),"
    " noise_compared = ifnull((SELECT sum(n.equal + n.different) FROM noise.compared n WHERE"
    "  n.program = discrepancy_group.program AND n.version = discrepancy_group.version AND"
    "  n.procedure = discrepancy_group.procedure AND n.field = discrepancy_group.field),"
    "  (SELECT count(*) FROM noise.alignment WHERE kind = 1));"
    "INSERT INTO main.side SELECT 3, 'noise', database, path, server, digest, operations,"
    " first_time, last_time, clock_offset, clock_error, granularity FROM noise.side WHERE id = 2;"
    "INSERT INTO main.source SELECT 3, id, name, digest, frames FROM noise.source WHERE side = 2;";

int noise_measure(struct compare *c, const struct compare_options *o, const char *path,
                  struct err *err)
{
    struct compare_options options = { .side = { o->side[REF], o->noise },
                                       .rules = o->rules,
                                       .rule_count = o->rule_count,
                                       .find = o->find,
                                       .find_ctx = o->find_ctx };
    sqlite3_stmt *stmt;
    sqlite3 *noise = NULL;
    int result = compare_run(&options, path, &noise, err);

    sqlite3_close(noise);
    if (result < 0)
        return err_prefix(err, "--noise");
    if (sql_prepare(c->db, "ATTACH ?1 AS noise", &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, path);
    result = sql_step(stmt, err);
    sqlite3_finalize(stmt);
    if (result == 0)
        result = apply(c, measure, err);
    return result == 0 ? sql_run(c->db, "DETACH noise", err) : result;
}

static const char keep[] =
    "INSERT INTO temp.noise_rate SELECT kind, operation, field, neutral(difference),"
    " max(noise_count), max(noise_compared) FROM old.discrepancy_group WHERE noise_count IS NOT "
    "NULL"
    " GROUP BY 1, 2, 3, 4;"
    "UPDATE main.discrepancy_group SET (noise_count, noise_compared) ="
    " (SELECT r.count, r.compared FROM temp.noise_rate" SAME_RATE ");";

int noise_keep(struct compare *c, struct err *err)
{
    int64_t noise;

    if (sql_number(c->db, "SELECT count(*) FROM main.side WHERE id = 3", 0, &noise, err) < 0)
        return -err->code;
    return noise ? apply(c, keep, err) : 0;
}
