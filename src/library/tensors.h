// Tensors between the C interface and Attune's own.
#ifndef ATTUNE_LIBRARY_TENSORS_H_
#define ATTUNE_LIBRARY_TENSORS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "api/tensors.h"
#include "attune/tensor.h"

// A tensor with its name, and the same as an array.
struct attune_tensor {
  explicit attune_tensor(attune::NamedTensor named);
  attune_tensor(const attune_tensor&) = delete;
  attune_tensor& operator=(const attune_tensor&) = delete;

  attune::NamedTensor named;
  attune_array array;
};

struct attune_tensors {
  std::vector<std::unique_ptr<attune_tensor>> items;  // null: taken
};

namespace attune::library {

// Copies. Fail for an array that is none.
absl::StatusOr<NamedTensor> ToOwn(const attune_array& array);
absl::StatusOr<std::vector<NamedTensor>> ToOwn(const attune_array* arrays, size_t count);

}  // namespace attune::library

#endif  // ATTUNE_LIBRARY_TENSORS_H_
