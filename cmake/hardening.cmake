# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the compiler and the linker can do against memory errors that escaped us: our input is hostile.
# It costs 1.6 % of CPU time in "nfsdigest record".  Not in sanitized builds, which find more and do
# not mix with _FORTIFY_SOURCE, which in turn needs optimization.
# tests/pipeline/hardening.sh looks for all of it in what was built.
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

if(NOT NFSDIGEST_SANITIZE AND NOT NFSDIGEST_SANITIZE_THREADS AND NOT NFSDIGEST_FUZZ)
  add_compile_options(-fstack-protector-strong)
  # distributions' compilers may define another level themselves
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
                      $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  set(CMAKE_REQUIRED_FLAGS -Werror) # clang takes those of other processors, with a warning
  foreach(FLAG -fcf-protection=full -mbranch-protection=standard) # x86-64, ARM
    string(MAKE_C_IDENTIFIER "HAVE${FLAG}" HAVE)
    check_c_compiler_flag(${FLAG} ${HAVE})
    if(${HAVE})
      add_compile_options(${FLAG})
    endif()
  endforeach()
  unset(CMAKE_REQUIRED_FLAGS)
  add_link_options(LINKER:-z,relro,-z,now)
endif()
