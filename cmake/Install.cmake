# The package that find_package(tessera) finds. Headers and targets are installed beside their
# components, in Components.cmake.
include(CMakePackageConfigHelpers)
get_property(requirements GLOBAL PROPERTY tessera_requirements)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/tesseraConfig.cmake.in" "${PROJECT_BINARY_DIR}/tesseraConfig.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_DATADIR}/cmake/tessera"
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Until 1.0 a minor release may break its users.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/tesseraConfig.cmake"
              "${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/tesseraComponents.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/tesseraXsimd.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/tesseraModel.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/tesseraText.cmake"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/cmake/tessera")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/tessera")
