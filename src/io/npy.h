// NumPy's .npy files, versions 1 to 3: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#ifndef ATTUNE_IO_NPY_H_
#define ATTUNE_IO_NPY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace attune {

// The array in `bytes`, converted to row-major order if the file has Fortran order. Accepts either byte
// order. Errors name `name` (the file) and what is wrong: damaged, cut short, or a type that tensors do not
// support.
absl::StatusOr<Tensor> ParseNpy(std::string_view bytes, std::string_view name);

// Writes a version 1 file. NumPy has no bf16: it is written as f32, which represents every bf16 number.
std::string SerializeNpy(const Tensor& tensor);
absl::Status WriteNpy(const std::string& path, const Tensor& tensor);

}  // namespace attune

#endif  // ATTUNE_IO_NPY_H_
