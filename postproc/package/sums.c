/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/package.h"
#include "package/stage.h"

void sums_write(const struct stage *stage, FILE *out)
{
    for (uint32_t i = 0; i < stage->count; i++)
        fprintf(out, "%s  %s\n", stage->members[i].sha256, stage->members[i].path);
}
