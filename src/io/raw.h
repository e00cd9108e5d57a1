// Converts raw bytes to a tensor.
#ifndef ATTUNE_IO_RAW_H_
#define ATTUNE_IO_RAW_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace attune {

// The elements in row-major order, little endian; a bool is true for any byte except 0. If the sizes
// differ, the error names `name` (the file) and both of them.
absl::StatusOr<Tensor> ParseRaw(std::string_view bytes, DType dtype, const Shape& shape,
                                std::string_view name);

}  // namespace attune

#endif  // ATTUNE_IO_RAW_H_
