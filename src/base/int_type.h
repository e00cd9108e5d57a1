// The C++ types of the integer dtypes.
#ifndef ATTUNE_BASE_INT_TYPE_H_
#define ATTUNE_BASE_INT_TYPE_H_

#include <cstdint>

#include "base/dtype.h"
#include "base/fatal.h"

namespace attune {

// Calls f(T()) with the C++ type T of an integer dtype's elements.
template <typename F>
auto WithIntType(DType dtype, F f) {
  switch (dtype) {
    case DType::kI8:
      return f(int8_t());
    case DType::kI16:
      return f(int16_t());
    case DType::kI32:
      return f(int32_t());
    case DType::kI64:
      return f(int64_t());
    case DType::kU8:
      return f(uint8_t());
    case DType::kU16:
      return f(uint16_t());
    case DType::kU32:
      return f(uint32_t());
    case DType::kU64:
      return f(uint64_t());
    default:
      Fatal("not an integer dtype: ", DTypeName(dtype));
  }
}

}  // namespace attune

#endif  // ATTUNE_BASE_INT_TYPE_H_
