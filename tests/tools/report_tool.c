/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/report_tool.c
 *
 *     report_tool make SEED FOLDER    a run of random operations, saved, and its text
 *     report_tool show FILE           the text of a report that is read
 *     report_tool json FILE           the same as JSON
 *     report_tool runs FILE...        several reports
 *
 * Even seeds have one target, odd ones another one, which is slower.
 */
#include "report/report.h"

#include <stdlib.h>

enum { OPERATIONS = 5000, OBJECTS = 997 /* of which half are in use */ };

static uint64_t seed;

static uint32_t any(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % below;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "%s\n", err->text);
    return err->code;
}

static int add_any(struct tally *tally, uint64_t number, bool slow, struct err *err)
{
    static const uint8_t procedures[] = { 1, 3, 6, 7, 8, 17, 101, 255 };
    const uint32_t object = 1 + (uint32_t)(number * number % OBJECTS);
    const uint8_t arguments[] = {
        0, 0, 0, 4, 0, 0, (uint8_t)(object >> 8), (uint8_t)object, 0, 0, 0, 3, 0x1b, '"', '\n', 0
    };
    struct step step = { .number = procedures[any(8)],
                         .source = (int64_t)number,
                         .latency = (int64_t)any(900000) - 1,
                         .arguments = { arguments, sizeof(arguments) } };
    struct verdict verdict = { .class = any(9) ? VERDICT_AS_RECORDED : any(VERDICT_CLASSES),
                               .bytes = any(65536) };
    struct done done = { .number = number, .step = &step, .verdict = &verdict };

    step.procedure = rdump_procedure(step.number);
    if (!any(20) && (verdict.class == VERDICT_AS_RECORDED || verdict.class == VERDICT_NEW_ERROR)) {
        uint32_t first = any(tally->rule_count);

        verdict.rule_count = 1 + any(3);
        for (uint32_t i = 0; i < verdict.rule_count; i++)
            verdict.rules[i] = 1 + (first + i) % tally->rule_count;
    }
    if (verdict.class != VERDICT_AS_RECORDED || verdict.rule_count)
        snprintf(verdict.text, sizeof(verdict.text), "\"%s\" \x1b[1m \xff",
                 verdict_class_name(verdict.class));
    done.because = number / 2;
    done.planned = (int64_t)number * 100000;
    done.entered = done.planned + any(1000);
    done.ready = done.entered + any(200000);
    done.allowed = done.ready + any(1000);
    done.sent = any(40) ? done.allowed + any(50000) : -1;
    done.answered = done.sent < 0 ? -1 : done.sent + (slow ? 3000000 : 0) + any(500000);
    done.chain = done.answered;
    done.warm_up = number < 100;
    return tally_add(tally, &done, err);
}

static int make(const char *number, const char *folder, struct err *err)
{
    static const char *const names[] = { "ftnfsd" };
    struct tally *tally = tally_new(err);
    struct report *report = report_new(err);
    struct rules *rules;
    int result = 0;

    if (!tally || !report || rules_load(names, 1, &rules, err) < 0 ||
        tally_rules(tally, rules->rule_count, err) < 0)
        return fail(err);
    seed = strtoull(number, NULL, 10);
    for (uint64_t i = 0, slow = seed % 2; i < OPERATIONS && !result; i++)
        result = add_any(tally, i, slow, err);
    tally->cpu_user = 123456789;
    tally->calls = 5000;
    tally->writes = 400;
    report_fill(report, "a.rdump", strtoull(number, NULL, 10) % 2 ? "nfs://slow" : "nfs://fast",
                "at the trace's pace", tally);
    report_rules(report, rules, tally);
    snprintf(report->run.note, sizeof(report->run.note), "interrupted");
    snprintf(report->run.options, sizeof(report->run.options), "--order trace --udp");
    if (!result)
        result = report_save(report, tally, folder, err);
    if (!result)
        report_text(report, stdout);
    report_free(report);
    tally_free(tally);
    rules_free(rules);
    return result ? fail(err) : 0;
}

static int show(int count, char **paths, const char *how, struct err *err)
{
    struct report **reports = calloc((size_t)count, sizeof(struct report *));
    int result = 0;

    for (int i = 0; reports && i < count && !result; i++) {
        reports[i] = report_new(err);
        result = reports[i] ? report_load(reports[i], paths[i], err) : -ERR_SYSTEM;
    }
    if (!result && how[0] == 'r')
        report_runs((const struct report *const *)reports, (uint32_t)count, stdout);
    else if (!result && how[0] == 's')
        report_text(reports[0], stdout);
    else if (!result)
        result = report_json(reports[0], stdout, err);
    for (int i = 0; reports && i < count; i++)
        report_free(reports[i]);
    free(reports);
    return result ? fail(err) : 0;
}

int main(int argc, char **argv)
{
    struct err err = { 0 };

    wire_init();
    if (argc == 4 && !strcmp(argv[1], "make"))
        return make(argv[2], argv[3], &err);
    if (argc > 2)
        return show(argc - 2, argv + 2, argv[1], &err);
    return 2;
}
