# hide_names(TARGET PATTERN): of a static library, programs see the names of this pattern alone. Its objects become
# one, whose other names are local, because a static library has no list of exports.
include(CMakeFindBinUtils)
if(NOT CMAKE_OBJCOPY)
  find_program(CMAKE_OBJCOPY NAMES objcopy llvm-objcopy)
endif()

function(hide_names target pattern)
  if(NOT CMAKE_OBJCOPY)
    message(WARNING "No objcopy found: all names of ${target} are visible to programs; on Debian: apt-get install binutils")
    return()
  endif()
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}${CMAKE_C_OUTPUT_EXTENSION})
  set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  add_custom_command(
    TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${object} -Wl,--whole-archive $<TARGET_FILE:${target}>
            -Wl,--no-whole-archive
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=${pattern} ${object}
    COMMAND ${CMAKE_COMMAND} -E remove $<TARGET_FILE:${target}>
    COMMAND ${CMAKE_AR} qc $<TARGET_FILE:${target}> ${object}
    COMMAND ${CMAKE_RANLIB} $<TARGET_FILE:${target}>
    COMMAND ${CMAKE_COMMAND} -E remove ${object}
    COMMENT "Hiding the inner names of ${target}"
    VERBATIM)
endfunction()
