/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/grow.h
 *
 * Arrays that grow.  An array is a pointer from malloc, or NULL, and an unsigned number of elements
 * for which there is room:
 *
 *     if (GROW(s->marks, s->mark_count, s->mark_cap) < 0)
 *         return err_memory(err, "marks");
 *     s->marks[s->mark_count++] = mark;
 *
 * New elements are not initialized, except by GROW_ZERO.  If there is no memory, or the number does
 * not fit into its type, the result is -ERR_SYSTEM and the array stays unchanged.
 *
 * Memory: up to twice what is needed; above GROW_DOUBLES bytes, up to one and a half times.
 */
#ifndef NFSDIGEST_BASE_GROW_H
#define NFSDIGEST_BASE_GROW_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { GROW_DOUBLES = 1 << 20 };

/* Makes room for array[count]. */
#define GROW(array, count, cap) GROW_TO((array), (uint64_t)(count) + 1, (cap))

/* Makes room for |need| elements. */
#define GROW_TO(array, need, cap) GROW_BY(grow_array, (array), (need), (cap))

/* Makes room for |need| elements, and sets those from the old |cap| on to zero. */
#define GROW_ZERO(array, need, cap) GROW_BY(grow_zeroed, (array), (need), (cap))

#define GROW_BY(how, array, need, cap)                                                             \
    __extension__({                                                                                \
        uint64_t grow_need_ = (need), grow_cap_ = (cap);                                           \
        int grow_failed_ = 0;                                                                      \
                                                                                                   \
        _Static_assert((__typeof__(cap))-1 > 0, "the capacity is unsigned");                       \
        if (grow_need_ > grow_cap_) {                                                              \
            void *grow_new_ =                                                                      \
                how((array), sizeof(*(array)), grow_need_, &grow_cap_, (__typeof__(cap))-1);       \
            if (grow_new_) {                                                                       \
                (array) = grow_new_;                                                               \
                (cap) = (__typeof__(cap))grow_cap_;                                                \
            } else {                                                                               \
                grow_failed_ = -ERR_SYSTEM;                                                        \
            }                                                                                      \
        }                                                                                          \
        grow_failed_;                                                                              \
    })

/* For the macros.  Return |array| with room for at least |need| elements of |size| bytes, and set
 * |cap| to the number of elements there is room for, at most |most|.  Return NULL on failure; then
 * |array| and |cap| are unchanged. */
void *grow_array(void *array, size_t size, uint64_t need, uint64_t *cap, uint64_t most);
void *grow_zeroed(void *array, size_t size, uint64_t need, uint64_t *cap, uint64_t most);

#endif
