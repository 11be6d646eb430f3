# cmake --install: programs, headers, libraries, their .pc files and the CMake package pencilfft. All of it can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(installed pencilmap_reorder)
foreach(kind ${kinds})
  list(APPEND installed pencilfft_${kind})
endforeach()
if(TARGET pencilfft_fortran)
  list(APPEND installed pencilfft_fortran pencilmap_reorder_fortran)
  set_target_properties(pencilfft_fortran pencilmap_reorder_fortran PROPERTIES INSTALL_RPATH "$ORIGIN")
  # A .mod file is only for the compiler that wrote it; the source is installed for the others.
  foreach(module pencilfft pencilmap_reorder)
    get_target_property(source ${module}_fortran SOURCES)
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR}/fortran)
    install(FILES ${PROJECT_BINARY_DIR}/modules/${module}.mod ${source} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endforeach()
endif()
set_target_properties(${installed} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${abi})
set_property(TARGET pencilmap_reorder PROPERTY SOVERSION 0)
if(TARGET pencilmap_reorder_fortran)
  set_property(TARGET pencilmap_reorder_fortran PROPERTY SOVERSION 0)
endif()
install(TARGETS ${installed} EXPORT pencilfft
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(preloaded pencilmap_traffic pencilmap_place)
  if(TARGET ${preloaded})
    install(TARGETS ${preloaded} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
if(PENCILFFT_RUNNER)
  install(TARGETS fft_runner transpose_bench network_probe DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES include/pencilfft.h include/pencilfft_line.h include/pencilfft.hpp reorder/pm_reorder.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pencilfft)
install(EXPORT pencilfft NAMESPACE pencilfft:: FILE pencilfft-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/pencilfft-config.cmake.in ${PROJECT_BINARY_DIR}/pencilfft-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pencilfft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pencilfft-config.cmake ${PROJECT_BINARY_DIR}/pencilfft-config-version.cmake
  DESTINATION ${package_dir})

# ---- pkg-config: one file for each library --------------------------------------------------------------------------------
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
list(TRANSFORM without_mpi_cxx PREPEND -D OUTPUT_VARIABLE cxx_flags)
list(JOIN cxx_flags " " cxx_flags)
function(install_pc name description requires private_requires private_libs)
  if(kinds STREQUAL static) # every link line needs what the library needs
    string(STRIP "${requires} ${private_requires}" requires)
    set(needs "Requires: ${requires}\nLibs: -L\${libdir} -l${name} ${private_libs}")
  else()
    set(needs "Requires: ${requires}\nRequires.private: ${private_requires}\n")
    string(APPEND needs "Libs: -L\${libdir} -l${name}\nLibs.private: ${private_libs}")
  endif()
  configure_file(cmake/library.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

install_pc(pencilfft "Three-dimensional FFTs over MPI by pencils" "" "fftw3 fftw3f"
           "${PENCILFFT_FFTW_MPI_FLAG} ${OpenMP_C_FLAGS} -lm -lrt")
install_pc(pencilmap_reorder "MPI communicators in the order of a placement" "" "" "")
if(TARGET pencilfft_fortran)
  install_pc(pencilfft_fortran "Fortran module of libpencilfft" pencilfft "" "")
  install_pc(pencilmap_reorder_fortran "Fortran module of libpencilmap_reorder" pencilmap_reorder "" "")
endif()
