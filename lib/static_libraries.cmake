# Static libraries in place of shared ones: to relocate libstdc++ and what uses it takes 0.6 ms of each start. All or
# none of those in C++, so that the program has one libstdc++.
include(CheckCXXSourceCompiles)

# Sets `output` to the archives of the named libraries; unset where one of them is missing.
function(ovir_archives output)
  foreach(name IN LISTS ARGN)
    find_library(OVIR_ARCHIVE_${name} lib${name}.a)
    mark_as_advanced(OVIR_ARCHIVE_${name})
    if(NOT OVIR_ARCHIVE_${name})
      return()
    endif()
    list(APPEND archives ${OVIR_ARCHIVE_${name}})
  endforeach()
  set(${output} ${archives} PARENT_SCOPE)
endfunction()
ovir_archives(pugixml pugixml)
ovir_archives(re2 ${re2_STATIC_LIBRARIES})
ovir_archives(turbojpeg turbojpeg)
if(NOT pugixml OR NOT re2 OR NOT turbojpeg)
  return()
endif()

# What they need themselves may be missing, too.
set(CMAKE_REQUIRED_LIBRARIES -static-libstdc++ ${pugixml} ${re2} ${turbojpeg} Threads::Threads)
check_cxx_source_compiles([[
#include <pugixml.hpp>
#include <re2/re2.h>
#include <turbojpeg.h>
int main(int, char** argv) {
  return pugi::xml_document().load_string(*argv) && RE2::FullMatch(*argv, "a|b") && tjInitDecompress();
}]] OVIR_STATIC_LIBRARIES)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT OVIR_STATIC_LIBRARIES)
  return()
endif()

# Debian has no archive of fmt: one is made from its headers.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/fmt.cpp CONTENT "#include <fmt/format.h>\n")
add_library(ovir_fmt_archive STATIC ${PROJECT_BINARY_DIR}/fmt.cpp)
target_link_libraries(ovir_fmt_archive PRIVATE fmt::fmt-header-only)
target_compile_options(ovir_fmt_archive PRIVATE -fkeep-inline-functions -ffunction-sections)
add_library(ovir_fmt INTERFACE)
target_include_directories(ovir_fmt SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(ovir_fmt INTERFACE ovir_fmt_archive)

set(OVIR_FMT ovir_fmt)
set(OVIR_PUGIXML ${pugixml})
set(OVIR_RE2 ${re2} Threads::Threads)
set(OVIR_TURBOJPEG ${turbojpeg})
set(OVIR_STATIC_OPTIONS -static-libstdc++ LINKER:--gc-sections)
