// Tensor data that a model keeps in a file beside it.
#ifndef ATTUNE_IMPORT_ONNX_EXTERNAL_DATA_H_
#define ATTUNE_IMPORT_ONNX_EXTERNAL_DATA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/input_file.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx {

class ExternalData {
 public:
  // The `size` bytes that hold `tensor`'s data, after making sure that the file has them. A model must not
  // make us read anything but data that belongs to it: the location is a relative path below `folder`,
  // as base/input_file.h says. InvalidArgument otherwise.
  static absl::StatusOr<ExternalData> Open(const attune_onnx::TensorProto& tensor, const std::string& folder,
                                           int64_t size);

  absl::Status Read(std::byte* out) const;

 private:
  ExternalData(InputFile file, int64_t offset, int64_t size)
      : file_(std::move(file)), offset_(offset), size_(size) {}

  InputFile file_;
  int64_t offset_;
  int64_t size_;
};

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_EXTERNAL_DATA_H_
