# SPDX-License-Identifier: GPL-2.0-or-later
#
# nfsdigest_embed(SOURCE FILE...): the C file SOURCE embeds FILEs (engine/base/embed.h), which may
# be patterns.  SOURCE is compiled again when one of them changes.
function(nfsdigest_embed SOURCE)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/)
  file(GLOB FILES CONFIGURE_DEPENDS ${ARGN})
  set(LINES "")
  foreach(FILE ${FILES})
    get_filename_component(STEM ${FILE} NAME_WE)
    get_filename_component(NAME ${FILE} NAME)
    string(MAKE_C_IDENTIFIER "file_${NAME}" SYMBOL)
    string(APPEND LINES "EMBEDDED(${SYMBOL}, \"${STEM}\", \"${NAME}\", \"${FILE}\")\n")
  endforeach()
  string(MAKE_C_IDENTIFIER ${SOURCE} LIST)
  set(LIST ${CMAKE_BINARY_DIR}/embed/${LIST}.h)
  file(CONFIGURE OUTPUT ${LIST} CONTENT "${LINES}" @ONLY)
  set_source_files_properties(${SOURCE} PROPERTIES
      COMPILE_DEFINITIONS "EMBED_ROOT=\"${CMAKE_SOURCE_DIR}\";EMBED_LIST=\"${LIST}\""
      OBJECT_DEPENDS "${FILES};${LIST}")
endfunction()

nfsdigest_embed(engine/anon/policy_builtin.c schemas/policies/*.conf)
nfsdigest_embed(postproc/store/schema.c schemas/trace.sql)
nfsdigest_embed(postproc/columns/library.c schemas/trace.sql)
nfsdigest_embed(postproc/plan/tree_store.c schemas/digest.sql)
nfsdigest_embed(postproc/plan/plan_store.c schemas/plan.sql)
nfsdigest_embed(postproc/compare/result.c schemas/compare.sql)
nfsdigest_embed(model/rules/rules_builtin.c schemas/rules/*.conf)
nfsdigest_embed(model/lint/lint_rules.c schemas/lint.conf)
nfsdigest_embed(show/page.c show/page.css)
nfsdigest_embed(live/tee/shadow_page.c live/tee/shadow_page.js)
nfsdigest_embed(postproc/report/html_assets.c postproc/report/*.css postproc/report/*.js)
# the audit has the policies by itself: it does not ask the anonymizer for them
nfsdigest_embed(postproc/audit/rules_text.c schemas/policies/*.conf)
nfsdigest_embed(postproc/audit/allow.c schemas/audit-allow.conf)
# of the schemas those that packages have
nfsdigest_embed(postproc/package/schemas.c schemas/trace.sql schemas/digest.sql
                schemas/audit.schema.json schemas/nfsr.* schemas/rdump.*)
