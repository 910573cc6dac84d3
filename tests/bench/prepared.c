/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/prepared.h"
#include "base/bytes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { LINE = 64, REPLY_SOON = 512 /* bytes; then the processor has seen where it goes */ };

struct prepared_slot {
    uint64_t key; /* 0: free */
    uint32_t first, last;
};

_Noreturn static void die(const char *path)
{
    fprintf(stderr, "%s: cannot be read, or is damaged\n", path);
    exit(4);
}

uint32_t prepared_arguments(const uint8_t *call, uint32_t len)
{
    uint64_t at = PREPARED_CREDENTIAL;

    for (int i = 0; i < 2; i++) {
        if (len < at + 8)
            return 0;
        at += 8 + (((uint64_t)load_be32(call + at + 4) + 3) & ~UINT64_C(3));
    }
    return at <= len ? (uint32_t)at : 0;
}

uint64_t prepared_key(const struct prepared *p, const uint8_t *call, uint32_t len)
{
    uint32_t at = prepared_arguments(call, len);
    uint64_t key;

    if (!at)
        return 0;
    if (p->any_credential)
        key = XXH3_64bits_withSeed(
            call + at, len - at,
            XXH3_64bits(call + PREPARED_CALL, PREPARED_CREDENTIAL - PREPARED_CALL));
    else
        key = XXH3_64bits(call + PREPARED_CALL, len - PREPARED_CALL);
    return key ? key : 1;
}

static struct prepared_slot *slot_of(const struct prepared *p, uint64_t key)
{
    uint32_t at = (uint32_t)key & p->mask;

    while (p->slots[at].key && p->slots[at].key != key)
        at = (at + 1) & p->mask;
    return &p->slots[at];
}

/* Reads the file's entries. */
static void list(struct prepared *p, const uint8_t *data, uint64_t size, const char *path)
{
    uint32_t cap = 0, len[2];

    for (uint64_t at = 0; at < size; at += (uint64_t)len[0] + len[1]) {
        if (size - at < sizeof(len))
            die(path);
        memcpy(len, data + at, sizeof(len));
        at += sizeof(len);
        if (size - at < (uint64_t)len[0] + len[1] || len[0] < PREPARED_LEAST || len[1] < 4)
            die(path);
        if (p->count == cap) {
            cap = cap ? 2 * cap : 1024;
            p->entries = realloc(p->entries, cap * sizeof(*p->entries));
            if (!p->entries)
                die(path);
        }
        p->entries[p->count++] = (struct prepared_entry){ .call = data + at,
                                                          .call_len = len[0],
                                                          .reply = data + at + len[0],
                                                          .reply_len = len[1],
                                                          .next = PREPARED_NONE };
    }
}

void prepared_open(struct prepared *p, const char *path, bool any_credential)
{
    int fd = open(path, O_RDONLY);
    struct stat of;
    uint8_t *data;
    uint32_t size = 1024;

    *p = (struct prepared){ .any_credential = any_credential };
    if (fd < 0 || fstat(fd, &of) < 0 || !of.st_size)
        die(path);
    data = mmap(NULL, (size_t)of.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED)
        die(path);
    close(fd);
    list(p, data, (uint64_t)of.st_size, path);
    while (size < 2 * p->count)
        size *= 2;
    p->mask = size - 1;
    p->slots = calloc(size, sizeof(*p->slots));
    if (!p->slots)
        die(path);
    for (uint32_t i = 0; i < p->count; i++) {
        struct prepared_entry *e = &p->entries[i];
        struct prepared_slot *slot;

        e->key = prepared_key(p, e->call, e->call_len);
        slot = slot_of(p, e->key);
        if (slot->key)
            p->entries[slot->last].next = i;
        else
            slot->first = i;
        slot->key = e->key;
        slot->last = i;
    }
}

const struct prepared_entry *prepared_find(struct prepared *p, uint64_t key)
{
    struct prepared_slot *slot = key ? slot_of(p, key) : NULL;
    const struct prepared_entry *e;

    if (!slot || !slot->key)
        return NULL;
    e = &p->entries[slot->first];
    if (e->next != PREPARED_NONE)
        slot->first = e->next;
    return e;
}

void prepared_expect(const struct prepared *p, uint64_t key, int step)
{
    const struct prepared_slot *slot = &p->slots[(uint32_t)key & p->mask];
    const struct prepared_entry *e;

    if (step == 0) {
        __builtin_prefetch(slot, 1);
        return;
    }
    e = &p->entries[slot->first];
    if (step == 1) {
        __builtin_prefetch(e);
        return;
    }
    for (uint32_t at = 0; at < e->reply_len && at < REPLY_SOON; at += LINE)
        __builtin_prefetch(e->reply + at);
}
