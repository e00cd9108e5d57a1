#include "tune/task/reference_data.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/process/message.h"
#include "base/random.h"
#include "base/status.h"
#include "measure/reference_data.h"
#include "plan/group_kernel.h"
#include "tune/task/error_bounds.h"

namespace attune {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kHeaderRoom = int64_t{1} << 20;
constexpr std::byte kBetween{0xFF};  // in gaps between elements: NaN, or -1

// The ranges of random input values.
struct Filling {
  double low, high;     // floats
  int64_t least, most;  // integers …
  bool whole_bytes;     // … except 8-bit ones, which take all their values
};
// The first filling is used that the reference can evaluate and whose results are mostly finite: some
// operators need positive floats, or integers that are valid indices.
constexpr Filling kFillings[] = {
    {-1, 1, -2, 2, true}, {-1, 1, 0, 1, true}, {0.5, 1.5, 0, 1, false}, {0.5, 1.5, 0, 0, false}};

Tensor Fill(const TensorType& type, const Filling& filling, Random& random) {
  Tensor tensor(type.dtype, type.shape());
  if (type.dtype == DType::kF32) {
    for (float& value : tensor.as_mutable<float>())
      value = static_cast<float>(filling.low + (filling.high - filling.low) * random.Uniform());
    return tensor;
  }
  int64_t least = filling.least, most = filling.most;
  if (filling.whole_bytes && DTypeSize(type.dtype) == 1) {
    least = type.dtype == DType::kI8 ? -128 : 0;
    most = least + 255;
  }
  if (type.dtype == DType::kBool || IsUnsignedInt(type.dtype)) least = 0;
  if (type.dtype == DType::kBool) most = 1;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (IsFloat(type.dtype)) {
      tensor.SetDouble(i, filling.low + (filling.high - filling.low) * random.Uniform());
    } else {
      tensor.SetInt(i, random.Integer(least, most));
    }
  }
  return tensor;
}

bool IsMostlyFinite(const Tensor& tensor) {
  int64_t finite = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) finite += std::isfinite(tensor.ToDouble(i)) ? 1 : 0;
  return 2 * finite >= tensor.num_elements();
}

struct Evaluated {
  std::vector<Tensor> inputs;
  std::vector<BoundedOutput> outputs;
};

absl::StatusOr<Evaluated> EvaluateTask(const Graph& region) {
  absl::Status status;
  std::optional<Evaluated> odd;  // can be evaluated, but the results are mostly NaN
  for (const Filling& filling : kFillings) {
    Random random(7);
    Evaluated evaluated;
    for (const auto& input : region.inputs())
      evaluated.inputs.push_back(Fill(input->type(), filling, random));
    absl::StatusOr<std::vector<BoundedOutput>> outputs = EvaluateWithBounds(region, evaluated.inputs);
    if (!outputs.ok()) {
      status = outputs.status();
      continue;
    }
    evaluated.outputs = *std::move(outputs);
    const bool is_good =
        std::all_of(evaluated.outputs.begin(), evaluated.outputs.end(),
                    [](const BoundedOutput& output) { return IsMostlyFinite(output.value); });
    if (is_good) return evaluated;
    if (!odd) odd = std::move(evaluated);
  }
  if (odd) return *std::move(odd);
  return Annotate(status, "the reference cannot evaluate the task");
}

// Calls f(offset in memory for `type`, flat index) for each element of `box`, which must fit in `type`.
template <typename F>
void ForEachPlace(const Shape& box, const TensorType& type, F f) {
  const Shape physical = type.physical_shape();
  std::vector<int64_t> strides(physical.size(), 1);
  for (size_t d = physical.size(); d-- > 1;) strides[d - 1] = strides[d] * physical[d];
  const auto blocked = static_cast<size_t>(std::max(0, type.layout.blocked_axis));
  const int64_t block = type.layout.is_plain() ? 1 : type.layout.block;
  int64_t count = 1;
  for (int64_t size : box) count *= size;
  Shape index(box.size(), 0);
  for (int64_t flat = 0; flat < count; ++flat) {
    int64_t place = 0;
    for (size_t d = 0; d < box.size(); ++d) {
      const bool is_split = block > 1 && d == blocked;
      place += is_split ? index[d] / block * strides[d] + index[d] % block : index[d] * strides[d];
    }
    f(place, flat);
    for (size_t d = box.size(); d-- > 0;) {
      if (++index[d] < box[d]) break;
      index[d] = 0;
    }
  }
}

