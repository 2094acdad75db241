// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
std::atomic<long> count{0};
}  // namespace

auto test::allocations() -> long { return count.load(); }

// Sanitizers bring an allocator of their own; there operator new is what is counted, below.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_OWN_ALLOCATOR 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define TEST_OWN_ALLOCATOR 0
#endif
#endif

#if !defined(TEST_OWN_ALLOCATOR) && defined(__GLIBC__)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t n) { return ++count, __libc_malloc(n); }
void* calloc(std::size_t n, std::size_t size) { return ++count, __libc_calloc(n, size); }
void* realloc(void* p, std::size_t n) { return ++count, __libc_realloc(p, n); }
void* memalign(std::size_t alignment, std::size_t n) {
  return ++count, __libc_memalign(alignment, n);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) {
  return ++count, __libc_memalign(alignment, n);
}
int posix_memalign(void** p, std::size_t alignment, std::size_t n) {
  ++count;
  *p = __libc_memalign(alignment, n);
  return *p == nullptr ? ENOMEM : 0;
}
void free(void* p) { __libc_free(p); }
void* mmap(void* p, std::size_t n, int protection, int flags, int file, off_t offset) noexcept {
  ++count;
  return reinterpret_cast<void*>(syscall(SYS_mmap, p, n, protection, flags, file, offset));
}
}
#endif
