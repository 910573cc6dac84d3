/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/package_rdump.h"
#include "package/archive.h"
#include "rdump/rdump_check.h"
#include "plan/rdump_make.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int package_rdump(sqlite3 *db, const char *path, struct err *err)
{
    static const struct rdump_make_options everything;
    struct plan_counts counts;

    return rdump_make(db, &everything, path, &counts, err);
}

/* Each line is a finding; the file's own name in front of it is that of a private folder. */
static void show(struct package_check *check, const char *path, const struct rdump_summary *found)
{
    const char *line = (const char *)found->text.data, *end = line + found->text.len, *next;
    size_t prefix = strlen(path) + 2;

    for (; line && line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        if (!next)
            next = end;
        if ((size_t)(next - line) > prefix && memcmp(line, path, prefix - 2) == 0)
            line += prefix;
        package_finding(check, MEMBER_RDUMP ": %.*s", (int)(next - line), line);
    }
    if (found->findings > RDUMP_FINDINGS_SHOWN)
        package_finding(check, MEMBER_RDUMP ": %llu findings, the first %d are shown",
                        (unsigned long long)found->findings, RDUMP_FINDINGS_SHOWN);
}

int package_rdump_check(const char *path, struct package_check *check, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), result;
    struct rdump_summary summary = { 0 };

    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    result = rdump_check(fd, MEMBER_RDUMP, &summary, err);
    show(check, MEMBER_RDUMP, &summary);
    rdump_summary_free(&summary);
    close(fd);
    if (result != -ERR_INPUT)
        return result;
    package_finding(check, "%s", err->text);
    return 0;
}
