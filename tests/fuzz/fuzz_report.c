/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_report.c
 *
 * Any text as the report of a run: refused with a message, or what is written of it reads as
 * the same figures, which can be shown, alone and beside an empty report.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* What is shown goes into a buffer, so that it costs no system calls. */
static void show(const struct report *report, const struct report *other)
{
    const struct report *const both[] = { report, other };
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    require(to != NULL);
    report_text(report, to);
    report_runs(both, 2, to);
    require(!fclose(to) && !memchr(text, '\x1b', len));
    free(text);
}

static char *write_report(const struct report *report, size_t *len)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, len);

    require(to && report_json(report, to, NULL) == 0 && !fclose(to));
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = { 0 };
    struct report *report = report_new(&err), *again = report_new(&err);
    FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    char *text = NULL;
    size_t len;

    require(report && again);
    if (file && report_read(report, file, "it", &err) < 0) {
        require(err.code == ERR_INPUT && err.text[0]);
    } else if (file) {
        show(report, again);
        text = write_report(report, &len);
        fclose(file);
        file = fmemopen(text, len, "r");
        require(file && report_read(again, file, "it", &err) == 0);
        require(!memcmp(report->counts, again->counts, sizeof(again->counts)));
        require(!memcmp(report->intervals, again->intervals, sizeof(again->intervals)));
        require(!memcmp(&report->run.operations, &again->run.operations,
                        sizeof(again->run) - offsetof(struct report_run, operations)));
    }
    if (file)
        fclose(file);
    free(text);
    report_free(report);
    report_free(again);
    return 0;
}
