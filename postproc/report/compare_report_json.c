/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schemas/compare.schema.json describes what this writes. */
#include "compare/verdict.h"
#include "report/compare_report.h"
#include "store/sql.h"
#include "store/sql_json.h"

struct printer {
    sqlite3 *db;
    struct json *json;
    struct err *err;
};

/* "name":[{column:value, ...}, ...]; |more| adds to each, of which the first column is the id. */
static int put_array(struct printer *p, const char *name, const char *sql, int64_t bind,
                     int (*more)(struct printer *p, int64_t id))
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(p->db, sql, &stmt, p->err) < 0)
        return -p->err->code;
    if (sqlite3_bind_parameter_count(stmt))
        sqlite3_bind_int64(stmt, 1, bind);
    json_array(p->json, name);
    while ((result = sql_row(stmt, p->err)) > 0) {
        json_object(p->json, NULL);
        sql_json_members(p->json, stmt);
        if (more && more(p, sqlite3_column_int64(stmt, 0)) < 0) {
            sqlite3_finalize(stmt);
            return -p->err->code;
        }
        json_object_end(p->json);
    }
    json_array_end(p->json);
    sqlite3_finalize(stmt);
    return result;
}

static int put_examples(struct printer *p, int64_t group)
{
    if (put_array(
            p, "examples",
            "SELECT d.id, ifnull(ifnull(r.path, s.path), (SELECT path FROM object o WHERE"
            "  o.id = d.object)) AS path, (SELECT path FROM object o WHERE o.id = d.object)"
            "  AS object,"
            " d.element, d.ref_text AS ref, d.sut_text AS sut, d.ref AS ref_operation,"
            " ifnull(r.reply_source, r.call_source) AS ref_source, ifnull(r.reply_frame,"
            "  r.call_frame) AS ref_frame, d.sut AS sut_operation, ifnull(s.reply_source,"
            "  s.call_source) AS sut_source, ifnull(s.reply_frame, s.call_frame) AS sut_frame"
            " FROM (SELECT DISTINCT example, discrepancy FROM step WHERE discrepancy_group = ?1) x"
            " JOIN discrepancy d ON d.id = x.discrepancy"
            " LEFT JOIN operation r ON r.side = 1 AND r.id = d.ref"
            " LEFT JOIN operation s ON s.side = 2 AND s.id = d.sut ORDER BY x.example",
            group, NULL) < 0)
        return -p->err->code;
    return put_array(p, "steps",
                     "SELECT x.number, ifnull(r.name, s.name) AS operation, ifnull(r.path, s.path)"
                     " AS path, r.status AS ref_status, s.status AS sut_status, r.call_source AS"
                     " ref_source, r.call_frame AS ref_frame, s.call_source AS sut_source,"
                     " s.call_frame AS sut_frame FROM step x"
                     " LEFT JOIN operation r ON r.side = 1 AND r.id = x.ref"
                     " LEFT JOIN operation s ON s.side = 2 AND s.id = x.sut"
                     " WHERE x.discrepancy_group = ?1 AND x.example = 1 ORDER BY x.number",
                     group, NULL);
}

/* What is new, gone and unchanged since the baseline. */
static int put_baseline(struct printer *p)
{
    if (put_array(p, "baseline",
                  "SELECT database, same_rules AS \"same_rules!\", new, gone, unchanged"
                  " FROM temp.baseline_totals",
                  0, NULL) < 0 ||
        put_array(p, "new", "SELECT id, is_noise AS \"noise!\" FROM temp.baseline_new ORDER BY id",
                  0, NULL) < 0 ||
        put_array(p, "gone",
                  "SELECT k.name AS kind, g.operation, g.field, g.difference, g.circumstance,"
                  " g.cause, g.reason, g.count FROM temp.baseline_gone g"
                  " JOIN code k ON k.domain = 'kind' AND k.value = g.kind ORDER BY g.id",
                  0, NULL) < 0)
        return -p->err->code;
    return put_array(p, "unchanged",
                     "SELECT id, count, was FROM temp.baseline_unchanged ORDER BY id", 0, NULL);
}