// A file to which page-aligned segments are appended.
class FileWriter {
 public:
  static absl::StatusOr<FileWriter> Create() {
    FileWriter writer(FileDescriptor(memfd_create("attune-task", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
    if (writer.file_.get() < 0) return absl::ResourceExhaustedError("no anonymous file for the task's data");
    return writer;
  }

  int64_t size() const { return size_; }

  // Calls write(memory) with zeroed memory of the new segment, and returns its offset.
  template <typename F>
  absl::StatusOr<int64_t> Add(int64_t bytes, F write) {
    const int64_t offset = size_;
    if (bytes == 0) return offset;
    if (ftruncate(file_.get(), offset + RoundUp(bytes, kPage)) != 0) return NoMemory(bytes);
    void* memory =
        mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), offset);
    if (memory == MAP_FAILED) return NoMemory(bytes);
    write(static_cast<std::byte*>(memory));
    munmap(memory, static_cast<size_t>(bytes));
    size_ += RoundUp(bytes, kPage);
    return offset;
  }

  absl::StatusOr<Blob> Finish(const std::string& header) {
    const auto length = static_cast<int64_t>(header.size());
    if (length > kHeaderRoom - static_cast<int64_t>(sizeof(length))) return InternalError("too many tensors");
    if (pwrite(file_.get(), &length, sizeof(length), 0) != sizeof(length) ||
        pwrite(file_.get(), header.data(), header.size(), sizeof(length)) != length) {
      return NoMemory(length);
    }
    return Blob::Seal(std::move(file_));
  }

 private:
  explicit FileWriter(FileDescriptor file) : file_(std::move(file)) {}
  static absl::Status NoMemory(int64_t bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory for ", bytes, " bytes of the task's data"));
  }

  FileDescriptor file_;
  int64_t size_ = kHeaderRoom;
};

// Appends a segment, and adds its offset and size to the header.
template <typename F>
absl::Status AddSegment(FileWriter& file, MessageWriter& header, int64_t bytes, F write) {
  ASSIGN_OR_RETURN(const int64_t offset, file.Add(bytes, write));
  header.Int(offset);
  header.Int(bytes);
  return absl::OkStatus();
}

absl::Status AddTensor(FileWriter& file, MessageWriter& header, const Tensor& tensor,
                       const TensorType& type) {
  const int64_t bytes = type.num_physical_bytes();
  return AddSegment(file, header, bytes, [&](std::byte* memory) {
    const auto size = static_cast<size_t>(DTypeSize(type.dtype));
    std::memset(memory, static_cast<int>(kBetween), static_cast<size_t>(bytes));
    ForEachPlace(tensor.shape(), type, [&](int64_t place, int64_t flat) {
      std::memcpy(memory + static_cast<size_t>(place) * size,
                  tensor.data() + static_cast<size_t>(flat) * size, size);
    });
  });
}

absl::Status AddBound(FileWriter& file, MessageWriter& header, const std::vector<float>& bound,
                      const Tensor& value, const TensorType& type) {
  const int64_t elements = bound.empty() ? 0 : type.num_physical_elements();
  return AddSegment(file, header, elements * static_cast<int64_t>(sizeof(float)), [&](std::byte* memory) {
    const std::span<float> bounds(reinterpret_cast<float*>(memory), static_cast<size_t>(elements));
    std::fill(bounds.begin(), bounds.end(), -1.0F);
    ForEachPlace(value.shape(), type, [&](int64_t place, int64_t flat) {
      bounds[static_cast<size_t>(place)] = bound[static_cast<size_t>(flat)];
    });
  });
}

// The tensor's size in the dimension with this symbol, if the type has one.
std::optional<int64_t> SizeOf(const std::string& symbol, const TensorType& type, const Tensor& tensor) {
  for (size_t d = 0; d < type.dims.size(); ++d) {
    if (type.dims[d].symbol == symbol) return tensor.shape()[d];
  }
  return std::nullopt;
}

// The sizes of the region's symbols. Symbols of its inputs are known before it runs.
std::vector<ReferenceData::DynamicDim> ActualDims(const Graph& region, const Evaluated& evaluated) {
  std::vector<ReferenceData::DynamicDim> dims;
  for (const std::string& symbol : SymbolsOf(region)) {
    ReferenceData::DynamicDim& dim = dims.emplace_back();
    for (size_t i = 0; i < evaluated.outputs.size(); ++i) {
      const TensorType& type = region.outputs()[i].value->type();
      if (const auto size = SizeOf(symbol, type, evaluated.outputs[i].value)) dim.size = *size;
    }
    for (size_t i = 0; i < evaluated.inputs.size(); ++i) {
      const auto size = SizeOf(symbol, region.inputs()[i]->type(), evaluated.inputs[i]);
      if (size.has_value()) dim = {*size, /*is_given=*/true};
    }
  }
  return dims;
}

}  // namespace

int64_t TaskBytes(const TuningTask& task) {
  int64_t bytes = 0;
  for (const auto& input : task.region->inputs()) bytes += input->type().num_physical_bytes();
  for (const Graph::Output& output : task.region->outputs())
    bytes += output.value->type().num_physical_bytes();
  return bytes;
}

absl::StatusOr<Blob> MakeReferenceData(const TuningTask& task) {
  const Graph& region = *task.region;
  ASSIGN_OR_RETURN(const Evaluated evaluated, EvaluateTask(region));
  ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create());
  MessageWriter tensors;
  tensors.Int(static_cast<int64_t>(evaluated.inputs.size()));
  for (size_t i = 0; i < evaluated.inputs.size(); ++i) {
    tensors.Int(task.constant_inputs.contains(static_cast<int>(i)) ? 1 : 0);
    RETURN_IF_ERROR(AddTensor(file, tensors, evaluated.inputs[i], region.inputs()[i]->type()));
  }
  const int64_t expected_begin = file.size();
  tensors.Int(static_cast<int64_t>(evaluated.outputs.size()));
  for (size_t i = 0; i < evaluated.outputs.size(); ++i) {
    const BoundedOutput& output = evaluated.outputs[i];
    const TensorType& type = region.outputs()[i].value->type();
    tensors.Int(static_cast<int64_t>(type.dtype));
    RETURN_IF_ERROR(AddTensor(file, tensors, output.value, type));
    RETURN_IF_ERROR(AddBound(file, tensors, output.bound, output.value, type));
    RETURN_IF_ERROR(AddBound(file, tensors, output.spread_bound, output.value, type));
  }
  const std::vector<ReferenceData::DynamicDim> dims = ActualDims(region, evaluated);
  tensors.Int(static_cast<int64_t>(dims.size()));
  for (const auto& [size, is_given] : dims) {
    tensors.Int(size);
    tensors.Int(is_given ? 1 : 0);
  }
  MessageWriter header;
  header.Int(expected_begin);
  return file.Finish(header.text() + tensors.text());
}

}  // namespace attune
