# SPDX-License-Identifier: GPL-2.0-or-later
#
# nfsreplay is optimized as a whole, because the processor time that it takes is the server's loss.  The
# rooms where it spends its time are compiled into machine code, which all programs link, and also into
# the form that gcc optimizes while it links nfsreplay: 6 % fewer instructions an operation.  Linking it
# takes 5 s more, so it is not on where people change and build all the time: only in the preset "release"
# and in the Debian packages.
option(NFSDIGEST_WHOLE "Optimize nfsreplay as a whole (gcc, optimized builds)" OFF)
set(WHOLE_ROOMS)
# Two counters that stand side by side are not a vector: loading and joining them takes more instructions
# than counting twice.
set(WHOLE_COMPILE -flto -ffat-lto-objects -fno-tree-slp-vectorize)
set(WHOLE_LINK -flto=auto)

if(NFSDIGEST_WHOLE AND CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT CMAKE_BUILD_TYPE STREQUAL Debug AND
   NOT NFSDIGEST_SANITIZE AND NOT NFSDIGEST_SANITIZE_THREADS AND NOT NFSDIGEST_FUZZ)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT WHOLE_WORKS LANGUAGES C)
  if(WHOLE_WORKS)
    set(WHOLE_ROOMS engine/base engine/record engine/wire live/fill live/net live/player model/effect
                    model/rdump)
    # all other programs: gcc takes what it can optimize if it is there, asked for or not
    add_link_options($<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:NAME>,nfsreplay>>:-fno-lto>)
  endif()
endif()
