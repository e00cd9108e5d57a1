#include "import/onnx/external_data.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/checked.h"
#include "base/status.h"

namespace attune::onnx {
namespace {

struct Reference {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

absl::StatusOr<Reference> ParseReference(const attune_onnx::TensorProto& tensor) {
  Reference reference;
  for (const auto& entry : tensor.external_data()) {
    int64_t number = 0;
    if (entry.key() == "location") {
      reference.location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (!absl::SimpleAtoi(entry.value(), &number) || number < 0) {
        return InvalidInput("its ", entry.key(), " is not a number");
      }
      if (entry.key() == "offset") {
        reference.offset = number;
      } else {
        reference.length = number;
      }
    }
  }
  return reference;
}

absl::Status CheckHolds(const InputFile& file, int64_t offset, int64_t size) {
  const std::optional<int64_t> end = CheckedAdd(offset, size);
  if (!end || *end > file.bytes) {
    return InvalidInput("it ends at byte ", file.bytes, ", the data at ", offset, " needs ", size, " bytes");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ExternalData> ExternalData::Open(const attune_onnx::TensorProto& tensor,
                                                const std::string& folder, int64_t size) {
  const auto annotate = [&tensor](const absl::Status& status) {
    return Annotate(status, absl::StrCat("external data of '", tensor.name(), "'"));
  };
  if (folder.empty()) return annotate(InvalidInput("a model without a folder cannot have any"));
  const absl::StatusOr<Reference> reference = ParseReference(tensor);
  if (!reference.ok()) return annotate(reference.status());
  if (reference->length && *reference->length != size) {
    return annotate(InvalidInput("it is ", *reference->length, " bytes long, the shape needs ", size));
  }
  absl::StatusOr<InputFile> file = OpenInputFileBelow(folder, reference->location);
  if (!file.ok()) return annotate(absl::InvalidArgumentError(file.status().message()));
  RETURN_IF_ERROR(annotate(CheckHolds(*file, reference->offset, size)));
  return ExternalData(*std::move(file), reference->offset, size);
}

absl::Status ExternalData::Read(std::byte* out) const {
  return Annotate(ReadRange(file_, offset_, size_, out), "external data");
}

}  // namespace attune::onnx
