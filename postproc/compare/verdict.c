/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/verdict.h"
#include "compare/compare_parts.h"
#include "compare/db.h"

#include <stdio.h>

static const struct {
    const char *name, *text;
} verdicts[] = {
    [VERDICT_UNLIKE] = { "unlike", "The two servers answer differently." },
    [VERDICT_SILENT] = { "silent",
                         "Only one server answered some of the calls, and the captures do "
                         "not show why." },
    [VERDICT_NOTHING] = { "nothing", "Nothing was compared." },
    [VERDICT_HARDLY] = { "hardly", "All compared answers are alike, but most were not compared." },
    [VERDICT_UNHEARD] = { "unheard", "All compared answers are alike, but a capture lacks replies "
                                     "that the other one has." },
    [VERDICT_UNCERTAIN] = { "uncertain",
                            "The two servers answer alike, except for uncertain differences." },
    [VERDICT_ALIKE] = { "alike", "The two servers answer alike." },
};

/* %d: codes of reasons of table withheld, and of a kind. */
#define IS_SILENT                                                                                  \
    "EXISTS (SELECT 1 FROM withheld WHERE reason IN (%d, %d, %d))"                                 \
    "  OR EXISTS (SELECT 1 FROM uncertain WHERE kind = %d AND reason = %d)"
#define OF_SILENT                                                                                  \
    WITHHELD_NOT_REPEATED, WITHHELD_UNHEARD, WITHHELD_SMALL_HOLE, KIND_REPLY, WITHHELD_OVERLAP

/* The first condition that is true decides.  %d: codes of reasons, of table withheld and of
 * kinds. */
static const char select_verdict[] =
    "WITH n AS (SELECT"
    " (SELECT count(*) FROM alignment WHERE kind = 1) AS pairs,"
    " max((SELECT count(*) FROM alignment WHERE kind = 2 AND reason <> %d AND ref IS NOT NULL),"
    "  (SELECT count(*) FROM alignment WHERE kind = 2 AND reason <> %d AND ref IS NULL)) AS alone,"
    " (SELECT ifnull(sum(equal + different), 0) FROM compared) AS decided,"
    " (SELECT ifnull(sum(count), 0) FROM withheld) AS withheld)"
    " SELECT CASE WHEN EXISTS (SELECT 1 FROM discrepancy_group WHERE is_noise = 0) THEN %d"
    " WHEN " IS_SILENT " THEN %d"
    " WHEN pairs = 0 OR decided = 0 THEN %d"
    " WHEN alone > pairs OR withheld > decided THEN %d"
    " WHEN EXISTS (SELECT 1 FROM withheld WHERE reason IN (%d, %d)) THEN %d"
    " WHEN (SELECT value + 0 FROM meta WHERE key = 'uncertain') THEN %d ELSE %d END FROM n";

int verdict_of(sqlite3 *result, struct err *err)
{
    char sql[sizeof(select_verdict) + 256];
    int64_t verdict;

    snprintf(sql, sizeof(sql), select_verdict, REASON_OTHER_COPY, REASON_OTHER_COPY, VERDICT_UNLIKE,
             OF_SILENT, VERDICT_SILENT, VERDICT_NOTHING, VERDICT_HARDLY, WITHHELD_CAPTURE_END,
             WITHHELD_LOST, VERDICT_UNHEARD, VERDICT_UNCERTAIN, VERDICT_ALIKE);
    return sql_number(result, sql, VERDICT_NOTHING, &verdict, err) < 0 ? -err->code : (int)verdict;
}

int verdict_is_silent(sqlite3 *result, struct err *err)
{
    char sql[sizeof(IS_SILENT) + 64];
    int64_t silent;

    snprintf(sql, sizeof(sql), "SELECT " IS_SILENT, OF_SILENT);
    return sql_number(result, sql, 0, &silent, err) < 0 ? -err->code : (int)silent;
}

const char *verdict_text(enum verdict verdict)
{
    return verdicts[verdict].text;
}

const char *verdict_name(enum verdict verdict)
{
    return verdicts[verdict].name;
}
