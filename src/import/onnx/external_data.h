// Tensor data in a separate file beside the model.
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
  // Opens the file and checks that it has the `size` bytes of `tensor`'s data. A model must not make us
  // read anything but its own data: the location must be a relative path below `folder`, see
  // base/input_file.h. InvalidArgument otherwise.
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
