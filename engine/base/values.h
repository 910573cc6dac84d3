/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/values.h
 *
 * Numbers, times and texts between people and the program.
 */
#ifndef NFSDIGEST_BASE_VALUES_H
#define NFSDIGEST_BASE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VALUE_TEXT_MAX = 40 };

/* "4M": a number with an optional k, M or G (1024 each). */
bool parse_size(const char *text, uint64_t *value);
/* "1.5ms": ns, us, ms, s, m, h; without unit seconds. */
bool parse_duration(const char *text, int64_t *ns);
/* "2026-11-21 05:48:01.5" (T or blank, parts from the right may be missing, UTC, Z allowed) or
 * seconds since the epoch. */
bool parse_time(const char *text, int64_t *ns);
bool parse_number(const char *text, uint64_t *value);

/* Each returns |text|. */
const char *time_text(int64_t ns, char text[VALUE_TEXT_MAX]); /* 2026-11-21 05:48:01.123456789 */
const char *duration_text(int64_t ns, char text[VALUE_TEXT_MAX]); /* 1.234ms: four digits */
const char *size_text(uint64_t bytes, char text[VALUE_TEXT_MAX]); /* 12.3 MiB */
const char *count_text(uint64_t n, char text[VALUE_TEXT_MAX]);    /* 1,234,567 */

#endif
