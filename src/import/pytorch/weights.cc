#include "import/pytorch/weights.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"

namespace attune::pytorch {
namespace {

constexpr int64_t kMaxConfigBytes = int64_t{1} << 26;
constexpr int64_t kMaxRank = 64;

// Checks sizes or strides of a weight: they must be known and not negative.
Shape Concrete(const std::vector<SymbolicInt>& values, std::string_view what) {
  if (std::ssize(values) > kMaxRank) Invalid("it has ", values.size(), " ", what);
  Shape result;
  for (const SymbolicInt& value : values) {
    if (!value.value || *value.value < 0) Invalid("its ", what, " are not all known and positive");
    result.push_back(*value.value);
  }
  return result;
}

// Whether the strides are those of a row-major tensor; strides of dimensions with one element are ignored.
bool IsDense(const Shape& shape, const Shape& strides) {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected = Multiply(expected, std::max<int64_t>(shape[i], 1));
  }
  return true;
}

// The number of elements of the storage, from its start, up to the last one that the tensor uses.
int64_t Extent(const Shape& shape, const Shape& strides, int64_t offset) {
  int64_t last = offset;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    const std::optional<int64_t> sum = CheckedAdd(last, Multiply(shape[i] - 1, strides[i]));
    if (!sum) Invalid("its strides overflow");
    last = *sum;
  }
  return last + 1;
}

// A bool may be any byte in the file, but must be 0 or 1 in memory.
void Normalize(Tensor& tensor) {
  if (tensor.dtype() != DType::kBool) return;
  for (uint8_t& byte : tensor.as_mutable<uint8_t>()) byte = byte != 0 ? 1 : 0;
}

}  // namespace

Weights::Weights(const Archive* archive, const std::string& model) : archive_(archive) {
  if (archive_->Has("byteorder")) {
    const std::string order = OrThrow(archive_->Read("byteorder", 16));
    if (order != "little")
      Unsupported(kNotSupportedMark, "Model byteorder: the weights are stored as '", order, "' endian");
  }
  for (const char* kind : {"weights", "constants"}) {
    const std::string folder = absl::StrCat("data/", kind, "/");
    ReadConfig(absl::StrCat(folder, model, "_", kind, "_config.json"), folder);
  }
}

void Weights::ReadConfig(const std::string& path, const std::string& folder) {
  const std::string text = OrThrow(archive_->Read(path, kMaxConfigBytes));
  const Json json = ParseJson(text, path);
  const Json& config = Field(json, "config");
  if (!config.is_object()) Invalid("'", path, "' does not map names to weights");
  for (const auto& [name, entry] : config.items()) {
    Payload payload{.path = TextField(entry, "path_name")};
    if (absl::StrContains(payload.path, '/')) {
      Invalid("the weight '", name, "' lies at '", payload.path, "', outside of its folder");
    }
    payload.path.insert(0, folder);
    const Json& pickled = Field(entry, "use_pickle");
    payload.pickled = !pickled.is_boolean() || pickled.get<bool>();
    if (const Json* meta = OptionalField(entry, "tensor_meta")) {
      payload.meta = ReadTensorMeta(*meta);
    } else {
      payload.pickled = true;
    }
    if (!payloads_.emplace(name, std::move(payload)).second) Invalid("two weights are named '", name, "'");
  }
}

Tensor Weights::Load(const std::string& name, Budget& budget) {
  const auto it = payloads_.find(name);
  if (it == payloads_.end()) Invalid("the file has no weight '", name, "'");
  const Payload& payload = it->second;
  if (payload.pickled) Unsupported("'", name, "' is stored as a Python pickle; ", kOnnxAdvice);
  if (!payload.meta.strided) Unsupported("'", name, "' is a sparse tensor");
  const std::optional<DType> dtype = DTypeFromTorch(payload.meta.scalar_type);
  if (!dtype) Unsupported("'", name, "' has the type ", TorchTypeName(payload.meta.scalar_type));
  try {
    const Shape shape = Concrete(payload.meta.sizes, "sizes");
    Shape strides = Concrete(payload.meta.strides, "strides");
    const int64_t offset = Concrete({payload.meta.storage_offset}, "offset")[0];
    if (shape.size() != strides.size())
      Invalid("it has ", shape.size(), " sizes and ", strides.size(), " strides");
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) strides[i] = 0;  // no step is ever taken along it
    }
    const std::string key = absl::StrCat(payload.path, "|", DTypeName(*dtype), "|", absl::StrJoin(shape, ","),
                                         "|", absl::StrJoin(strides, ","), "|", offset);
    if (const auto known = loaded_.find(key); known != loaded_.end()) return known->second;
    budget.SpendBytes(Multiply(Product(shape), DTypeSize(*dtype)));
    if (!archive_->Has(payload.path)) Invalid("the archive has no '", payload.path, "'");
    const int64_t needed = Multiply(Extent(shape, strides, offset), DTypeSize(*dtype));
    const int64_t stored = archive_->SizeOf(payload.path);
    if (stored == 0 && needed > 0) Invalid("the program was saved without the values of its weights");
    if (needed > stored) Invalid("it reaches over ", needed, " bytes, its storage has ", stored);
    const bool whole = offset == 0 && needed == stored && IsDense(shape, strides);
    Tensor data = whole ? ReadDense(payload, *dtype, shape)
                        : ReadStrided(payload, *dtype, shape, strides, offset, budget);
    Normalize(data);
    loaded_.emplace(key, data);
    return data;
  } catch (const ImportFailure& failure) {
    throw ImportFailure{Annotate(failure.status, absl::StrCat("weight '", name, "'"))};
  }
}

Tensor Weights::ReadDense(const Payload& payload, DType dtype, const Shape& shape) {
  Tensor data = OrThrow(Tensor::Allocate(dtype, shape));
  OrThrow(archive_->ReadInto(payload.path, {data.mutable_data(), static_cast<size_t>(data.num_bytes())}));
  return data;
}

Tensor Weights::ReadStrided(const Payload& payload, DType dtype, const Shape& shape, const Shape& strides,
                            int64_t offset, Budget& budget) {
  if (storage_path_ != payload.path) {
    storage_path_.clear();
    budget.SpendBytes(archive_->SizeOf(payload.path));
    storage_ = OrThrow(archive_->Read(payload.path, archive_->SizeOf(payload.path)));
    storage_path_ = payload.path;
  }
  Tensor data = OrThrow(Tensor::Allocate(dtype, shape));
  const int64_t size = DTypeSize(dtype);
  Shape index(shape.size(), 0);
  int64_t from = offset;
  for (int64_t to = 0; to < data.num_elements(); ++to) {
    std::memcpy(data.mutable_data() + to * size, storage_.data() + from * size, static_cast<size_t>(size));
    for (size_t i = shape.size(); i-- > 0;) {
      from += strides[i];
      if (++index[i] < shape[i]) break;
      from -= strides[i] * shape[i];
      index[i] = 0;
    }
  }
  return data;
}

}  // namespace attune::pytorch
