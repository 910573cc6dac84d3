/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/plan_dump.c
 *
 * Prints the operations of a plan (postproc/digest/plan.h) with their dependencies in both
 * granularities, for tests that reckon with them on their own.
 *
 *     plan_dump DATABASE
 *
 * A line for each operation, columns separated by tabs: enum repair_reason, enum unplayable,
 * procedure, latency in ns (-1: no reply), distances to what it depends on with granularity object,
 * and with fine, separated by commas ("-": none).
 */
#include "digest/plan.h"
#include "store/store.h"
#include "wire/field.h"

#include <inttypes.h>
#include <stdio.h>

static void print_distances(const struct plan_edges *edges)
{
    putchar('\t');
    for (uint32_t i = 0; i < edges->count; i++)
        printf("%s%" PRIu32, i ? "," : "", edges->distances[i]);
    if (!edges->count)
        putchar('-');
}

static int print_operation(void *ctx, const struct rdump_operation *operation,
                           const struct plan_edges *edges, struct err *err)
{
    (void)ctx, (void)err;
    printf("%u\t%u\t%u\t%" PRId64, operation->inferred, operation->unplayable, operation->procedure,
           operation->latency);
    print_distances(&edges[ACCESS_OBJECT]);
    print_distances(&edges[ACCESS_FINE]);
    putchar('\n');
    return 0;
}

int main(int argc, char **argv)
{
    const struct plan_options options = { .from = BEGINNING, .granularity = { true, true } };
    const struct plan_host host = { .operation = print_operation };
    struct plan_counts counts;
    struct err err = { 0 };
    struct store *store;
    int result;

    if (argc != 2) {
        fputs("usage: plan_dump DATABASE\n", stderr);
        return ERR_USAGE;
    }
    wire_init();
    store = store_open(argv[1], STORE_READ, &err);
    if (!store) {
        fprintf(stderr, "plan_dump: %s\n", err.text);
        return err.code;
    }
    result = plan_read(store_db(store), &options, &host, &counts, &err);
    store_close(store);
    if (result < 0)
        fprintf(stderr, "plan_dump: %s\n", err.text);
    return result < 0 ? err.code : fflush(stdout) ? ERR_SYSTEM : 0;
}
