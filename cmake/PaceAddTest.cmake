# pace_add_test(NAME name SOURCES file... [LIBRARIES target...] [ARGS option...] [SIZE small|medium|large|enormous]
#               [TIMEOUT seconds] [LABELS label...] [ENVIRONMENT NAME=VALUE...] [COMPILE_OPTIONS option...])
#
# A Catch2 test that may time, as pace_test is for Bazel (pace.bzl). It makes the target `name`, compiled by the same
# options, with pace's main function. Its test of CTest runs alone (RUN_SERIAL) and has the time limit of its size. The
# results go to name.outputs in the build folder.
include_guard(GLOBAL)
cmake_policy(VERSION 3.22)

# pace_unoptimised OPTIONS RESULT: whether a compiler optimises nothing by these.
function(pace_unoptimised options result)
  string(REGEX MATCHALL "(^|[ ;])-O[^ ;]*" levels "${options}")
  set(${result} TRUE PARENT_SCOPE)
  if(levels)
    list(GET levels -1 last)
    if(NOT last MATCHES "-O[0g]$")
      set(${result} FALSE PARENT_SCOPE)
    endif()
  endif()
endfunction()

# pace_require_optimised NAME OPTIONS TARGET...: code under test belongs to the measurement. CMake compiles a library by
# the options of its folder, so that one which would be timed at -O0 is refused.
function(pace_require_optimised name options)
  set(seen)
  set(waiting ${ARGN})
  while(waiting)
    list(POP_FRONT waiting library)
    if(NOT TARGET "${library}" OR library IN_LIST seen)
      continue()
    endif()
    list(APPEND seen "${library}")
    get_target_property(imported "${library}" IMPORTED)
    get_target_property(type "${library}" TYPE)
    # pace's own libraries have an option of their own; a user's may be called pace_ and something else.
    if(imported OR library MATCHES "^pace(_|::)(headers|pace|main|training|kernels)$")
      continue()
    endif()
    foreach(property IN ITEMS LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(linked "${library}" ${property})
      if(linked)
        list(APPEND waiting ${linked})
      endif()
    endforeach()
    if(type STREQUAL "INTERFACE_LIBRARY")
      continue()
    endif()
    get_target_property(own "${library}" COMPILE_OPTIONS)
    pace_unoptimised("${options};${own}" unoptimised)
    if(unoptimised)
      message(FATAL_ERROR
        "pace_add_test(NAME ${name}): the library ${library} would be timed without optimisation, since CMAKE_BUILD_TYPE "
        "is '${CMAKE_BUILD_TYPE}'. Configure with -DCMAKE_BUILD_TYPE=Release, or give ${library} its own -O option.")
    endif()
  endwhile()
endfunction()

function(pace_add_test)
  set(one NAME SIZE TIMEOUT)
  set(several SOURCES LIBRARIES ARGS LABELS ENVIRONMENT COMPILE_OPTIONS)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "${one}" "${several};FLAKY;SHARD_COUNT")
  set(where "pace_add_test(NAME ${given_NAME})")
  if(DEFINED given_FLAKY OR "FLAKY" IN_LIST given_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${where}: `FLAKY` is refused: a gate that is measured again until it passes has lost its error "
                        "rates. pace keeps sampling instead; give the test more time (TIMEOUT, ARGS --budget=...) or a "
                        "wider margin")
  endif()
  if(DEFINED given_SHARD_COUNT OR "SHARD_COUNT" IN_LIST given_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${where}: `SHARD_COUNT` is refused: CTest has no shards. Call pace_add_test once for each part, "
                        "with ARGS that name its test cases")
  endif()
  if(given_UNPARSED_ARGUMENTS)
    string(REPLACE ";" ", " expected "${one};${several}")
    message(FATAL_ERROR "${where}: unknown argument '${given_UNPARSED_ARGUMENTS}'; expected ${expected}")
  endif()
  if(given_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${where}: ${given_KEYWORDS_MISSING_VALUES} has no value")
  endif()
  foreach(needed IN ITEMS NAME SOURCES)
    if(NOT given_${needed})
      message(FATAL_ERROR "${where}: ${needed} is missing; expected pace_add_test(NAME name SOURCES file...)")
    endif()
  endforeach()

  # Bazel's sizes, in seconds.
  set(small 60)
  set(medium 300)
  set(large 900)
  set(enormous 3600)
  if(NOT DEFINED given_SIZE)
    set(given_SIZE medium)
  elseif(NOT given_SIZE MATCHES "^(small|medium|large|enormous)$")
    message(FATAL_ERROR "${where}: SIZE is '${given_SIZE}'; expected small, medium, large or enormous")
  endif()
  if(NOT DEFINED given_TIMEOUT)
    set(given_TIMEOUT ${${given_SIZE}})
  elseif(NOT given_TIMEOUT MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "${where}: TIMEOUT is '${given_TIMEOUT}'; expected a whole number of seconds above 0")
  endif()

  # As third_party/copts.bzl and pace.bzl have them. They come after the options of CMAKE_BUILD_TYPE, so that these
  # hold.
  set(timed -O3 -falign-functions=64 -falign-loops=64)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(PREPEND timed --param=ggc-min-heapsize=1048576)
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" mode)
  set(of_project "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${mode}}")
  get_property(several_modes GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  set(only)
  if(several_modes)
    # The others have no gates.
    set(only CONFIGURATIONS Release RelWithDebInfo MinSizeRel)
    set(of_project "${CMAKE_CXX_FLAGS}")
  else()
    get_directory_property(of_folder COMPILE_OPTIONS)
    pace_require_optimised("${given_NAME}" "${of_project};${of_folder}" ${given_LIBRARIES})
  endif()

  string(JOIN " " flags ${of_project} -std=c++20 -DNDEBUG ${timed} ${given_COMPILE_OPTIONS})
  string(STRIP "${flags}" flags)
  # A variable would not be seen where a folder that was added has found LibTorch.
  get_target_property(python LibTorch::LibTorch PACE_PYTHON)
  foreach(text IN ITEMS flags python)
    string(REPLACE "\\" "\\\\" ${text}_literal "${${text}}")
    string(REPLACE "\"" "\\\"" ${text}_literal "${${text}_literal}")
  endforeach()
  set(build "${CMAKE_CURRENT_BINARY_DIR}/${given_NAME}_build.cc")
  file(CONFIGURE OUTPUT "${build}" @ONLY CONTENT [=[
// Written by the build.
#include "pace/base/build_info.hpp"

namespace {

const bool filled_in = [] {
  pace::build_info() = {"@flags_literal@", "@python_literal@"};
  return true;
}();

}  // namespace
]=])

  add_executable(${given_NAME} ${given_SOURCES} "${build}")
  target_link_libraries(${given_NAME} PRIVATE ${given_LIBRARIES} pace::main)
  target_compile_definitions(${given_NAME} PRIVATE NDEBUG)
  target_compile_options(${given_NAME} PRIVATE ${timed} ${given_COMPILE_OPTIONS})
  set_target_properties(${given_NAME} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)

  set(outputs "${CMAKE_CURRENT_BINARY_DIR}/${given_NAME}.outputs")
  add_test(NAME ${given_NAME} ${only}
           COMMAND sh "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/run_gate.sh" "${outputs}" $<TARGET_FILE:${given_NAME}> ${given_ARGS})
  set_tests_properties(${given_NAME} PROPERTIES
    RUN_SERIAL ON
    TIMEOUT ${given_TIMEOUT}
    LABELS "pace;${given_LABELS}"
    ENVIRONMENT "TEST_TIMEOUT=${given_TIMEOUT};PACE_CHECKOUT=${CMAKE_SOURCE_DIR};${given_ENVIRONMENT}")
endfunction()
