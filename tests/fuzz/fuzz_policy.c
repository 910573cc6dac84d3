/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_policy.c
 *
 * Any text as a policy file: refused with a message, or what is printed of it means the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "anon/policy_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct policy *policy, *again;
    struct buf text = { 0 }, warnings = { 0 };
    struct err err = { 0 };

    if (policy_read("fuzz", (const char *)data, size, &policy, &err) < 0) {
        if (policy || err.code != ERR_INPUT || strncmp(err.text, "fuzz:", 5) != 0)
            abort();
        return 0;
    }
    if (policy_print(policy, &text, &err) < 0 || policy_warn(policy, &warnings, &err) < 0 ||
        policy_read("again", (const char *)text.data, text.len, &again, &err) < 0 ||
        memcmp(policy->digest, again->digest, sizeof(policy->digest)) != 0)
        abort();
    policy_free(policy);
    policy_free(again);
    buf_free(&text);
    buf_free(&warnings);
    return 0;
}
