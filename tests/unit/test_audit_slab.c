/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Items of one thread that another one puts: none is given out twice, and lumps come again. */
#include "audit/slab.h"
#include "base/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 50000, KEPT = 64 };

struct item {
    uint32_t number, len;
    uint8_t bytes[];
};

struct keeper {
    struct item *kept[KEPT]; /* the last ones, which are put later */
    uint32_t taken;
};

static void check_and_put(struct item *item, uint32_t number)
{
    assert_int_equal(item->number, number);
    for (uint32_t i = 0; i < item->len; i++)
        assert_int_equal(item->bytes[i], number & 0xff);
    slab_put(item);
}

/* In the queue's thread. */
static int keep(void *ctx, void *data, size_t len, struct err *err)
{
    struct keeper *k = ctx;
    struct item **place = &k->kept[k->taken % KEPT];

    (void)len;
    (void)err;
    if (*place)
        check_and_put(*place, k->taken - KEPT);
    memcpy(place, data, sizeof(*place));
    k->taken++;
    return 0;
}

/* Some need a lump of their own. */
static uint32_t size_of(uint32_t i)
{
    return i % 1000 == 7 ? SLAB_LUMP + i : i * 7 % 600;
}

static void test_threads(void **ctx)
{
    struct keeper k = { { NULL }, 0 };
    struct err err = { 0 };
    struct slab *slab = slab_new(&err);
    struct queue *queue = queue_new(keep, &k, &err);

    (void)ctx;
    assert_non_null(slab);
    assert_non_null(queue);
    for (uint32_t i = 0; i < ITEMS; i++) {
        struct item *item = slab_get(slab, sizeof(*item) + size_of(i));
        const struct iovec piece = { &item, sizeof(item) };

        assert_non_null(item);
        assert_int_equal((uintptr_t)item % 8, 0);
        item->number = i;
        item->len = size_of(i);
        memset(item->bytes, (int)(i & 0xff), item->len);
        assert_int_equal(queue_put(queue, &piece, 1, &err), 0);
    }
    assert_int_equal(queue_drain(queue, &err), 0);
    assert_int_equal(k.taken, ITEMS);
    for (uint32_t i = ITEMS - KEPT; i < ITEMS; i++)
        check_and_put(k.kept[i % KEPT], i);
    queue_free(queue);
    slab_free(slab);
}

static void test_nothing(void **ctx)
{
    struct err err = { 0 };
    struct slab *slab = slab_new(&err);

    (void)ctx;
    slab_put(NULL);
    slab_free(slab);
    slab_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
