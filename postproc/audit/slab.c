/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/slab.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct lump {
    struct slab *slab; /* NULL: of one item */
    struct lump *next; /* of the spare ones */
    atomic_uint users; /* items, and the slab while it fills it */
    uint32_t used;
    uint64_t data[];
};

/* Before each item: its lump. */
struct head {
    struct lump *lump;
};

/* Lets a sanitizer see where an item ends, and that it is gone. */
#if defined(__SANITIZE_ADDRESS__)
enum { SHARED_MOST = 0 };
#else
enum { SHARED_MOST = SLAB_LUMP / 4 };
#endif

struct slab {
    struct lump *filling;
    pthread_mutex_t lock;
    struct lump *spare; /* under |lock| */
    unsigned spares;
};

struct slab *slab_new(struct err *err)
{
    struct slab *s = calloc(1, sizeof(*s));

    if (!s) {
        err_memory(err, "secrets");
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

static void leave(struct lump *lump)
{
    struct slab *s = lump->slab;

    if (atomic_fetch_sub_explicit(&lump->users, 1, memory_order_acq_rel) != 1)
        return;
    if (s) {
        pthread_mutex_lock(&s->lock);
        if (s->spares < SLAB_SPARE) {
            lump->next = s->spare;
            s->spare = lump;
            s->spares++;
            lump = NULL;
        }
        pthread_mutex_unlock(&s->lock);
    }
    free(lump);
}

static struct lump *lump_new(struct slab *s, size_t len)
{
    struct lump *lump = NULL;

    if (s) {
        pthread_mutex_lock(&s->lock);
        lump = s->spare;
        if (lump) {
            s->spare = lump->next;
            s->spares--;
        }
        pthread_mutex_unlock(&s->lock);
    }
    if (!lump)
        lump = malloc(sizeof(*lump) + len);
    if (!lump)
        return NULL;
    lump->slab = s;
    lump->used = 0;
    atomic_init(&lump->users, 1);
    return lump;
}

void *slab_get(struct slab *s, size_t len)
{
    size_t size = sizeof(struct head) + ((len + 7) & ~(size_t)7);
    struct lump *lump = s->filling;
    struct head *head;

    if (size > SHARED_MOST) {
        lump = lump_new(NULL, sizeof(*head) + len);
        if (!lump)
            return NULL;
    } else {
        if (!lump || SLAB_LUMP - lump->used < size) {
            lump = lump_new(s, SLAB_LUMP);
            if (!lump)
                return NULL;
            if (s->filling)
                leave(s->filling);
            s->filling = lump;
        }
        atomic_fetch_add_explicit(&lump->users, 1, memory_order_relaxed);
    }
    head = (struct head *)((uint8_t *)lump->data + lump->used);
    head->lump = lump;
    lump->used += (uint32_t)size;
    return head + 1;
}

void slab_put(void *item)
{
    if (item)
        leave(((struct head *)item - 1)->lump);
}

void slab_free(struct slab *s)
{
    if (!s)
        return;
    if (s->filling)
        leave(s->filling);
    while (s->spare) {
        struct lump *next = s->spare->next;

        free(s->spare);
        s->spare = next;
    }
    pthread_mutex_destroy(&s->lock);
    free(s);
}
