#include "import/tflite/model.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "flatbuffers/flatbuffers.h"
#include "import/common/names.h"

namespace attune::tflite {
namespace {

constexpr uint32_t kVersion = 3;

const schema::OperatorCode& CodeTable(const schema::Model& root, const schema::Operator& node) {
  return *root.operator_codes()->Get(node.opcode_index());
}

bool InRange(int64_t index, int64_t size) { return index >= 0 && index < size; }

// Checks that all `indices` are tensors; if `optional`, -1 stands for an absent one.
absl::Status CheckIndices(const flatbuffers::Vector<int32_t>* indices, int64_t num_tensors, bool optional,
                          std::string_view what) {
  for (int64_t i = 0; i < SizeOf(indices); ++i) {
    const int32_t index = indices->Get(static_cast<uint32_t>(i));
    if (!InRange(index, num_tensors) && !(optional && index == -1)) {
      return InvalidInput(what, " ", i, " is tensor ", index, " of ", num_tensors);
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string NameOf(const flatbuffers::String* string) {
  if (string == nullptr) return "";
  return std::string(string->c_str(), std::min<size_t>(string->size(), importing::kMaxNameLength));
}

absl::StatusOr<Model> Model::Open(std::string_view bytes) {
  if (bytes.empty()) return InvalidInput("the file is empty");
  Model model;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 16 != 0) {
    model.aligned_.assign(bytes);
    bytes = model.aligned_;
  }
  model.bytes_ = bytes;
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  // The tables must end before 2 GiB; buffers may lie beyond, and their location is checked when they are
  // read.
  const size_t size = std::min<size_t>(bytes.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1);
  if (size < 8 || !schema::ModelBufferHasIdentifier(data)) {
    return InvalidInput("the file is not a TensorFlow Lite model: it does not have the mark TFL3");
  }
  flatbuffers::Verifier verifier(data, size);
  if (!schema::VerifyModelBuffer(verifier)) {
    return InvalidInput("the file is damaged or cut short: it does not parse as a TensorFlow Lite model");
  }
  model.root_ = schema::GetModel(data);
  RETURN_IF_ERROR(model.Check());
  return model;
}

absl::Status Model::Check() const {
  if (root_->version() != kVersion) {
    return NotSupported(kNotSupportedMark, "Model version: ", root_->version(), " is not the known version ",
                        kVersion);
  }
  if (num_subgraphs() == 0) return InvalidInput("the model has no subgraph");
  // Tables may be shared, but only a malicious file uses that, to make a small file a large model.
  int64_t indices_left = num_bytes();
  for (int i = 0; i < num_subgraphs(); ++i) {
    RETURN_IF_ERROR(Annotate(CheckSubgraph(i, indices_left), absl::StrCat("subgraph ", i)));
  }
  for (int64_t i = 0; i < SizeOf(root_->signature_defs()); ++i) {
    const schema::SignatureDef& signature = *root_->signature_defs()->Get(static_cast<uint32_t>(i));
    if (!InRange(signature.subgraph_index(), num_subgraphs())) {
      return InvalidInput("signature ", i, " is of subgraph ", signature.subgraph_index(), " of ",
                          num_subgraphs());
    }
  }
  return absl::OkStatus();
}

absl::Status Model::CheckSubgraph(int index, int64_t& indices_left) const {
  const schema::SubGraph& graph = subgraph(index);
  const int64_t num_tensors = SizeOf(graph.tensors());
  const auto check = [&](const flatbuffers::Vector<int32_t>* indices, bool optional, std::string_view what) {
    indices_left -= SizeOf(indices);
    if (indices_left < 0) return InvalidInput("its operators name more tensors than the file has bytes");
    return CheckIndices(indices, num_tensors, optional, what);
  };
  for (int64_t i = 0; i < num_tensors; ++i) {
    const uint32_t buffer = tensor(index, static_cast<int>(i)).buffer();
    if (buffer != 0 && !InRange(buffer, SizeOf(root_->buffers()))) {
      return InvalidInput("tensor ", i, " is in buffer ", buffer, " of ", SizeOf(root_->buffers()));
    }
  }
  RETURN_IF_ERROR(check(graph.inputs(), false, "input"));
  RETURN_IF_ERROR(check(graph.outputs(), false, "output"));
  for (int64_t i = 0; i < SizeOf(graph.operators()); ++i) {
    const schema::Operator& node = *graph.operators()->Get(static_cast<uint32_t>(i));
    if (!InRange(node.opcode_index(), SizeOf(root_->operator_codes()))) {
      return InvalidInput("operator ", i, " is of kind ", node.opcode_index(), " of ",
                          SizeOf(root_->operator_codes()));
    }
    const std::string where = absl::StrCat("operator ", i, " (", OperatorName(node), ")");
    RETURN_IF_ERROR(Annotate(check(node.inputs(), true, "input"), where));
    RETURN_IF_ERROR(Annotate(check(node.outputs(), true, "output"), where));
  }
  return absl::OkStatus();
}

schema::BuiltinOperator Model::CodeOf(const schema::Operator& node) const {
  const schema::OperatorCode& code = CodeTable(*root_, node);
  const auto old = static_cast<schema::BuiltinOperator>(code.deprecated_builtin_code());
  return std::max(old, code.builtin_code());
}

std::string Model::OperatorName(const schema::Operator& node) const {
  const schema::BuiltinOperator code = CodeOf(node);
  if (code == schema::BuiltinOperator::CUSTOM) return NameOf(CodeTable(*root_, node).custom_code());
  const std::string name = schema::EnumNameBuiltinOperator(code);
  return name.empty() ? absl::StrCat("BUILTIN_", static_cast<int>(code)) : name;
}

absl::StatusOr<std::string_view> Model::BytesAt(uint64_t offset, uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) {
    return InvalidInput("its ", size, " bytes at ", offset, " lie outside of the file");
  }
  return bytes_.substr(offset, size);
}

absl::StatusOr<std::string_view> Model::BufferData(uint32_t buffer) const {
  if (buffer == 0 && SizeOf(root_->buffers()) == 0) return std::string_view();
  const schema::Buffer& table = *root_->buffers()->Get(buffer);
  // An offset of 0 or 1 is a placeholder of the writer.
  if (table.offset() > 1) return BytesAt(table.offset(), table.size());
  if (table.data() == nullptr) return std::string_view();
  return std::string_view(reinterpret_cast<const char*>(table.data()->data()), table.data()->size());
}

absl::StatusOr<std::string_view> Model::CustomOptions(const schema::Operator& node) const {
  if (node.large_custom_options_offset() > 1) {
    return BytesAt(node.large_custom_options_offset(), node.large_custom_options_size());
  }
  const flatbuffers::Vector<uint8_t>* options = node.custom_options();
  if (options == nullptr) return std::string_view();
  return std::string_view(reinterpret_cast<const char*>(options->data()), options->size());
}

int64_t Model::num_operators() const {
  int64_t count = 0;
  for (int i = 0; i < num_subgraphs(); ++i) count += SizeOf(subgraph(i).operators());
  return count;
}

}  // namespace attune::tflite
