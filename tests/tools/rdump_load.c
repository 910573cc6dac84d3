/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/rdump_load.c
 *
 * A replay dump of any length, to standard output, for tests of what its player needs:
 *
 *     rdump_load OPERATIONS        a multiple of 8
 *
 * The tree is a directory of 1000 files.  Of eight operations one makes a file, the fourth behind
 * it removes that file, one writes, and the others are GETATTRs.  So no more than 1002 objects live
 * at a time, however long the dump is.
 */
#include "rdump/rdump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 1000, ROOT = 1, SIZE = 4096, WRITTEN = 512, HORIZON = 262144, STEP_NS = 1000 };
enum { GETATTR = 1, WRITE = 7, CREATE = 8, REMOVE = 12 };

struct text {
    uint8_t data[128];
    uint32_t len;
};

static void put(struct text *t, uint32_t word)
{
    store_be32(t->data + t->len, word);
    t->len += 4;
}

static void put_name(struct text *t, uint64_t number)
{
    char name[32] = { 0 };
    uint32_t len = (uint32_t)snprintf(name, sizeof(name), "n%llu", (unsigned long long)number);

    put(t, len);
    memcpy(t->data + t->len, name, (len + 3) & ~3u);
    t->len += (len + 3) & ~3u;
}

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

static int put_tree(struct rdump_writer *w, struct err *err)
{
    const struct rdump_trace trace = {
        .time = 1, .horizon = HORIZON, .fine = 1, .copies = 1, .tool = bytes_of("rdump_load")
    };
    const struct rdump_host hosts[] = { { 1, bytes_of("192.0.2.1") },
                                        { 2, bytes_of("192.0.2.2") } };
    const struct rdump_credential credential = { .number = 1, .flavor = 1 };
    struct rdump_object object = { .number = ROOT,
                                   .server = 2,
                                   .type = 2,
                                   .knows = RDUMP_KNOWS_MODE,
                                   .mode = 0755,
                                   .nlink = 2,
                                   .root = bytes_of("/export"),
                                   .source = 1,
                                   .used = 1 };
    int result = rdump_put(w, RDUMP_TRACE, &trace, err);

    for (int i = 0; i < 2 && result == 0; i++)
        result = rdump_put(w, RDUMP_HOST, &hosts[i], err);
    if (result == 0)
        result = rdump_put(w, RDUMP_CREDENTIAL, &credential, err);
    for (uint32_t i = 0; i <= FILES && result == 0; i++) {
        object.number = object.source = ROOT + i;
        result = rdump_put(w, RDUMP_OBJECT, &object, err);
        object.type = 1;
        object.knows = RDUMP_KNOWS_MODE | RDUMP_KNOWS_SIZE;
        object.mode = 0644;
        object.nlink = 1;
        object.size = SIZE;
        object.root = (struct bytes){ 0 };
    }
    for (uint32_t i = 1; i <= FILES && result == 0; i++) {
        char name[16];

        snprintf(name, sizeof(name), "f%u", i);
        result =
            rdump_put(w, RDUMP_ENTRY, &(struct rdump_entry){ ROOT, ROOT + i, bytes_of(name) }, err);
    }
    return result;
}

static int put_operation(struct rdump_writer *w, uint64_t i, bool last, struct err *err)
{
    static uint32_t all[1 + FILES];
    static const uint32_t four[] = { 4 };
    const uint32_t made = (uint32_t)(ROOT + FILES + 1 + i / 8), file = ROOT + 1 + i * 7 % FILES;
    struct text text = { .len = 0 };
    struct rdump_operation o = { .source = (int64_t)i + 1,
                                 .time = (int64_t)i * STEP_NS,
                                 .latency = STEP_NS,
                                 .client = 1,
                                 .server = 2,
                                 .credential = 1,
                                 .procedure = GETATTR };

    put(&text, 4);
    switch (i % 8) {
    case 0: /* UNCHECKED, no attributes */
        put(&text, ROOT);
        put_name(&text, i);
        for (int word = 0; word < 7; word++)
            put(&text, 0);
        o.procedure = CREATE;
        o.made = made;
        break;
    case 4:
        put(&text, ROOT);
        put_name(&text, i - 4);
        o.procedure = REMOVE;
        o.dependencies = four;
        o.forget = &made;
        o.dependency_count = o.forget_count = 1;
        break;
    case 5: /* at 0, FILE_SYNC */
        put(&text, file);
        put(&text, 0);
        put(&text, 0);
        put(&text, WRITTEN);
        put(&text, 2);
        put(&text, WRITTEN);
        o.procedure = WRITE;
        break;
    default:
        put(&text, file);
        break;
    }
    for (uint32_t n = 0; last && n <= FILES; n++)
        all[n] = ROOT + n;
    if (last) {
        o.forget = all;
        o.forget_count = 1 + FILES;
    }
    o.arguments = (struct bytes){ text.data, text.len };
    return rdump_put(w, RDUMP_OPERATION, &o, err);
}

static int to_stdout(void *ctx, const void *data, size_t len, struct err *err)
{
    (void)ctx;
    return fwrite(data, 1, len, stdout) == len ? 0 : err_set(err, ERR_SYSTEM, "cannot write");
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    uint64_t count = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    const struct rdump_end end = { .hosts = 2,
                                   .credentials = 1,
                                   .objects = 1 + FILES,
                                   .entries = FILES,
                                   .operations = count,
                                   .dependencies = count / 8,
                                   .last_time = (int64_t)count * STEP_NS };
    struct rdump_writer *w;
    int result;

    if (!count || count % 8) {
        fprintf(stderr, "usage: rdump_load OPERATIONS, a multiple of 8\n");
        return 2;
    }
    w = rdump_writer_new(to_stdout, NULL, &err);
    result = w ? put_tree(w, &err) : -err.code;
    for (uint64_t i = 0; i < count && result == 0; i++)
        result = put_operation(w, i, i == count - 1, &err);
    if (result == 0)
        result = rdump_put(w, RDUMP_END, &end, &err);
    rdump_writer_free(w);
    if (result < 0)
        fprintf(stderr, "rdump_load: %s\n", err.text);
    return result < 0 ? err.code : fflush(stdout) == 0 ? 0 : 4;
}
