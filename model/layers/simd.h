// How the CPU kernels are compiled: one copy a kind of processor, chosen when
// the program starts.

#pragma once

// Sanitizers instrument the resolver that chooses, which runs before they do.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LEADLINE_CPU_CLONES \
  __attribute__((           \
      target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define LEADLINE_CPU_CLONES
#endif

#define LEADLINE_INLINE inline __attribute__((always_inline))
