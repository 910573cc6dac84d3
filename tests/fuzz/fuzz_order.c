/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_order.c
 *
 * The values in order files of pieces, whose version and digest are right.  All numbers are read,
 * and those of a file that was written are the ones that went in.
 */
#include "pieces/order.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_all(const struct order *o)
{
    struct order copy = { 0 };
    uint64_t later, same;
    size_t at = 0, from;
    struct err err = { 0 };

    for (from = 0; order_next(o, &at, &later); from = copy.turns.len) {
        if (order_turn(&copy, later, &err) < 0 || !order_next(&copy, &from, &same) || same != later)
            abort();
    }
    if (at > o->turns.len)
        abort();
    order_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct unpack in = { data, len, false };
    struct order order = { 0 };
    struct err err = { 0 };

    if (parse("order", &in, &order, &err) == 0)
        read_all(&order);
    else if (!err.text[0])
        abort();
    order_free(&order);
    return 0;
}
