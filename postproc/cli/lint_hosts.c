/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/lint_print.h"

#include "base/grow.h"
#include "store/sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { HOST_NUMBERS = 1 << 20 }; /* those of higher numbers are found by their address */

/* Returns the host, by its address; NULL: no memory. */
static struct lint_host *by_address(struct lint_view *v, bool is_client, const char *address,
                                    struct err *err)
{
    uint64_t hash = XXH3_64bits_withSeed(address, strlen(address), is_client);
    uint32_t at, i;

    for (i = table_first(&v->by_address, hash, &at); i != TABLE_NONE;
         i = table_next(&v->by_address, hash, &at))
        if (v->hosts[i].is_client == is_client && strcmp(v->hosts[i].address, address) == 0)
            return &v->hosts[i];
    if (GROW(v->hosts, v->host_count, v->host_cap) < 0 ||
        table_add(&v->by_address, hash, v->host_count) < 0) {
        err_memory(err, "hosts");
        return NULL;
    }
    v->hosts[v->host_count] = (struct lint_host){ .is_client = is_client };
    snprintf(v->hosts[v->host_count].address, sizeof(v->hosts->address), "%s", address);
    return &v->hosts[v->host_count++];
}

/* The same, of an operation of the trace. */
static struct lint_host *by_operation(struct lint_view *v, bool is_client, int64_t operation,
                                      struct err *err)
{
    struct lint_host *host = NULL;
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(v->db,
                    is_client ? "SELECT client FROM operation WHERE id = ?"
                              : "SELECT server FROM operation WHERE id = ?",
                    &stmt, err) < 0)
        return NULL;
    sqlite3_bind_int64(stmt, 1, operation);
    result = sql_row(stmt, err);
    if (result >= 0) {
        const char *address = result ? sql_column_text(stmt, 0) : NULL;

        host = by_address(v, is_client, address ? address : "-", err);
    }
    return sql_end(stmt, result < 0 ? result : 0, err) < 0 ? NULL : host;
}

int lint_hosts_add(struct lint_view *v, const struct lint_finding *f, struct err *err)
{
    const struct lint_rule *rule = &v->rules->rule[f->rule];
    uint32_t number = rule->blames_client ? f->effect->client_number : f->effect->server_number;
    struct lint_numbers *known = &v->numbers[rule->blames_client];
    struct lint_host *host;

    if (number < HOST_NUMBERS && GROW_ZERO(known->places, (uint64_t)number + 1, known->cap) < 0)
        return err_memory(err, "hosts");
    if (number && number < HOST_NUMBERS && known->places[number]) {
        host = &v->hosts[known->places[number] - 1];
    } else {
        host = by_operation(v, rule->blames_client, f->effect->id, err);
        if (!host)
            return -err->code;
        if (number && number < HOST_NUMBERS)
            known->places[number] = (uint32_t)(host - v->hosts) + 1;
    }
    host->found[rule->level]++;
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct lint_host *a = left, *b = right;

    for (int level = LINT_ERROR; level <= LINT_NOTE; level++)
        if (a->found[level] != b->found[level])
            return a->found[level] > b->found[level] ? -1 : 1;
    return strcmp(a->address, b->address);
}

void lint_hosts_sort(struct lint_view *v)
{
    if (v->host_count)
        qsort(v->hosts, v->host_count, sizeof(*v->hosts), compare);
}

void lint_hosts_free(struct lint_view *v)
{
    free(v->hosts);
    table_free(&v->by_address);
    for (int i = 0; i < 2; i++)
        free(v->numbers[i].places);
}
