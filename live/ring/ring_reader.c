/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ring/ring_reader.c
 *
 * A reader of a ring.  Contract and layout: ring.h.  What comes from the memory is copied first,
 * and then checked: it can change at any time.
 */
#include "ring/ring_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ATTEMPTS = 4, /* to catch up with a writer that is faster; the caller tries again */
    LOOKS = 1000,
};

/* --- setting up */

/* Begins behind the last entry.  If the writer is too busy for a look at all three numbers, the
 * next entry's number stays unknown. */
static void find_end(struct ring_reader *r)
{
    r->number = 0;
    for (int i = 0; i < LOOKS; i++) {
        uint64_t number;

        r->position = atomic_load_explicit(&r->head->written, memory_order_acquire);
        number = atomic_load_explicit(&r->head->number, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&r->head->reserved, memory_order_relaxed) == r->position) {
            r->number = number + 1;
            return;
        }
    }
}

int ring_reader_begin(struct ring_reader *r, const struct ring_head *head, uint64_t size,
                      struct err *err)
{
    struct ring_head copy;

    memcpy(&copy, head, offsetof(struct ring_head, reserved));
    if (memcmp(copy.magic, RING_MAGIC, sizeof(copy.magic)) != 0)
        return err_set(err, ERR_INPUT, "the shared memory is not a ring of nfstee");
    if (copy.version != RING_VERSION)
        return err_set(err, ERR_INPUT,
                       "the ring has version %" PRIu32 ", and this program knows version %d",
                       copy.version, RING_VERSION);
    if (copy.head_size != RING_HEAD_SIZE || copy.block != RING_BLOCK || copy.size != size ||
        size % RING_BLOCK != 0 || size / RING_BLOCK < RING_BLOCKS_MIN || size > RING_SIZE_MAX)
        return err_set(err, ERR_INPUT,
                       "the ring's head has wrong sizes: %" PRIu64 " bytes of %" PRIu64, copy.size,
                       size);
    r->head = head;
    r->blocks = (const uint8_t *)head + RING_HEAD_SIZE;
    r->size = size;
    r->identity = copy.identity;
    find_end(r);
    if (r->position % RING_ALIGN != 0)
        return err_set(err, ERR_INPUT, "the ring's positions are damaged");
    return 0;
}

static int map(struct ring_reader *r, int fd, struct err *err)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    void *memory;

    if (seals < 0 || (seals & RING_SEALS) != RING_SEALS || fstat(fd, &st) < 0)
        return err_set(err, ERR_INPUT, "the shared memory is not sealed as a ring of nfstee");
    if (st.st_size < RING_HEAD_SIZE)
        return err_set(err, ERR_INPUT, "the shared memory is not a ring of nfstee");
    memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return err_set(err, ERR_SYSTEM, "mapping the ring: %s", strerror(errno));
    if (ring_reader_begin(r, memory, (uint64_t)st.st_size - RING_HEAD_SIZE, err) < 0) {
        munmap(memory, (size_t)st.st_size);
        return -ERR_INPUT;
    }
    return 0;
}

struct ring_reader *ring_reader_new(int fd, struct err *err)
{
    struct ring_reader *r = calloc(1, sizeof(*r));

    if (r)
        r->payload = malloc(RING_BLOCK);
    if (!r || !r->payload)
        err_memory(err, "a reader of the ring");
    else if (map(r, fd, err) == 0)
        return r;
    if (r)
        free(r->payload);
    free(r);
    return NULL;
}

void ring_reader_free(struct ring_reader *r)
{
    if (!r)
        return;
    munmap((void *)(uintptr_t)r->head, RING_HEAD_SIZE + r->size);
    free(r->payload);
    free(r);
}

/* --- reading */

/* Copies |len| bytes from the position |at|, all in one block.  Returns true if they were not
 * overwritten meanwhile. */
static bool copy(const struct ring_reader *r, void *to, uint64_t at, uint32_t len)
{
    memcpy(to, r->blocks + at % r->size, len);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&r->head->reserved, memory_order_relaxed) - r->position <= r->size;
}

static int damaged(const struct ring_reader *r, const char *what, struct err *err)
{
    return err_set(err, ERR_INPUT, "the ring is damaged at position %" PRIu64 ": %s", r->position,
                   what);
}

/* After an overrun, continues at the border of blocks half a ring behind the writer, which does
 * then not overrun the reader again at once. */
static int skip(struct ring_reader *r, struct err *err)
{
    uint64_t written = atomic_load_explicit(&r->head->written, memory_order_acquire);
    uint64_t blocks = written / RING_BLOCK, back = r->size / RING_BLOCK / 2;

    if (blocks < back || (blocks - back) * RING_BLOCK <= r->position)
        return damaged(r, "the writer's positions", err);
    r->position = (blocks - back) * RING_BLOCK;
    r->overrun = true;
    return 0;
}

/* Checks the copy of an entry's head. */
static int check(const struct ring_reader *r, const struct ring_entry *e, uint64_t written,
                 struct err *err)
{
    uint32_t room = RING_BLOCK - (uint32_t)(r->position % RING_BLOCK);

    if (e->size < sizeof(*e) || e->size % RING_ALIGN != 0 || e->size > room ||
        e->size > written - r->position)
        return damaged(r, "an entry's size", err);
    if (e->len > e->size - sizeof(*e))
        return damaged(r, "the length of an entry's bytes", err);
    if (e->number && r->number && (r->overrun ? e->number < r->number : e->number != r->number))
        return damaged(r, "an entry's number", err);
    return 0;
}

/* Returns 1 for an entry, 0 for nothing that counts (padding, or it was overwritten). */
static int take(struct ring_reader *r, uint64_t written, struct ring_got *got, struct err *err)
{
    struct ring_entry *e = &got->entry;

    if (!copy(r, e, r->position, sizeof(*e)))
        return skip(r, err);
    if (check(r, e, written, err) < 0)
        return -ERR_INPUT;
    if (!e->number) {
        r->position += e->size;
        return 0;
    }
    if (!copy(r, r->payload, r->position + sizeof(*e), e->len))
        return skip(r, err);
    got->payload = (struct bytes){ r->payload, e->len };
    got->lost = r->number ? e->number - r->number : 0;
    r->number = e->number + 1;
    r->overrun = false;
    r->position += e->size;
    return 1;
}

int ring_read(struct ring_reader *r, struct ring_got *got, struct err *err)
{
    int result = 0;

    for (int i = 0; i < ATTEMPTS && result == 0; i++) {
        uint64_t written = atomic_load_explicit(&r->head->written, memory_order_acquire);

        if (written == r->position)
            return 0;
        if (written < r->position || written % RING_ALIGN != 0)
            return damaged(r, "the writer's position", err);
        result = take(r, written, got, err);
    }
    return result;
}

uint64_t ring_behind(const struct ring_reader *r)
{
    uint64_t written = atomic_load_explicit(&r->head->written, memory_order_acquire);

    return written > r->position ? written - r->position : 0;
}

uint64_t ring_reader_size(const struct ring_reader *r)
{
    return r->size;
}

uint64_t ring_reader_identity(const struct ring_reader *r)
{
    return r->identity;
}
