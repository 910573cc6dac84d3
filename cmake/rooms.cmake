# SPDX-License-Identifier: GPL-2.0-or-later
#
# One static library for each room of cmake/rooms.txt: room_FLOOR_NAME.  A room that none of the
# targets below names is not built.
#
#     engine    frames to records
#     anon      and what makes messages anew (GLib, libgcrypt)
#     model     what operations mean
#     show      pages and plots
#     live      programs that talk to servers and clients
#     postproc  what needs a database or a capture library, and the program without its main

set(ROOM_LIBRARY_xxhash PkgConfig::XXHASH)
set(ROOM_LIBRARY_threads Threads::Threads)
set(ROOM_LIBRARY_glib PkgConfig::GLIB)
set(ROOM_LIBRARY_gcrypt PkgConfig::GCRYPT)
set(ROOM_LIBRARY_m m)
set(ROOM_LIBRARY_sockets) # of the C library
set(ROOM_LIBRARY_microhttpd PkgConfig::MICROHTTPD)
set(ROOM_LIBRARY_sqlite PkgConfig::SQLITE)
set(ROOM_LIBRARY_pcap PkgConfig::LIBPCAP)
set(ROOM_LIBRARY_zstd PkgConfig::ZSTD)
set(ROOM_LIBRARY_sodium PkgConfig::SODIUM)
set(ROOM_LIBRARY_zlib PkgConfig::ZLIB)
set(ROOM_LIBRARY_archive PkgConfig::LIBARCHIVE)
set(ROOM_LIBRARY_mpi PkgConfig::MPI)

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/rooms.txt)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/rooms.txt ROOMS REGEX "^[^#]")
foreach(LINE ${ROOMS})
  string(REGEX MATCH "^([^:]+):([^|]*)[|]?(.*)$" LINE "${LINE}")
  set(ROOM ${CMAKE_MATCH_1})
  separate_arguments(BELOW UNIX_COMMAND "${CMAKE_MATCH_2}")
  separate_arguments(LIBRARIES UNIX_COMMAND "${CMAKE_MATCH_3}")
  string(REGEX REPLACE "/.*" "" FLOOR ${ROOM})
  if(FLOOR STREQUAL plugins OR (ROOM STREQUAL live/mpi AND NOT MPI_FOUND))
    continue()
  endif()
  string(REPLACE "/" "_" TARGET room_${ROOM})
  file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${ROOM}/*.c)
  list(FILTER SOURCES EXCLUDE REGEX "/main\\.c$") # the program's
  add_library(${TARGET} STATIC ${SOURCES})
  set(INCLUDES ${CMAKE_SOURCE_DIR}/${FLOOR})
  if(ROOM STREQUAL FLOOR AND NOT EXISTS ${INCLUDES}/${FLOOR}.h)
    set(INCLUDES ${CMAKE_SOURCE_DIR}) # a floor that is one room: "show/page.h"
  endif()
  target_include_directories(${TARGET} PUBLIC ${INCLUDES})
  if(ROOM IN_LIST WHOLE_ROOMS)
    target_compile_options(${TARGET} PRIVATE ${WHOLE_COMPILE})
  endif()
  foreach(NAME ${BELOW})
    string(REPLACE "/" "_" NAME room_${NAME})
    target_link_libraries(${TARGET} PUBLIC ${NAME})
  endforeach()
  foreach(NAME ${LIBRARIES})
    target_link_libraries(${TARGET} PUBLIC ${ROOM_LIBRARY_${NAME}})
  endforeach()
  if(NOT ROOM STREQUAL live/mpi) # a program that needs mpirun
    list(APPEND ROOMS_OF_${FLOOR} ${TARGET})
  endif()
endforeach()

add_library(engine INTERFACE)
target_link_libraries(engine INTERFACE room_engine)
add_library(anon INTERFACE)
target_link_libraries(anon INTERFACE room_engine_anon)
add_library(model INTERFACE)
target_link_libraries(model INTERFACE ${ROOMS_OF_model})
add_library(show INTERFACE)
target_link_libraries(show INTERFACE room_show)
add_library(live INTERFACE)
target_link_libraries(live INTERFACE ${ROOMS_OF_live})
add_library(postproc INTERFACE)
target_link_libraries(postproc INTERFACE ${ROOMS_OF_postproc})
