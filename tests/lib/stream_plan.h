/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/stream_plan.h
 *
 * A known connection of RPC messages, sent in ways that choices decide: segmentation, order,
 * duplication, overlap, loss on the path (sent again) and loss in the capture (never seen). The
 * frames go through engine_frame; what comes out is compared with what is known.
 */
#ifndef NFSDIGEST_STREAM_PLAN_H
#define NFSDIGEST_STREAM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where choices come from: |len| bytes of a fuzzer's, then (or with |len| 0 at once) numbers that
 * follow from |random|. */
struct chooser {
    const uint8_t *data;
    size_t len;
    uint64_t random;
};

uint32_t choose(struct chooser *c, uint32_t below);

/* Plans and runs one connection. With |may_lose| segments may be missing from the capture: then
 * messages that are whole must be found nevertheless, and none invented. Returns 0, or -1 and says
 * why in |why|. */
int stream_plan_run(struct chooser *c, bool may_lose, char *why, size_t why_size);

#endif