/* Long: it is the list of what the report has, in its order. */
int report_json(sqlite3 *result, const struct report_options *o, FILE *out, struct err *err)
{
    struct json j = { .out = out };
    struct printer p = { result, &j, err };
    int verdict = verdict_of(result, err);

    if (verdict < 0)
        return verdict;
    json_object(&j, NULL);
    json_u64(&j, "version", 1);
    json_text(&j, "verdict", verdict_name((enum verdict)verdict));
    if (put_array(&p, "sides",
                  "SELECT name, database, server, digest, operations, first_time, last_time,"
                  " clock_offset, clock_error, granularity FROM side ORDER BY id",
                  0, NULL) < 0 ||
        put_array(&p, "rules", "SELECT name, digest FROM rule_file ORDER BY id", 0, NULL) < 0 ||
        put_array(
            &p, "totals",
            "SELECT (SELECT count(*) FROM alignment WHERE kind = 1) AS pairs,"
            " (SELECT count(*) FROM object) AS objects,"
            " (SELECT count(*) FROM alignment WHERE kind = 2 AND ref IS NOT NULL) AS ref_alone,"
            " (SELECT count(*) FROM alignment WHERE kind = 2 AND sut IS NOT NULL) AS sut_alone,"
            " (SELECT count(*) FROM alignment WHERE kind = 3 AND ref IS NOT NULL) AS ref_parts,"
            " (SELECT count(*) FROM alignment WHERE kind = 3 AND sut IS NOT NULL) AS sut_parts,"
            " (SELECT ifnull(sum(count), 0) FROM discrepancy_group) AS discrepancies,"
            " (SELECT count(*) FROM discrepancy_group) AS groups,"
            " (SELECT ifnull(sum(count), 0) FROM withheld) AS withheld,"
            " (SELECT value + 0 FROM meta WHERE key = 'uncertain') AS uncertain,"
            " (SELECT value + 0 FROM meta WHERE key = 'accepted') AS accepted",
            0, NULL) < 0 ||
        (o->baseline && put_baseline(&p) < 0) ||
        put_array(&p, "causes",
                  "SELECT id, name, title, severity, count, groups, noise, first_group, procedures"
                  " FROM causes ORDER BY id",
                  0, NULL) < 0 ||
        put_array(&p, "groups",
                  "SELECT c.id, v.name AS severity, c.count, c.compared, k.name AS kind, c.class, "
                  "c.operation, c.field,"
                  " c.difference, c.cause, c.cause_id, c.circumstance, c.reason, (SELECT text FROM "
                  "rule l WHERE l.id = c.rule)"
                  " AS rule, c.noise_count, c.noise_compared, c.is_noise AS \"noise!\""
                  " FROM discrepancy_group c JOIN code k ON k.domain = 'kind' AND k.value = c.kind"
                  " JOIN code v ON v.domain = 'severity' AND v.value = c.severity ORDER BY c.id",
                  0, o->examples ? put_examples : NULL) < 0 ||
        put_array(&p, "withheld",
                  "SELECT c.name AS reason, sum(w.count) AS count FROM withheld w JOIN code c ON"
                  " c.domain = 'withheld' AND c.value = w.reason GROUP BY w.reason ORDER BY 2 DESC",
                  0, NULL) < 0 ||
        put_array(&p, "uncertain",
                  "SELECT kind, operation, field, difference, reason, path, ref_text AS ref,"
                  " sut_text AS sut, ref AS ref_operation, ref_source, ref_frame,"
                  " sut AS sut_operation, sut_source, sut_frame FROM doubt"
                  " ORDER BY kind = 'status' DESC, kind = 'missing reply', id",
                  0, NULL) < 0 ||
        put_array(&p, "alone",
                  "SELECT CASE WHEN a.ref IS NULL THEN 'sut' ELSE 'ref' END AS side, c.name AS"
                  " reason, count(*) AS count FROM alignment a JOIN code c ON c.domain = 'reason'"
                  " AND c.value = a.reason WHERE a.kind = 2 GROUP BY a.reason, a.ref IS NULL"
                  " ORDER BY 1, 2",
                  0, NULL) < 0 ||
        put_array(&p, "unsynchronized",
                  "SELECT k.name AS what, c.name AS reason, count(*) AS count, sum(u.withheld) AS"
                  " withheld, sum(u.until_ref IS NULL) AS open FROM unsynchronized u"
                  " JOIN code k ON k.domain = 'unsynchronized' AND k.value = u.what"
                  " JOIN code c ON c.domain = 'withheld' AND c.value = u.reason"
                  " GROUP BY u.what, u.reason ORDER BY 1, 2",
                  0, NULL) < 0 ||
        put_array(&p, "phases",
                  "SELECT name AS phase, ref_times, ref_lasted, ref_operations, ref_latency,"
                  " sut_times, sut_lasted, sut_operations, sut_latency, discrepancies FROM phase"
                  " ORDER BY id",
                  0, NULL) < 0 ||
        put_array(&p, "performance",
                  "SELECT operation, pairs, ref_p50, ref_p90, ref_p99, ref_max, ref_mean, sut_p50,"
                  " sut_p90, sut_p99, sut_max, sut_mean, ratio FROM performance"
                  " ORDER BY pairs DESC, program, version, procedure",
                  0, NULL) < 0 ||
        put_array(&p, "slowest",
                  "SELECT r.name AS operation, r.path, w.ref_latency, w.sut_latency, r.call_source"
                  " AS ref_source, r.call_frame AS ref_frame, s.call_source AS sut_source,"
                  " s.call_frame AS sut_frame FROM slowest w"
                  " JOIN operation r ON r.side = 1 AND r.id = w.ref"
                  " JOIN operation s ON s.side = 2 AND s.id = w.sut ORDER BY w.rank",
                  0, NULL) < 0)
        return -err->code;
    if (o->one_sided &&
        put_array(&p, "one_sided",
                  "SELECT side, operation, procedure, source, frame, reason, path FROM one_sided"
                  " ORDER BY id",
                  0, NULL) < 0)
        return -err->code;
    json_object_end(&j);
    json_end(&j);
    return 0;
}
