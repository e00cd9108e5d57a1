// Owners of the objects of C libraries.
#ifndef ATTUNE_BASE_FREE_WITH_H_
#define ATTUNE_BASE_FREE_WITH_H_

namespace attune {

// The deleter of a std::unique_ptr that calls the library's own function: FreeWith<BIO_free>.
template <auto kFree>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

}  // namespace attune

#endif  // ATTUNE_BASE_FREE_WITH_H_
