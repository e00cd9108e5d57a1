// The program's operator new, which calls mimalloc's malloc. mimalloc's own operator new, which Debian
// builds as C, does not know exceptions or the handler of std::set_new_handler, and aborts if memory runs
// out. operator delete and the non-throwing operator new remain mimalloc's.
#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

// Allocates as the C++ standard requires: on failure, it calls the new handler, which may free memory,
// throw or end the program.
template <typename Allocate>
void* AllocateOrThrow(Allocate allocate) {
  for (;;) {
    if (void* const memory = allocate()) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

void* operator new(std::size_t bytes) {
  return AllocateOrThrow([=] { return std::malloc(bytes); });
}

void* operator new[](std::size_t bytes) { return operator new(bytes); }

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  // posix_memalign rejects smaller alignments, but LLVM asks for them.
  const std::size_t at_least = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  return AllocateOrThrow([=]() -> void* {
    void* memory = nullptr;
    return posix_memalign(&memory, at_least, bytes) == 0 ? memory : nullptr;
  });
}

void* operator new[](std::size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }
