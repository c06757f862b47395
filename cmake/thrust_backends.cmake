# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# Finds a CUDA compiler (or does without) and the Thrust headers, and knows how to build one kernel library
# per back end from the same sources. Include it at the top level: it may enable the language CUDA.
#
# Sets MEMREPLAY_HAS_CUDA and MEMREPLAY_THRUST_INCLUDE_DIR; defines memreplay_add_kernels().

set(MEMREPLAY_CUDA_MODE "AUTO" CACHE STRING "Build the CUDA back end: AUTO (when nvcc is found), ON or OFF")
set_property(CACHE MEMREPLAY_CUDA_MODE PROPERTY STRINGS AUTO ON OFF)
set(MEMREPLAY_CUDA_ARCHITECTURES "80-real;90-real;120" CACHE STRING
    "Architectures of the CUDA back end, as CMake's CUDA_ARCHITECTURES")
if(NOT MEMREPLAY_CUDA_MODE MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "MEMREPLAY_CUDA_MODE is AUTO, ON or OFF, not '${MEMREPLAY_CUDA_MODE}'")
endif()

# ---- a CUDA compiler
set(MEMREPLAY_HAS_CUDA OFF)
if(NOT MEMREPLAY_CUDA_MODE STREQUAL "OFF")
  include(CheckLanguage)
  # CMake looks on PATH and in $CUDACXX only.
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(MEMREPLAY_NVCC nvcc HINTS ${CUDAToolkit_ROOT}/bin ENV CUDA_PATH PATHS /usr/local/cuda/bin)
    mark_as_advanced(MEMREPLAY_NVCC)
    if(MEMREPLAY_NVCC)
      set(ENV{CUDACXX} ${MEMREPLAY_NVCC})
    endif()
  endif()
  # The default list of older CMakes names architectures that newer compilers refuse.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${MEMREPLAY_CUDA_ARCHITECTURES})
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # CMake 3.25 does not know that nvcc >= 12 speaks C++20.
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    find_package(CUDAToolkit REQUIRED)
    set(MEMREPLAY_HAS_CUDA ON)
  elseif(MEMREPLAY_CUDA_MODE STREQUAL "ON")
    message(FATAL_ERROR "MEMREPLAY_CUDA_MODE=ON, but no CUDA compiler was found")
  endif()
endif()

# ---- the Thrust headers of the host back ends: the toolkit's, else the system's (Debian: libthrust-dev)
find_path(MEMREPLAY_THRUST_INCLUDE_DIR thrust/version.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} /usr/local/cuda/include
  PATH_SUFFIXES cccl
  DOC "Directory that holds thrust/version.h")
if(NOT MEMREPLAY_THRUST_INCLUDE_DIR)
  message(FATAL_ERROR
    "Thrust's headers were not found: install libthrust-dev or a CUDA toolkit, or set MEMREPLAY_THRUST_INCLUDE_DIR")
endif()
file(STRINGS ${MEMREPLAY_THRUST_INCLUDE_DIR}/thrust/version.h memreplay_thrust_version
  REGEX "^#define THRUST_VERSION +[0-9]+")
string(REGEX REPLACE "^#define THRUST_VERSION +([0-9]+).*" "\\1" memreplay_thrust_version
  "${memreplay_thrust_version}")
# Two versions of Thrust in one program would break the one-definition rule.
if(MEMREPLAY_HAS_CUDA)
  set(memreplay_thrust_is_toolkits OFF)
  foreach(directory IN LISTS CUDAToolkit_INCLUDE_DIRS)
    if(MEMREPLAY_THRUST_INCLUDE_DIR STREQUAL directory OR MEMREPLAY_THRUST_INCLUDE_DIR STREQUAL "${directory}/cccl")
      set(memreplay_thrust_is_toolkits ON)
    endif()
  endforeach()
  if(NOT memreplay_thrust_is_toolkits)
    file(REAL_PATH "${MEMREPLAY_THRUST_INCLUDE_DIR}" memreplay_thrust_real)
    foreach(directory IN LISTS CUDAToolkit_INCLUDE_DIRS)
      file(REAL_PATH "${directory}" directory_real)
      if(memreplay_thrust_real STREQUAL directory_real OR memreplay_thrust_real STREQUAL "${directory_real}/cccl")
        set(memreplay_thrust_is_toolkits ON)
      endif()
    endforeach()
  endif()
  if(NOT memreplay_thrust_is_toolkits)
    message(FATAL_ERROR
      "A build with CUDA takes Thrust from the toolkit (${CUDAToolkit_INCLUDE_DIRS}), "
      "not from ${MEMREPLAY_THRUST_INCLUDE_DIR}")
  endif()
endif()
message(STATUS "CUDA back end: ${MEMREPLAY_HAS_CUDA}")
message(STATUS "Thrust: ${memreplay_thrust_version} in ${MEMREPLAY_THRUST_INCLUDE_DIR}")

find_package(TBB REQUIRED)

set(MEMREPLAY_WRAP_CU ${CMAKE_CURRENT_LIST_DIR}/wrap_cu.cpp.in)

# memreplay_add_kernels(TARGET BACKEND SYSTEM sources...)
# One kernel library: BACKEND names the namespace (host, serial, cuda), SYSTEM is Thrust's device system
# (TBB, CPP, CUDA). Host systems compile generated .cpp files that include the .cu sources. Everything of
# Thrust stays PRIVATE: a THRUST_DEVICE_SYSTEM that leaked would change its users' meaning of thrust::device.
function(memreplay_add_kernels target backend system)
  set(sources ${ARGN})
  if(system STREQUAL "CUDA")
    add_library(${target} STATIC ${sources})
    set_target_properties(${target} PROPERTIES
      CUDA_ARCHITECTURES "${MEMREPLAY_CUDA_ARCHITECTURES}"
      CUDA_RUNTIME_LIBRARY Static
      CUDA_SEPARABLE_COMPILATION OFF
      CUDA_STANDARD 20
      CUDA_STANDARD_REQUIRED ON
      CUDA_EXTENSIONS OFF)
    # -Wno-psabi etc. are not needed: the host pass gets the two warning groups that Thrust survives.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings -Xcompiler=-Wall,-Wextra>)
    target_link_libraries(${target} PRIVATE memreplay_include PUBLIC CUDA::cudart_static)
  else()
    set(wrapped "")
    foreach(source IN LISTS sources)
      get_filename_component(name ${source} NAME)
      get_filename_component(wrapped_path ${source} ABSOLUTE)
      configure_file(${MEMREPLAY_WRAP_CU} ${CMAKE_CURRENT_BINARY_DIR}/${backend}/${name}.cpp @ONLY)
      list(APPEND wrapped ${CMAKE_CURRENT_BINARY_DIR}/${backend}/${name}.cpp)
    endforeach()
    add_library(${target} STATIC ${wrapped})
    target_include_directories(${target} SYSTEM PRIVATE ${MEMREPLAY_THRUST_INCLUDE_DIR})
    target_compile_definitions(${target} PRIVATE THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_${system})
    target_link_libraries(${target} PRIVATE memreplay_options memreplay_include)
    if(system STREQUAL "TBB")
      target_link_libraries(${target} PRIVATE TBB::tbb)
    endif()
  endif()
  target_compile_definitions(${target} PRIVATE
    MEMREPLAY_BACKEND=${backend}
    THRUST_CUB_WRAPPED_NAMESPACE=memreplay_${backend}_thrust)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
