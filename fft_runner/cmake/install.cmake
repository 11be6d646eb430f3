# cmake --install: programs, headers, libraries, pencilfft.pc and the CMake package pencilfft. All of it can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(pencilfft_shared pencilmap_reorder PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
set_target_properties(pencilfft PROPERTIES EXPORT_NAME pencilfft_static)
set_target_properties(pencilfft_shared PROPERTIES EXPORT_NAME pencilfft)
set(installed pencilfft pencilfft_shared pencilmap_reorder)
if(TARGET pencilfft_fortran)
  list(APPEND installed pencilfft_fortran)
  set_target_properties(pencilfft_fortran PROPERTIES INSTALL_RPATH "$ORIGIN" VERSION ${PROJECT_VERSION} SOVERSION 0)
  # A .mod file is only for the compiler that wrote it; the source is installed for the others.
  install(FILES ${CMAKE_BINARY_DIR}/modules/pencilfft.mod fortran/pencilfft.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(TARGETS ${installed} EXPORT pencilfft
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS fft_runner transpose_bench DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/pencilfft.h reorder/pm_reorder.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pencilfft)
install(EXPORT pencilfft NAMESPACE pencilfft:: FILE pencilfft-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/pencilfft-config.cmake.in ${CMAKE_BINARY_DIR}/pencilfft-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/pencilfft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/pencilfft-config.cmake ${CMAKE_BINARY_DIR}/pencilfft-config-version.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(cmake/pencilfft.pc.in ${CMAKE_BINARY_DIR}/pencilfft.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/pencilfft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
