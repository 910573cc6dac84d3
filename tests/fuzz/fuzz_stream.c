/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_stream.c
 *
 * TCP reassembly: the input chooses messages, segmentation, order, duplication, overlap and loss
 * of a known stream (tests/lib/stream_plan.h).  First byte odd: the capture may lack segments.
 * Aborts when the engine does not find what it must.
 */
#include "stream_plan.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chooser c = { data + 1, size - 1, UINT64_C(0x9e3779b97f4a7c15) };
    char why[256];

    if (size < 2)
        return 0;
    if (stream_plan_run(&c, data[0] & 1, why, sizeof(why)) < 0) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    return 0;
}
