# Debian's xsimd 8 links xtl, which it neither looks for nor includes: without xtl's target that
# name would become -lxtl on the linker's command line.
if(TARGET xsimd AND NOT TARGET xtl)
  get_target_property(tessera_xsimd_links xsimd INTERFACE_LINK_LIBRARIES)
  if(tessera_xsimd_links)
    list(REMOVE_ITEM tessera_xsimd_links xtl)
    set_property(TARGET xsimd PROPERTY INTERFACE_LINK_LIBRARIES ${tessera_xsimd_links})
  endif()
endif()
