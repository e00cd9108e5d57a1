// The product's operator new and delete, on mimalloc's heap: tuning makes and drops millions of expressions
// on all cores, which the C library is slow at. mimalloc's own operator new, which is built as C, does not
// know exceptions or the handler of std::set_new_handler, and aborts if memory runs out. The other forms of
// new and delete call these.
#include <mimalloc.h>

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
  return AllocateOrThrow([=] { return mi_malloc(bytes); });
}

void* operator new[](std::size_t bytes) { return operator new(bytes); }

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return AllocateOrThrow([=] { return mi_malloc_aligned(bytes, static_cast<std::size_t>(alignment)); });
}

void* operator new[](std::size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }

void operator delete(void* memory) noexcept { mi_free(memory); }
void operator delete[](void* memory) noexcept { mi_free(memory); }
void operator delete(void* memory, std::size_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { mi_free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { mi_free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { mi_free(memory); }
