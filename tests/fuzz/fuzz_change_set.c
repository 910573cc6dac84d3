/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_change_set.c
 *
 * Any bytes as a story of changes during a copy (change_set_model.h).
 */
#include "fuzz/change_set_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= 4096)
        tell_story(data, size);
    return 0;
}
