/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/digest.h
 *
 * XXH3, compiled into its users: most keys here are shorter than a call costs.
 */
#ifndef NFSDIGEST_BASE_DIGEST_H
#define NFSDIGEST_BASE_DIGEST_H

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#endif
