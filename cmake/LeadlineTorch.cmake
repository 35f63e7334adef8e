# One precompiled <torch/torch.h> a build folder, used by every target that speaks torch.
#
# leadline_torch_target(NAME): links LibTorch and compiles with that header. All such targets must have
# its flags (a mismatch is an error, through -Winvalid-pch); a file that needs others, say -O3, sets
# SKIP_PRECOMPILE_HEADERS on itself. Sources still include what they use.

if(NOT TARGET leadline_torch_pch)
  file(WRITE ${CMAKE_BINARY_DIR}/torch_pch.cc.new "// carries the precompiled header\n")
  file(COPY_FILE ${CMAKE_BINARY_DIR}/torch_pch.cc.new ${CMAKE_BINARY_DIR}/torch_pch.cc ONLY_IF_DIFFERENT)
  add_library(leadline_torch_pch OBJECT ${CMAKE_BINARY_DIR}/torch_pch.cc)
  target_link_libraries(leadline_torch_pch PUBLIC LibTorch::cpu)
  target_precompile_headers(leadline_torch_pch PRIVATE <torch/torch.h>)
endif()

function(leadline_torch_target name)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_libraries(${name} PRIVATE LibTorch::cpu)
    # A header compiled with -fPIC is refused where -fPIE is set.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  else()
    target_link_libraries(${name} PUBLIC LibTorch::cpu)
  endif()
  target_precompile_headers(${name} REUSE_FROM leadline_torch_pch)
endfunction()
