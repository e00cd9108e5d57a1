// A model file: its verified tables, and the bytes after them.
#ifndef ATTUNE_IMPORT_TFLITE_MODEL_H_
#define ATTUNE_IMPORT_TFLITE_MODEL_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/attributes.h"
#include "import/common/failure.h"
#include "import/tflite/tflite_generated.h"

namespace attune::tflite {

using namespace importing;  // NOLINT: the vocabulary that every importer is written in

// An absent vector counts as empty.
template <typename T>
int64_t SizeOf(const flatbuffers::Vector<T>* vector) {
  return vector != nullptr ? static_cast<int64_t>(vector->size()) : 0;
}
// The verifier checks that a vector lies inside the file, but not that 64-bit elements are aligned.
template <typename T>
Ints ToInts(const flatbuffers::Vector<T>* vector) {
  Ints result(static_cast<size_t>(SizeOf(vector)));
  for (size_t i = 0; i < result.size(); ++i) {
    T element;
    std::memcpy(&element, vector->Data() + i * sizeof(T), sizeof(T));
    result[i] = static_cast<int64_t>(flatbuffers::EndianScalar(element));
  }
  return result;
}
// Names are for people: a long one is cut.
std::string NameOf(const flatbuffers::String* string);

class Model {
 public:
  // Checks everything that does not need computation: the tables lie inside the bytes, and indices of
  // tensors, buffers, subgraphs and operator codes are in range. `bytes` must outlive the model.
  static absl::StatusOr<Model> Open(std::string_view bytes);
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;

  const schema::Model& root() const { return *root_; }
  int num_subgraphs() const { return static_cast<int>(SizeOf(root_->subgraphs())); }
  const schema::SubGraph& subgraph(int i) const { return *root_->subgraphs()->Get(i); }
  const schema::Tensor& tensor(int subgraph, int i) const {
    return *this->subgraph(subgraph).tensors()->Get(i);
  }

  schema::BuiltinOperator CodeOf(const schema::Operator& node) const;
  // "CONV_2D", the custom operator's own name, or "BUILTIN_250".
  std::string OperatorName(const schema::Operator& node) const;

  // The data of a buffer, which is in the tables or after them; empty if it has none.
  absl::StatusOr<std::string_view> BufferData(uint32_t buffer) const;
  absl::StatusOr<std::string_view> CustomOptions(const schema::Operator& node) const;

  int64_t num_bytes() const { return static_cast<int64_t>(bytes_.size()); }
  int64_t num_operators() const;  // in all subgraphs

 private:
  Model() = default;
  absl::Status Check() const;
  absl::Status CheckSubgraph(int index, int64_t& indices_left) const;
  absl::StatusOr<std::string_view> BytesAt(uint64_t offset, uint64_t size) const;

  std::string aligned_;  // a copy of the bytes if they are not aligned to 16
  std::string_view bytes_;
  const schema::Model* root_ = nullptr;
};

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_MODEL_H_
