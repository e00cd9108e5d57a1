// The program's operator new, on mimalloc's malloc. mimalloc has one of its own, which Debian builds as C: it
// knows neither exceptions nor the handler of std::set_new_handler, and where there is no memory it aborts.
// The operators delete stay mimalloc's, as does new where it must not throw.
#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

// What `allocate` gives, as the standard has it: handlers may free memory, throw or end the program.
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
  // posix_memalign takes no smaller alignment, which LLVM asks for.
  const std::size_t at_least = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  return AllocateOrThrow([=]() -> void* {
    void* memory = nullptr;
    return posix_memalign(&memory, at_least, bytes) == 0 ? memory : nullptr;
  });
}

void* operator new[](std::size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }
