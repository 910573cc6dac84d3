/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/rdump_samples.h
 *
 * Random records of replay dumps, their comparison, and a small dump that is right, for the tests
 * of model/rdump.  Members are listed by hand, not taken from the layout table: what the table
 * forgets must show.
 */
#ifndef NFSDIGEST_TESTS_RDUMP_SAMPLES_H
#define NFSDIGEST_TESTS_RDUMP_SAMPLES_H

#include "nfsr_samples.h"
#include "rdump/rdump.h"

#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLE_LISTS = 600 };

/* Numbers that don't fall, in |list|; NULL: none. */
static inline const uint32_t *sample_list(struct samples *s, uint32_t *list, uint32_t *count)
{
    uint64_t at = 0;

    *count = (uint32_t)sample_value(s) % (SAMPLE_LISTS / 3);
    for (uint32_t i = 0; i < *count; i++) {
        uint64_t next = at + (uint32_t)sample_value(s) / SAMPLE_LISTS;

        at = next > UINT32_MAX ? UINT32_MAX : next;
        list[i] = (uint32_t)at;
    }
    return *count ? list : NULL;
}

static inline bool same_list(const uint32_t **a, uint32_t a_count, const uint32_t **b,
                             uint32_t b_count)
{
    bool same = a_count == b_count && (!a_count || !memcmp(*a, *b, a_count * sizeof(**a)));

    *a = *b = NULL;
    return same;
}

/* Fills |r| with a record of |kind|; |list| is room for its lists. */
static inline void sample_rdump(struct samples *s, enum rdump_kind kind, union rdump_record *r,
                                uint32_t list[SAMPLE_LISTS])
{

    memset(r, 0, sizeof(*r));
    switch (kind) {
    case RDUMP_TRACE:
        r->trace.time = (int64_t)sample_value(s);
        r->trace.horizon = (uint32_t)sample_value(s);
        r->trace.fine = (uint8_t)sample_value(s);
        r->trace.copies = (uint32_t)sample_value(s);
        r->trace.tool = sample_bytes(s);
        r->trace.selection = sample_bytes(s);
        r->trace.results = (uint8_t)sample_value(s);
        break;
    case RDUMP_HOST:
        r->host.number = (uint32_t)sample_value(s);
        r->host.address = sample_bytes(s);
        break;
    case RDUMP_CREDENTIAL:
        r->credential.number = (uint32_t)sample_value(s);
        r->credential.flavor = (uint32_t)sample_value(s);
        r->credential.uid = (uint32_t)sample_value(s);
        r->credential.gid = (uint32_t)sample_value(s);
        r->credential.gids = sample_bytes(s);
        r->credential.machine = sample_bytes(s);
        break;
    case RDUMP_OBJECT:
        r->object.number = (uint32_t)sample_value(s);
        r->object.server = (uint32_t)sample_value(s);
        r->object.type = (uint8_t)sample_value(s);
        r->object.knows = (uint16_t)sample_value(s);
        r->object.mode = (uint32_t)sample_value(s);
        r->object.uid = (uint32_t)sample_value(s);
        r->object.gid = (uint32_t)sample_value(s);
        r->object.nlink = (uint32_t)sample_value(s);
        r->object.rdev[0] = (uint32_t)sample_value(s);
        r->object.rdev[1] = (uint32_t)sample_value(s);
        r->object.size = sample_value(s);
        r->object.atime = (int64_t)sample_value(s);
        r->object.mtime = (int64_t)sample_value(s);
        r->object.ctime = (int64_t)sample_value(s);
        r->object.link = sample_bytes(s);
        r->object.root = sample_bytes(s);
        r->object.source = (int64_t)sample_value(s);
        r->object.copy = (uint32_t)sample_value(s);
        r->object.used = (uint8_t)sample_value(s);
        break;
    case RDUMP_ENTRY:
        r->entry.parent = (uint32_t)sample_value(s);
        r->entry.object = (uint32_t)sample_value(s);
        r->entry.name = sample_bytes(s);
        break;
    case RDUMP_OPERATION:
        r->operation.source = (int64_t)sample_value(s);
        r->operation.inferred = (uint8_t)sample_value(s);
        r->operation.unplayable = (uint8_t)sample_value(s);
        r->operation.time = (int64_t)sample_value(s);
        r->operation.latency = (int64_t)sample_value(s);
        r->operation.client = (uint32_t)sample_value(s);
        r->operation.server = (uint32_t)sample_value(s);
        r->operation.credential = (uint32_t)sample_value(s);
        r->operation.procedure = (uint8_t)sample_value(s);
        r->operation.status = (uint32_t)sample_value(s);
        r->operation.made = (uint32_t)sample_value(s);
        r->operation.arguments = sample_bytes(s);
        r->operation.mask = (uint32_t)sample_value(s);
        r->operation.digest = sample_value(s);
        r->operation.links = sample_bytes(s);
        r->operation.results = sample_bytes(s);
        r->operation.names = sample_bytes(s);
        r->operation.dependencies = sample_list(s, list, &r->operation.dependency_count);
        r->operation.cookie_from = (uint32_t)sample_value(s);
        r->operation.cookie_entries = (uint32_t)sample_value(s);
        r->operation.cookies = sample_list(s, list + SAMPLE_LISTS / 3, &r->operation.cookie_count);
        r->operation.forget =
            sample_list(s, list + SAMPLE_LISTS / 3 * 2, &r->operation.forget_count);
        r->operation.copy = (uint32_t)sample_value(s);
        break;
    case RDUMP_END:
        r->end.hosts = sample_value(s);
        r->end.credentials = sample_value(s);
        r->end.objects = sample_value(s);
        r->end.entries = sample_value(s);
        r->end.operations = sample_value(s);
        r->end.inferred = sample_value(s);
        r->end.unplayable = sample_value(s);
        r->end.dependencies = sample_value(s);
        r->end.last_time = (int64_t)sample_value(s);
        break;
    case RDUMP_KIND_MAX:
        abort();
    }
}

static inline bool same_rdump(enum rdump_kind kind, const void *x, const void *y)
{
    union rdump_record a, b;
    bool same = true;

    memcpy(&a, x, sizeof(a));
    memcpy(&b, y, sizeof(b));
    switch (kind) {
    case RDUMP_TRACE:
        same = same_bytes(&a.trace.tool, &b.trace.tool) &&
               same_bytes(&a.trace.selection, &b.trace.selection);
        break;
    case RDUMP_HOST:
        same = same_bytes(&a.host.address, &b.host.address);
        break;
    case RDUMP_CREDENTIAL:
        same = same_bytes(&a.credential.gids, &b.credential.gids) &&
               same_bytes(&a.credential.machine, &b.credential.machine);
        break;
    case RDUMP_OBJECT:
        same = same_bytes(&a.object.link, &b.object.link) &&
               same_bytes(&a.object.root, &b.object.root);
        break;
    case RDUMP_ENTRY:
        same = same_bytes(&a.entry.name, &b.entry.name);
        break;
    case RDUMP_OPERATION:
        same = same_bytes(&a.operation.arguments, &b.operation.arguments) &&
               same_bytes(&a.operation.links, &b.operation.links) &&
               same_bytes(&a.operation.results, &b.operation.results) &&
               same_bytes(&a.operation.names, &b.operation.names);
        same &= same_list(&a.operation.dependencies, a.operation.dependency_count,
                          &b.operation.dependencies, b.operation.dependency_count);
        same &= same_list(&a.operation.cookies, a.operation.cookie_count, &b.operation.cookies,
                          b.operation.cookie_count);
        same &= same_list(&a.operation.forget, a.operation.forget_count, &b.operation.forget,
                          b.operation.forget_count);
        break;
    case RDUMP_END:
    case RDUMP_KIND_MAX:
        break;
    }
    return same && !memcmp(&a, &b, sizeof(a));
}

/* A file with this in it, from its beginning on; -1: there is none. */
static inline int sample_file(const void *data, size_t len)
{
    int fd = memfd_create("rdump", MFD_CLOEXEC);

    if (fd < 0 || (len && write(fd, data, len) != (ssize_t)len) || lseek(fd, 0, SEEK_SET) != 0)
        return -1;
    return fd;
}

static inline struct bytes sample_text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

/* A dump that is right: a client finds a file by its name, makes one beside it and writes to it; an
 * operation that must have happened, and one that cannot be replayed.  The end follows by itself.
 */
static inline size_t sample_small(union rdump_record r[16], enum rdump_kind kinds[16])
{
    static const uint8_t lookup[] = { 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 'h', 'i', 0, 0 };
    /* CREATE, UNCHECKED, mode 0644 */
    static const uint8_t create[] = { 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 3,    'n', 'e', 'w', 0,
                                      0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0xa4, 0,   0,   0,   0,
                                      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,   0,   0,   0 };
    static const uint8_t write[] = { 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0,
                                     0, 0, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 5 };
    static const uint8_t removal[] = { 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 'h', 'i', 0, 0 };
    static const uint8_t links[] = { 0, 0, 0, 2 };
    static const uint8_t gids[] = { 0, 0, 0, 100, 0, 0, 0, 4 };
    static const uint32_t to_create[] = { 1 }, to_lookup[] = { 3 };
    static const uint32_t hi[] = { 2 }, new_one[] = { 3 }, root[] = { 1 };
    const int64_t t = INT64_C(1700000000000000000);
    size_t n = 0;

    memset(r, 0, 16 * sizeof(r[0]));
    kinds[n] = RDUMP_TRACE;
    r[n++].trace = (struct rdump_trace){
        .time = t, .horizon = 262144, .fine = 1, .copies = 1, .tool = sample_text("nfsdigest 0.2.0")
    };
    kinds[n] = RDUMP_HOST;
    r[n++].host = (struct rdump_host){ 1, sample_text("192.0.2.1") };
    kinds[n] = RDUMP_HOST;
    r[n++].host = (struct rdump_host){ 2, sample_text("192.0.2.2") };
    kinds[n] = RDUMP_CREDENTIAL;
    r[n++].credential =
        (struct rdump_credential){ 1, 1, 1000, 100, { gids, sizeof(gids) }, sample_text("pc") };
    kinds[n] = RDUMP_OBJECT;
    r[n++].object = (struct rdump_object){ .number = 1,
                                           .server = 2,
                                           .type = 2,
                                           .knows = RDUMP_KNOWS_MODE | RDUMP_KNOWS_MTIME,
                                           .mode = 0755,
                                           .nlink = 2,
                                           .mtime = t - 5000000000,
                                           .root = sample_text("/export"),
                                           .source = 1,
                                           .used = 1 };
    kinds[n] = RDUMP_OBJECT;
    r[n++].object = (struct rdump_object){ .number = 2,
                                           .server = 2,
                                           .type = 1,
                                           .knows = RDUMP_KNOWS_SIZE,
                                           .mode = 0644,
                                           .nlink = 1,
                                           .size = 4096,
                                           .source = 2,
                                           .used = 1 };
    kinds[n] = RDUMP_ENTRY;
    r[n++].entry = (struct rdump_entry){ 1, 2, sample_text("hi") };
    kinds[n] = RDUMP_OPERATION;
    r[n++].operation = (struct rdump_operation){ .source = 1,
                                                 .latency = 250000,
                                                 .client = 1,
                                                 .server = 2,
                                                 .credential = 1,
                                                 .procedure = 3,
                                                 .arguments = { lookup, sizeof(lookup) },
                                                 .mask = 1 << 11 | 1 << 24,
                                                 .digest = UINT64_C(0xac025de0a5aa0d31),
                                                 .links = { links, sizeof(links) },
                                                 .forget = hi,
                                                 .forget_count = 1 };
    kinds[n] = RDUMP_OPERATION;
    r[n++].operation = (struct rdump_operation){ .source = 2,
                                                 .time = 1000000,
                                                 .latency = 700000,
                                                 .client = 1,
                                                 .server = 2,
                                                 .credential = 1,
                                                 .procedure = 8,
                                                 .made = 3,
                                                 .arguments = { create, sizeof(create) } };
    kinds[n] = RDUMP_OPERATION;
    r[n++].operation = (struct rdump_operation){ .source = 3,
                                                 .time = 2000000,
                                                 .latency = 400000,
                                                 .client = 1,
                                                 .server = 2,
                                                 .credential = 1,
                                                 .procedure = 7,
                                                 .arguments = { write, sizeof(write) },
                                                 .dependencies = to_create,
                                                 .dependency_count = 1,
                                                 .forget = new_one,
                                                 .forget_count = 1 };
    kinds[n] = RDUMP_OPERATION;
    r[n++].operation = (struct rdump_operation){ .inferred = 1,
                                                 .time = 3000000,
                                                 .latency = -1,
                                                 .client = 1,
                                                 .server = 2,
                                                 .credential = 1,
                                                 .procedure = 12,
                                                 .arguments = { removal, sizeof(removal) },
                                                 .dependencies = to_lookup,
                                                 .dependency_count = 1,
                                                 .forget = root,
                                                 .forget_count = 1 };
    kinds[n] = RDUMP_OPERATION;
    r[n++].operation = (struct rdump_operation){ .source = 4,
                                                 .unplayable = 2,
                                                 .time = 3000000,
                                                 .latency = -1,
                                                 .client = 1,
                                                 .server = 2,
                                                 .credential = 1,
                                                 .procedure = 6 };
    kinds[n++] = RDUMP_END;
    return n;
}

#endif
