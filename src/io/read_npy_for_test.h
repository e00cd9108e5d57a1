// For tests that look at arrays that programs have written.
#ifndef ATTUNE_IO_READ_NPY_FOR_TEST_H_
#define ATTUNE_IO_READ_NPY_FOR_TEST_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/file.h"
#include "base/status.h"
#include "io/npy.h"

namespace attune {

// Returns the array in the file. Errors are those of ReadFile() and ParseNpy().
inline absl::StatusOr<Tensor> ReadNpy(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, int64_t{1} << 30));
  return ParseNpy(bytes, path);
}

}  // namespace attune

#endif  // ATTUNE_IO_READ_NPY_FOR_TEST_H_
