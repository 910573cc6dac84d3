/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/values.h
 *
 * Reads and writes numbers and times in the forms that people use.
 */
#ifndef NFSDIGEST_BASE_VALUES_H
#define NFSDIGEST_BASE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VALUE_TEXT_MAX = 40 };

/* Each of these parsers returns false if |text| has another form. */

/* "4M": a number with an optional k, M or G (powers of 1024). */
bool parse_size(const char *text, uint64_t *value);
/* "1.5ms": the units are ns, us, ms, s, m, h; without a unit, seconds. */
bool parse_duration(const char *text, int64_t *ns);
/* "2026-11-21 05:48:01.5" in UTC, or seconds since the epoch.  T may stand for the blank, parts at
 * the end may be missing, and a Z may follow. */
bool parse_time(const char *text, int64_t *ns);
bool parse_number(const char *text, uint64_t *value);

/* Each returns |text|. */
const char *time_text(int64_t ns, char text[VALUE_TEXT_MAX]); /* 2026-11-21 05:48:01.123456789 */
const char *duration_text(int64_t ns, char text[VALUE_TEXT_MAX]);       /* 1.234ms: four digits */
const char *duration_rough_text(int64_t ns, char text[VALUE_TEXT_MAX]); /* 1.2ms: two digits */
const char *size_text(uint64_t bytes, char text[VALUE_TEXT_MAX]);       /* 12.3 MiB */
const char *count_text(uint64_t n, char text[VALUE_TEXT_MAX]);          /* 1,234,567 */

#endif
