/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shadow/shadow_parts.h"

enum { ALL, OTHERS = SHADOW_LATENCIES - 1 };

void latencies_begin(struct shadow *s)
{
    s->latencies[ALL].name = "all";
    s->latencies[OTHERS].name = "other programs";
    for (uint32_t i = 1; i < OTHERS; i++) {
        const struct procedure *p = procedure_find(NFS3_PROGRAM, NFS3_VERSION, i - 1);

        s->latencies[i].name = p ? p->name : "unknown";
    }
}

void latencies_add(struct shadow *s, const struct request *r, int side, int64_t ns)
{
    const struct rpc_header *h = &reading_of(r)->header;
    bool is_nfs = h->program == NFS3_PROGRAM && h->version == NFS3_VERSION;
    uint32_t row = is_nfs && h->procedure < OTHERS - 1 ? 1 + h->procedure : OTHERS;

    histogram_add(&s->latencies[ALL].side[side], ns);
    histogram_add(&s->latencies[row].side[side], ns);
}

const struct shadow_latency *shadow_latencies(const struct shadow *s)
{
    return s->latencies;
}

static void put_side(struct json *j, const char *name, const struct histogram *h)
{
    json_object(j, name);
    json_u64(j, "answers", h->count);
    json_u64(j, "mean", h->count ? h->sum / h->count : 0);
    json_i64(j, "p50", histogram_at(h, 0.5));
    json_i64(j, "p90", histogram_at(h, 0.9));
    json_i64(j, "p99", histogram_at(h, 0.99));
    json_i64(j, "most", h->count ? h->most : 0);
    json_object_end(j);
}

void latencies_json(const struct shadow *s, struct json *j)
{
    json_array(j, "latencies");
    for (uint32_t i = 0; i < SHADOW_LATENCIES; i++) {
        const struct shadow_latency *l = &s->latencies[i];

        if (!l->side[REF].count && !l->side[SUT].count)
            continue;
        json_one_line(j);
        json_object(j, NULL);
        json_text(j, "procedure", l->name);
        put_side(j, "reference", &l->side[REF]);
        put_side(j, "sut", &l->side[SUT]);
        json_object_end(j);
    }
    json_array_end(j);
}
