// Calls functions of the C interface, and throws their failures. For the headers of this folder alone.
#ifndef ATTUNE_DETAIL_CALL_HPP_
#define ATTUNE_DETAIL_CALL_HPP_

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "attune/error.hpp"
#include "attune/tensor.h"

namespace attune::compiler::detail {

// A handle or a result of the C interface, with the function that frees it.
template <auto kFree>
struct Free {
  template <typename Type>
  void operator()(Type* owned) const {
    kFree(owned);
  }
};
template <typename Type>
Type* freed_by(void (*)(Type*));
template <auto kFree>
using Owned = std::unique_ptr<std::remove_pointer_t<decltype(freed_by(kFree))>, Free<kFree>>;

inline ErrorCode code_of(attune_code code) {
  switch (code) {
    case ATTUNE_CANNOT_READ:
    case ATTUNE_NOT_FOUND:
      return ErrorCode::kNotFound;
    case ATTUNE_UNSUPPORTED:
      return ErrorCode::kUnsupported;
    case ATTUNE_CANCELLED:
      return ErrorCode::kCancelled;
    case ATTUNE_OUT_OF_MEMORY:
      return ErrorCode::kNoResources;
    case ATTUNE_UNAVAILABLE:
      return ErrorCode::kUnavailable;
    case ATTUNE_INTERNAL:
      return ErrorCode::kInternal;
    default:
      return ErrorCode::kInvalid;
  }
}

// Calls a function whose last parameter is its failure.
template <typename Function, typename... Arguments>
void call(Function function, Arguments... arguments) {
  attune_failure* failure = nullptr;
  const attune_code code = function(arguments..., &failure);
  if (code == ATTUNE_OK) return;
  const Owned<attune_failure_free> owned(failure);
  if (failure == nullptr) throw std::bad_alloc();
  throw Error(code_of(code), attune_failure_message(failure), code == ATTUNE_CANNOT_READ);
}

// Calls a function whose last parameters are where its result goes, which `kFree` frees, and its failure.
template <auto kFree, typename Function, typename... Arguments>
Owned<kFree> get(Function function, Arguments... arguments) {
  typename Owned<kFree>::pointer result = nullptr;
  call(function, arguments..., &result);
  return Owned<kFree>(result);
}

inline std::vector<std::string> strings(const char* const* items, size_t count) {
  return std::vector<std::string>(items, items + count);
}

inline std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> items;
  for (const std::string& text : texts) items.push_back(text.c_str());
  return items;
}

}  // namespace attune::compiler::detail

#endif  // ATTUNE_DETAIL_CALL_HPP_
