# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# The page of `memreplay timeline`: TypeScript and npm packages, bundled into one HTML file and
# embedded in the program. A machine without npm, or that cannot fetch the packages, builds the
# program without it. Sets MEMREPLAY_PAGE (the file, or empty) and MEMREPLAY_PAGE_CPP.
set(page_source ${PROJECT_SOURCE_DIR}/src/writers/html)
set(page_build ${PROJECT_BINARY_DIR}/page)
set(MEMREPLAY_PAGE "")
set(MEMREPLAY_PAGE_CPP ${PROJECT_SOURCE_DIR}/src/writers/no_page_template.cpp)

find_program(MEMREPLAY_NODE node)
find_program(MEMREPLAY_NPM npm)
find_package(Python3 COMPONENTS Interpreter)
mark_as_advanced(MEMREPLAY_NODE MEMREPLAY_NPM)

# memreplay_install_page_packages(REASON): empty when they are there, else why not.
function(memreplay_install_page_packages reason)
  set(${reason} "" PARENT_SCOPE)
  if(NOT MEMREPLAY_NODE OR NOT MEMREPLAY_NPM)
    set(${reason} "node and npm were not found" PARENT_SCOPE)
    return()
  endif()
  if(NOT Python3_Interpreter_FOUND)
    set(${reason} "Python was not found" PARENT_SCOPE)
    return()
  endif()
  # The tests need a browser's driver, the program does not.
  if(MEMREPLAY_DEVELOPER_MODE)
    set(groups --include=dev)
  else()
    set(groups --omit=dev)
  endif()
  file(SHA256 ${page_source}/package-lock.json lock)
  set(wanted "${lock} ${groups}")
  set(stamp ${page_build}/packages.stamp)
  set(found "")
  if(EXISTS ${stamp})
    file(READ ${stamp} found)
  endif()
  if("${found}" STREQUAL "${wanted}")
    return()
  endif()
  message(STATUS "Fetching the npm packages of the page")
  file(COPY ${page_source}/package.json ${page_source}/package-lock.json ${page_source}/.npmrc
    DESTINATION ${page_build})
  execute_process(COMMAND ${MEMREPLAY_NPM} ci ${groups} --ignore-scripts --no-progress --loglevel=error
    WORKING_DIRECTORY ${page_build} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE message TIMEOUT 300)
  if(status EQUAL 0)
    file(WRITE ${stamp} "${wanted}")
  else()
    string(REGEX MATCH "^[^\n]*" message "${message}")
    set(${reason} "npm could not fetch its packages: ${message}" PARENT_SCOPE)
  endif()
endfunction()

memreplay_install_page_packages(page_missing)
if(page_missing)
  message(STATUS "Page of `memreplay timeline`: no (${page_missing})")
else()
  message(STATUS "Page of `memreplay timeline`: yes")
  set(MEMREPLAY_PAGE ${page_build}/page.html)
  set(MEMREPLAY_PAGE_CPP ${page_build}/page_template.cpp)
  set(page_files
    build.mjs package.json tsconfig.json src/area_view.ts src/axis.ts src/bytes.ts src/curve_view.ts
    src/d3-flame-graph.d.ts src/data.ts src/dom.ts src/facts_panel.ts src/flame_view.ts src/keyboard.ts
    src/lifetime_view.ts src/live_set.ts src/main.ts src/marks.ts src/outline.ts src/page.html
    src/palette.ts src/pyramid.ts src/raster.ts src/scene.ts src/segment_view.ts src/site_table.ts
    src/stack_panel.ts src/state.ts src/style.css src/time_plot.ts src/toolbar.ts src/tooltip.ts)
  set(page_inputs ${page_files})
  list(TRANSFORM page_inputs PREPEND ${page_source}/)
  # Beside the packages, where Node looks for them.
  set(page_copies ${page_files})
  list(TRANSFORM page_copies REPLACE "(.+)"
    "COMMAND;${CMAKE_COMMAND};-E;copy;${page_source}/\\1;${page_build}/\\1")
  file(MAKE_DIRECTORY ${page_build}/src)
  set(page_check "")
  if(MEMREPLAY_DEVELOPER_MODE)
    set(page_check COMMAND ${MEMREPLAY_NODE} ${page_build}/node_modules/typescript/bin/tsc --noEmit)
  endif()
  add_custom_command(OUTPUT ${MEMREPLAY_PAGE}
    ${page_copies} ${page_check}
    COMMAND ${MEMREPLAY_NODE} ${page_build}/build.mjs ${MEMREPLAY_PAGE}
    DEPENDS ${page_inputs} ${page_source}/package-lock.json
    WORKING_DIRECTORY ${page_build} COMMENT "Bundling the page of memreplay timeline" VERBATIM)
  add_custom_command(OUTPUT ${MEMREPLAY_PAGE_CPP}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/embed_page.py
            ${MEMREPLAY_PAGE} ${MEMREPLAY_PAGE_CPP}
    DEPENDS ${MEMREPLAY_PAGE} ${PROJECT_SOURCE_DIR}/tools/embed_page.py VERBATIM)
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_source}/package-lock.json)
