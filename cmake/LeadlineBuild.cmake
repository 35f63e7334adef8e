# What every target shares: language, warnings, compiler cache, linker, and where programs go.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Line numbers are what a backtrace needs, and cost no measurable compile time; full debug information
# would. Both build types have the same flags, so that they share one compiler cache.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra> $<$<COMPILE_LANGUAGE:CXX>:-Werror>)

set(LEADLINE_SANITIZE "" CACHE STRING "sanitizers for every target: address,undefined or thread")
if(LEADLINE_SANITIZE)
  # Sanitized code makes GCC 12 see uninitialised values that are none.
  foreach(_flag -fsanitize=${LEADLINE_SANITIZE} -fno-omit-frame-pointer -Wno-maybe-uninitialized)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:${_flag}>)
  endforeach()
  if(LEADLINE_SANITIZE MATCHES "thread")
    # Asio's fences stand beside locks, which are what the sanitizer goes by.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
  endif()
  add_link_options(-fsanitize=${LEADLINE_SANITIZE})
endif()

# A fresh clone in another folder hits the cache only with these three settings,
# because a precompiled header otherwise carries its path and its time. The inode cache spares a hit
# from hashing that header's 700 MB again: 0.03 s of work instead of 0.8 s.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_INODECACHE=1 ${CCACHE_PROGRAM})
endif()

find_program(LLD_PROGRAM NAMES ld.lld lld)
if(LLD_PROGRAM)
  add_link_options(-fuse-ld=lld)
endif()

# The four programs lie in the build folder itself, the test programs in build/tests.
function(leadline_program target)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  set_property(GLOBAL APPEND PROPERTY leadline_programs ${target})
endfunction()

# leadline_library(NAME source...): one library a folder, seen as leadline::NAME.
function(leadline_library name)
  add_library(leadline_${name} STATIC ${ARGN})
  add_library(leadline::${name} ALIAS leadline_${name})
  target_include_directories(leadline_${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
endfunction()
