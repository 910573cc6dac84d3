/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/lint_print.h
 *
 * Findings of "nfsdigest lint": collects them, and prints them on standard output with the frames
 * and paths of their operations.
 *
 * Memory: the findings that are printed, at most |top| for each rule, and 130 bytes for each host
 * that findings blame.
 */
#ifndef NFSDIGEST_CLI_LINT_PRINT_H
#define NFSDIGEST_CLI_LINT_PRINT_H

#include "base/table.h"
#include "record/record.h"
#include "lint/lint.h"

#include <sqlite3.h>

struct lint_shown { /* a finding */
    enum lint_id rule;
    int64_t operation, earlier; /* 0: there is no earlier one */
    char *text;
};

/* A server or client that findings blame. */
struct lint_host {
    char address[ADDRESS_TEXT_MAX];
    bool is_client;
    uint64_t found[LINT_NOTE + 1]; /* by level */
};

struct lint_view {
    sqlite3 *db;
    const char *name; /* as the user gave it */
    const struct lint_rules *rules;
    uint64_t top;
    bool chosen[LINT_RULES];
    uint64_t found[LINT_RULES];
    struct lint_shown *shown;
    uint32_t shown_count, shown_cap;
    struct lint_host *hosts; /* the worst ones first, after lint_hosts_sort */
    uint32_t host_count, host_cap;
    struct table by_address; /* places in |hosts|, until these are sorted */
    struct lint_numbers {    /* places of the reader's numbers in |hosts|, from 1; or 0 */
        uint32_t *places, cap;
    } numbers[2]; /* of servers, and of clients */
    struct lint_counts counts;
    uint64_t others; /* operations of other programs than NFS */
    int64_t gaps;    /* in the captures */
};

/* Takes a finding of a chosen rule.  Returns 0 or a negative code. */
int lint_view_add(struct lint_view *view, const struct lint_finding *finding, struct err *err);
/* Whether the next finding of this rule is one of those that are printed. */
bool lint_view_reads(const struct lint_view *view, enum lint_id rule);
/* Returns how many findings of this level there are. */
uint64_t lint_view_level(const struct lint_view *view, enum lint_level level);
int lint_text(struct lint_view *view, struct err *err);
int lint_json(struct lint_view *view, struct err *err);
/* lint_hosts.c: counts a finding for the host that its rule blames; sorts the hosts. */
int lint_hosts_add(struct lint_view *view, const struct lint_finding *finding, struct err *err);
void lint_hosts_sort(struct lint_view *view);
void lint_hosts_free(struct lint_view *view);
/* lint_page.c: writes a page to the file |path|. */
int lint_page(struct lint_view *view, const char *path, struct err *err);

/* Columns of the operation of a finding. */
enum lint_column {
    LINT_PROCEDURE,
    LINT_PATH,
    LINT_SOURCE,
    LINT_CALL_FRAME,
    LINT_REPLY_FRAME,
    LINT_CLIENT,
    LINT_TIME
};
/* Calls |print| for each finding of |rule| that is shown, with |stmt| at its operation. */
int lint_each(struct lint_view *view, enum lint_id rule,
              int (*print)(void *ctx, const struct lint_shown *shown, sqlite3_stmt *stmt,
                           struct err *err),
              void *ctx, struct err *err);
/* Returns the frame of an operation's reply, else of its call; or -1. */
int64_t lint_frame_of(struct lint_view *view, int64_t operation, struct err *err);
/* Returns "client" or "server". */
const char *lint_blamed(const struct lint_rule *rule);
void lint_view_free(struct lint_view *view);

#endif
