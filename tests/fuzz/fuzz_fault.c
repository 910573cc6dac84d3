/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_fault.c
 *
 * Any line as a fault: refused with a message, or what is printed of it reads as the same text.
 * Behind the first NUL byte stands a path that a request has.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/fault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = { 0 };
    struct faults *faults = faults_new(1, &err), *again = faults_new(1, &err);
    struct fault_request request = { .program = 100003, .procedure = 6 };
    struct fault_effects effects[2];
    char *text = malloc(size + 1);
    size_t len;

    if (!faults || !again || !text)
        abort();
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    len = strlen(text);
    if (len < size) {
        request.path = text + len + 1;
        request.path_len = (uint32_t)(size - len - 1);
    }
    if (faults_add(faults, text, NULL, &err) < 0) {
        if (err.code != ERR_USAGE || strncmp(err.text, "fault: ", 7) != 0)
            abort();
    } else {
        if (faults_add(again, faults_info(faults, 0).text, NULL, &err) < 0 ||
            strcmp(faults_info(again, 0).text, faults_info(faults, 0).text) != 0)
            abort();
        for (int i = 0; i < 4; i++)
            if (faults_apply(faults, &request, &effects[0]) !=
                    faults_apply(again, &request, &effects[1]) ||
                effects[0].set != effects[1].set)
                abort();
    }
    faults_free(faults);
    faults_free(again);
    free(text);
    return 0;
}
