/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/conn_case.h
 *
 * One client, one server and a lab for each test: for the tests of connections.
 */
#ifndef NFSDIGEST_TESTS_CONN_CASE_H
#define NFSDIGEST_TESTS_CONN_CASE_H

#include "lab.h"

static const struct endpoint C = { 0x0a000001, 900 }, S = { 0x0a000009, 2049 };

static struct lab lab;

static inline int open_lab(void **state)
{
    (void)state;
    lab_open(&lab, NULL);
    return 0;
}

static inline int close_lab(void **state)
{
    (void)state;
    lab_close(&lab);
    return 0;
}

#endif
