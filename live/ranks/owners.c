/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ranks/owners.h"
#include "rdump/rdump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int owners_new(struct owners *o, uint32_t ranks, const uint32_t *host_counts, uint32_t dumps,
               struct err *err)
{
    uint64_t hosts = 0;

    *o = (struct owners){ .dump_count = dumps, .ranks = ranks };
    o->first = calloc((size_t)dumps + 1, sizeof(*o->first));
    for (uint32_t i = 0; o->first && i < dumps; i++) {
        hosts += (uint64_t)host_counts[i] + 1;
        if (hosts > INT32_MAX)
            return err_set(err, ERR_INPUT, "the dumps have too many hosts");
        o->first[i + 1] = (uint32_t)hosts;
    }
    o->load = calloc(hosts + 1, sizeof(*o->load));
    o->rank = calloc(hosts + 1, sizeof(*o->rank));
    return o->first && o->load && o->rank ? 0 : err_memory(err, "the clients of ranks");
}

void owners_free(struct owners *o)
{
    free(o->first);
    free(o->load);
    free(o->rank);
    *o = (struct owners){ 0 };
}

static int count(struct owners *o, uint32_t dump, struct rdump_reader *reader, uint64_t most,
                 struct err *err)
{
    uint64_t *load = o->load + o->first[dump], done = 0;
    uint32_t hosts = o->first[dump + 1] - o->first[dump];
    enum rdump_kind kind;
    const void *record;
    int more = 1;

    while ((!most || done < most) && (more = rdump_next(reader, &kind, &record, err)) == 1) {
        const struct rdump_operation *operation = record;

        if (kind != RDUMP_OPERATION)
            continue;
        load[operation->client < hosts ? operation->client : 0]++;
        done++;
    }
    return more < 0 && err->code != ERR_INPUT ? more : 0;
}

int owners_count(struct owners *o, uint32_t dump, const char *path, uint64_t most, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), result;
    struct rdump_reader *reader;

    if (fd < 0)
        return err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
    reader = rdump_reader_new(fd, path, err);
    result = reader ? count(o, dump, reader, most, err) : -err->code;
    rdump_reader_free(reader);
    close(fd);
    return result;
}

void owners_copy(struct owners *o, uint32_t dump, uint32_t from)
{
    for (uint32_t i = 0; i < o->first[dump + 1] - o->first[dump]; i++)
        o->load[o->first[dump] + i] = o->load[o->first[from] + i];
}

/* --- who gets whom */

static int by_load(const void *a, const void *b, void *ctx)
{
    const uint64_t *load = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (load[x] != load[y])
        return load[x] > load[y] ? -1 : 1;
    return (x > y) - (x < y);
}

int owners_assign(struct owners *o, struct err *err)
{
    uint32_t hosts = owners_hosts(o);
    uint32_t *order = calloc((size_t)hosts + 1, sizeof(*order));
    uint64_t *sums = calloc(o->ranks, sizeof(*sums));
    bool enough = order && sums;

    for (uint32_t i = 0; enough && i < hosts; i++)
        order[i] = i;
    if (enough)
        qsort_r(order, hosts, sizeof(*order), by_load, o->load);
    for (uint32_t i = 0; enough && i < hosts; i++) {
        uint32_t least = 0;

        for (uint32_t rank = 1; rank < o->ranks; rank++)
            least = sums[rank] < sums[least] ? rank : least;
        o->rank[order[i]] = least;
        sums[least] += o->load[order[i]];
    }
    free(order);
    free(sums);
    return enough ? 0 : err_memory(err, "the clients of ranks");
}

uint64_t owners_load(const struct owners *o, uint32_t dump, uint32_t rank)
{
    uint64_t load = 0;

    for (uint32_t i = o->first[dump]; i < o->first[dump + 1]; i++)
        load += o->rank[i] == rank ? o->load[i] : 0;
    return load;
}

uint32_t owners_idle(const struct owners *o)
{
    uint32_t idle = 0;

    for (uint32_t rank = 0; rank < o->ranks; rank++) {
        uint64_t load = 0;

        for (uint32_t i = 0; i < o->dump_count; i++)
            load += owners_load(o, i, rank);
        idle += load == 0;
    }
    return idle;
}
