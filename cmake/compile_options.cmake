# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# memreplay_options: language level, warnings, sanitizers. memreplay_include: where our headers are.

add_library(memreplay_options INTERFACE)
target_compile_features(memreplay_options INTERFACE cxx_std_20)
target_compile_options(memreplay_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor>)
# GCC 12 sees overlapping copies in std::string's operator+ that are not there (its bug 105329).
target_compile_options(memreplay_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>>)
if(MEMREPLAY_DEVELOPER_MODE)
  target_compile_options(memreplay_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(MEMREPLAY_SANITIZE)
  # Thrust binds null references on purpose, so -fsanitize=null would drown everything else.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${MEMREPLAY_SANITIZE};-fno-sanitize=null;-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
  add_link_options(-fsanitize=${MEMREPLAY_SANITIZE})
endif()

add_library(memreplay_include INTERFACE)
target_include_directories(memreplay_include INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
