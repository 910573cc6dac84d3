/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/compat.h
 *
 * Differences between Wireshark 4.0, 4.2, 4.4 and 4.6, as far as they concern the plugins.  No
 * other file of the plugins checks Wireshark's version.
 */
#ifndef NFSDIGEST_PLUGINS_COMPAT_H
#define NFSDIGEST_PLUGINS_COMPAT_H

#include <wireshark.h>

#define COMPAT_WIRESHARK (WIRESHARK_VERSION_MAJOR * 100 + WIRESHARK_VERSION_MINOR)

#if COMPAT_WIRESHARK < 400
#error "Wireshark is needed in version 4.0 or later"
#endif

/* The variable of a boolean preference: bool since 4.4. */
#if COMPAT_WIRESHARK >= 404
typedef bool compat_preference;
#else
typedef gboolean compat_preference;
#endif

/* Since 4.6 the start of a -z statistic can return that it failed. */
#if COMPAT_WIRESHARK >= 406
typedef bool compat_stat_result;
#define COMPAT_STAT_RETURN(ok) return (ok)
#else
typedef void compat_stat_result;
#define COMPAT_STAT_RETURN(ok) return
#endif

/* Since 4.4 Wireshark calls plugin_describe, which returns these bits. */
enum {
    COMPAT_IS_DISSECTOR = 1 << 0,
    COMPAT_IS_TAP_LISTENER = 1 << 4,
};

#endif
