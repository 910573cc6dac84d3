/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "copy/copy.h"

const char *copy_why_text(enum copy_why why)
{
    static const char *const texts[COPY_REASONS] = {
        [COPY_GONE] = "the reference does not have it any more",
        [COPY_REFERENCE] = "the reference does not show it",
        [COPY_SUT] = "the SUT refuses it",
        [COPY_NO_REFERENCE] = "the reference does not answer",
        [COPY_NO_SUT] = "the SUT does not answer",
        [COPY_LOST] = "the SUT does not have it any more",
        [COPY_NO_SPACE] = "no space on the SUT",
        [COPY_BUSY] = "it changes faster than it can be copied",
        [COPY_CHANGED_BEHIND] = "it changes without going through the relay",
        [COPY_NO_POSITION] = "the ring did not show our own calls",
        [COPY_UNABLE] = "the SUT cannot have it",
    };

    return why < COPY_REASONS ? texts[why] : "?";
}
