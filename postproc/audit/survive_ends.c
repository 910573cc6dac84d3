/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/survive_ends.c
 *
 * Finds ends of connections that are in both captures, at the same time after the shift of all
 * times.
 */
#include "audit/survive_parts.h"
#include "base/grow.h"
#include "flow/message.h"

#include <stdlib.h>

static int add_end(struct survive *s, unsigned which, const struct flow_over *over, struct err *err)
{
    if (over->kind != FLOW_END_FIN && over->kind != FLOW_END_RST)
        return 0;
    if (s->end_count[which] == SURVIVE_ENDS) {
        s->left_out++;
        return 0;
    }
    if (GROW(s->ends[which], s->end_count[which], s->end_cap[which]) < 0)
        return err_memory(err, "ends of connections");
    s->ends[which][s->end_count[which]++] = (struct survive_end){
        .time = over->time,
        .port = { over->flow->port[over->side], over->flow->port[!over->side] },
        .kind = over->kind,
    };
    return 0;
}

int survive_original_over(void *survive, const struct flow_over *over, struct err *err)
{
    return add_end(survive, 0, over, err);
}

int survive_over(void *survive, const struct flow_over *over, struct err *err)
{
    return add_end(survive, 1, over, err);
}

static int compare_ends(const struct survive_end *a, const struct survive_end *b)
{
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    for (unsigned i = 0; i < 2; i++)
        if (a->port[i] != b->port[i])
            return a->port[i] < b->port[i] ? -1 : 1;
    return a->kind - b->kind;
}

static int by_time(const void *a, const void *b)
{
    return compare_ends(a, b);
}

static const char *const end_names[] = { [FLOW_END_FIN] = "FIN", [FLOW_END_RST] = "RST" };

int survive_ends(struct survive *s, struct err *err)
{
    uint32_t row, j = 0;

    for (unsigned which = 0; which < 2; which++)
        if (s->end_count[which])
            qsort(s->ends[which], s->end_count[which], sizeof(**s->ends), by_time);
    for (uint32_t i = 0; i < s->end_count[0]; i++) {
        struct survive_end end = s->ends[0][i];
        const char *name = end_names[end.kind];
        struct survive_pair pair = { .original = { name, 3 }, .anonymized = { "", 0 } };

        if (end.time != TIME_NONE)
            end.time += s->audit.shift;
        while (j < s->end_count[1] && compare_ends(&s->ends[1][j], &end) < 0)
            j++;
        if (j < s->end_count[1] && compare_ends(&s->ends[1][j], &end) == 0) {
            pair.anonymized = pair.original;
            j++;
        }
        if (survive_row(s, 0, "TCP connection's end", SURVIVE_END, SURVIVE_BYTE_STRING, NULL, &row,
                        err) < 0)
            return -err->code;
        if (row != TABLE_NONE && survive_add(s, row, &pair, err) < 0)
            return -err->code;
    }
    return 0;
}
