/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"
#include "cli/cli.h"
#include "compare/compare.h"
#include "report/html.h"
#include "wire/field.h"

static const char about[] =
    "Makes reports of what \"nfsdigest compare -o RESULT\" found, from that file.\n";

struct report_args {
    const char *html;
};

int cmd_report(int argc, char **argv, struct err *err)
{
    struct report_args a = { 0 };
    const struct arg own[] = {
        { 0, "html", "FILE", "one page that needs nothing else; \"-\": standard output", set_text,
          &a.html },
        { 0 },
    };
    const struct args args = { "nfsdigest report [OPTION...] RESULT", about, own, NULL, NULL };
    sqlite3 *result = NULL;
    int first, code;

    wire_init();
    code = args_parse(&args, argc, argv, &first, err);
    if (code != 1)
        return code;
    if (argc - first != 1)
        return err_set(err, ERR_USAGE,
                       "report takes the result of a comparison: see \"nfsdigest report --help\"");
    if (!a.html)
        return err_set(err, ERR_USAGE, "report what? --html FILE");
    code = compare_open(argv[first], &result, err);
    if (code == 0)
        code = report_html(result, a.html, err);
    sqlite3_close(result);
    return code;
}
