/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/alike.c
 *
 * Finds names that are the same name in another spelling.
 */
#include "judge/judge_values.h"

#include <string.h>
#include <strings.h>

enum { POINTS_MAX = 3 * COMPARE_TEXT_MAX };

/* Canonical decompositions of U+00C0 to U+017F (Unicode Character Database, UnicodeData.txt): the
 * base letter, and the combining mark behind it less U+0300, in letters from @ on; blank: none. */
static const char base_letters[] =
    "AAAAAA CEEEEIIII NOOOOO  UUUUY  aaaaaa ceeeeiiii nooooo  uuuuy y"
    "AaAaAaCcCcCcCcDd  EeEeEeEeEeGgGgGgGgHh  IiIiIiIiI   JjKk LlLlLl "
    "   NnNnNn   OoOoOo  RrRrRrSsSsSsSsTtTt  UuUuUuUuUuUuWwYyYZzZzZz ";
static const char marks[] = "@ABCHJ g@ABH@ABH C@ABCH  @ABHA  @ABCHJ g@ABH@ABH C@ABCH  @ABHA H"
                            "DDFFhhAABBGGLLLL  DDFFGGhhLLBBFFGGggBB  CCDDFFhhG   BBgg AAggLL "
                            "   AAggLL   DDFFKK  AAggLLAABBggLLggLL  CCDDFFJJKKhhBBBBHAAGGLL ";
/* clang-format off */
enum { LATIN_FIRST = 0xc0, LATIN_END = 0x180, MARKS = 0x300 };
/* Unicode s3.12: syllables of Hangul are put together of these. */
enum { HANGUL = 0xac00, HANGUL_END = 0xd7a4, HANGUL_L = 0x1100, HANGUL_V = 0x1161, HANGUL_T = 0x11a7,
       HANGUL_VS = 21, HANGUL_TS = 28 };
/* clang-format on */

/* A character of UTF-8 at |*at|; false: there is none. */
static bool next_point(struct bytes name, uint32_t *at, uint32_t *point)
{
    uint8_t lead = name.data[*at];
    uint32_t more = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;

    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || more >= name.len - *at)
        return false;
    *point = more ? lead & (0x3fu >> more) : lead;
    for (uint32_t i = 1; i <= more; i++) {
        if ((name.data[*at + i] & 0xc0) != 0x80)
            return false;
        *point = *point << 6 | (name.data[*at + i] & 0x3f);
    }
    *at += more + 1;
    return true;
}

static uint32_t decompose(uint32_t point, uint32_t to[3])
{
    uint32_t n = 0;

    if (point >= LATIN_FIRST && point < LATIN_END && base_letters[point - LATIN_FIRST] != ' ') {
        to[n++] = (uint32_t)base_letters[point - LATIN_FIRST];
        to[n++] = MARKS + (uint32_t)marks[point - LATIN_FIRST] - '@';
    } else if (point >= HANGUL && point < HANGUL_END) {
        uint32_t index = point - HANGUL;

        to[n++] = HANGUL_L + index / (HANGUL_VS * HANGUL_TS);
        to[n++] = HANGUL_V + index / HANGUL_TS % HANGUL_VS;
        if (index % HANGUL_TS)
            to[n++] = HANGUL_T + index % HANGUL_TS;
    } else {
        to[n++] = point;
    }
    return n;
}

/* Decomposed, as UTF-8 or, where it is not, as Latin 1.  Returns how many points there are. */
static uint32_t points_of(struct bytes name, uint32_t points[POINTS_MAX])
{
    uint32_t n = 0, at = 0, point;
    bool utf8 = true;

    while (utf8 && at < name.len)
        utf8 = next_point(name, &at, &point);
    for (at = 0; at < name.len && n + 3 <= POINTS_MAX;) {
        if (!utf8 || !next_point(name, &at, &point))
            point = name.data[at++];
        n += decompose(point, points + n);
    }
    return n;
}

const char *alike_difference(struct bytes a, struct bytes b)
{
    uint32_t x[POINTS_MAX], y[POINTS_MAX], n, m;

    if (a.len > COMPARE_TEXT_MAX || b.len > COMPARE_TEXT_MAX)
        return NULL;
    if (a.len == b.len && strncasecmp((const char *)a.data, (const char *)b.data, a.len) == 0)
        return "case";
    n = points_of(a, x);
    m = points_of(b, y);
    return n && n == m && memcmp(x, y, n * sizeof(*x)) == 0 ? "encoding" : NULL;
}
