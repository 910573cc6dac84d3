/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ring/ring.c
 *
 * The writer of a ring.  Contract and layout: ring.h.  It keeps its positions for itself, and only
 * stores to the shared memory.
 */
#include "ring/ring_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

struct ring {
    int fd;
    struct ring_head *head;
    uint8_t *blocks;
    uint64_t identity, size, reserved, written, number, bytes;
};

/* Bytes that processes can still have, as the kernel estimates it. */
static uint64_t available(void)
{
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");

    while (file && !kilobytes && fgets(line, sizeof(line), file))
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) != 1)
            kilobytes = 0;
    if (file)
        fclose(file);
    return kilobytes ? kilobytes * 1024
                     : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}

static int map(struct ring *r, struct err *err)
{
    uint64_t all = RING_HEAD_SIZE + r->size;

    r->fd = memfd_create("nfsdigest-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* all memory now: later, the lack of it would end the process */
    if (r->fd < 0 || (errno = posix_fallocate(r->fd, 0, (off_t)all)) != 0)
        return err_set(err, ERR_SYSTEM, "a ring of %llu bytes: %s", (unsigned long long)r->size,
                       strerror(errno));
    r->head = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, 0);
    if (r->head == MAP_FAILED) {
        r->head = NULL;
        return err_set(err, ERR_SYSTEM, "a ring of %llu bytes: %s", (unsigned long long)r->size,
                       strerror(errno));
    }
    r->blocks = (uint8_t *)r->head + RING_HEAD_SIZE;
    if (fcntl(r->fd, F_ADD_SEALS, RING_SEALS) < 0)
        return err_set(err, ERR_SYSTEM, "sealing the ring: %s", strerror(errno));
    return 0;
}

struct ring *ring_new(uint64_t size, struct err *err)
{
    struct ring *r;
    uint64_t blocks = size / RING_BLOCK + (size % RING_BLOCK != 0);

    if (size > RING_SIZE_MAX) {
        err_set(err, ERR_USAGE, "a ring has at most %llu bytes", (unsigned long long)RING_SIZE_MAX);
        return NULL;
    }
    r = calloc(1, sizeof(*r));
    if (!r) {
        err_memory(err, "a ring");
        return NULL;
    }
    r->fd = -1;
    r->size = (blocks < RING_BLOCKS_MIN ? RING_BLOCKS_MIN : blocks) * RING_BLOCK;
    if (r->size > available() / 2) { /* the kernel would end other processes */
        err_set(err, ERR_USAGE, "a ring of %llu bytes is more than half of the memory that is left",
                (unsigned long long)r->size);
        free(r);
        return NULL;
    }
    if (map(r, err) < 0) {
        ring_free(r);
        return NULL;
    }
    if (getrandom(&r->identity, sizeof(r->identity), 0) != sizeof(r->identity))
        r->identity = (uint64_t)getpid();
    r->head->version = RING_VERSION;
    r->head->head_size = RING_HEAD_SIZE;
    r->head->block = RING_BLOCK;
    r->head->size = r->size;
    r->head->identity = r->identity;
    memcpy(r->head->magic, RING_MAGIC, sizeof(r->head->magic));
    return r;
}

void ring_free(struct ring *r)
{
    if (!r)
        return;
    if (r->head)
        munmap(r->head, RING_HEAD_SIZE + r->size);
    if (r->fd >= 0)
        close(r->fd);
    free(r);
}

int ring_fd(const struct ring *r)
{
    return r->fd;
}

uint64_t ring_identity(const struct ring *r)
{
    return r->identity;
}

/* Bytes up to the next border, at least RING_ALIGN. */
static uint32_t room(const struct ring *r)
{
    return RING_BLOCK - (uint32_t)(r->written % RING_BLOCK);
}

static uint8_t *place(const struct ring *r)
{
    return r->blocks + r->written % r->size;
}

static uint32_t padded(uint32_t len)
{
    return (len + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
}

/* Says that the next |size| bytes are overwritten.  A reader that sees any of the following stores
 * must see this one, too.  An exchange, not a fence: ThreadSanitizer knows no fences, and on most
 * machines it costs the same. */
static void reserve(struct ring *r, uint32_t size)
{
    if (r->reserved < r->written + size)
        r->reserved = r->written + size;
    atomic_exchange_explicit(&r->head->reserved, r->reserved, memory_order_acq_rel);
}

/* Says that the entry |e|, which is there, can be read. */
static void publish(struct ring *r, const struct ring_entry *e)
{
    r->written += e->size;
    r->bytes += e->len;
    if (e->number)
        atomic_store_explicit(&r->head->number, e->number, memory_order_relaxed);
    atomic_store_explicit(&r->head->written, r->written, memory_order_release);
}

/* Writes one entry of |e->size| bytes, for which there is room in the block. */
static void put(struct ring *r, const struct ring_entry *e, const uint8_t *payload)
{
    uint8_t *at = place(r);

    reserve(r, e->size);
    memcpy(at, e, sizeof(*e));
    if (e->len)
        memcpy(at + sizeof(*e), payload, e->len);
    publish(r, e);
}

static void number(struct ring *r, struct ring_entry *e, uint32_t len)
{
    e->number = ++r->number;
    e->size = (uint32_t)sizeof(*e) + padded(len);
    e->len = len;
}

static void put_numbered(struct ring *r, struct ring_entry *e, struct bytes payload)
{
    number(r, e, payload.len);
    put(r, e, payload.data);
}

static void pad(struct ring *r)
{
    const struct ring_entry none = { .size = room(r) };

    put(r, &none, NULL);
}

void ring_put(struct ring *r, const struct ring_entry *entry, struct bytes payload)
{
    struct ring_entry e = *entry;

    do {
        struct bytes part = payload;

        if (payload.len && room(r) == sizeof(e))
            pad(r);
        if (part.len > room(r) - sizeof(e))
            part.len = room(r) - (uint32_t)sizeof(e);
        put_numbered(r, &e, part);
        payload.data += part.len;
        payload.len -= part.len;
        e.offset += part.len;
    } while (payload.len);
}

void ring_put_whole(struct ring *r, const struct ring_entry *entry, struct bytes payload)
{
    struct ring_entry e = *entry;

    if (payload.len > RING_PAYLOAD_MAX)
        payload.len = RING_PAYLOAD_MAX;
    if (payload.len > room(r) - sizeof(e))
        pad(r);
    put_numbered(r, &e, payload);
}

uint8_t *ring_begin(struct ring *r, uint32_t want, uint32_t *most)
{
    const uint32_t head = (uint32_t)sizeof(struct ring_entry);

    if (room(r) == head)
        pad(r);
    *most = want < room(r) - head ? want : room(r) - head;
    reserve(r, head + padded(*most));
    return place(r) + head;
}

void ring_end(struct ring *r, const struct ring_entry *entry, uint32_t len)
{
    struct ring_entry e = *entry;

    if (!len)
        return;
    number(r, &e, len);
    memcpy(place(r), &e, sizeof(e));
    publish(r, &e);
}

void ring_count(const struct ring *r, struct ring_counts *counts)
{
    *counts = (struct ring_counts){ r->number, r->bytes, r->written, r->size };
}
