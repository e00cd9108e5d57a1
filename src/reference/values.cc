#include "reference/values.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "base/float16.h"
#include "base/int_type.h"
#include "base/status.h"

namespace attune::reference {
namespace {

template <typename T, typename Wide>
void LoadAs(const Tensor& tensor, std::vector<Wide>* out) {
  const std::span<const T> from = tensor.as<T>();
  for (size_t i = 0; i < from.size(); ++i) (*out)[i] = ConvertElement<Wide>(from[i]);
}

template <typename T, typename Wide>
void StoreAs(const std::vector<Wide>& values, Tensor* out) {
  const std::span<T> to = out->as_mutable<T>();
  for (size_t i = 0; i < values.size(); ++i) to[i] = ConvertElement<T>(values[i]);
}

}  // namespace

absl::StatusOr<Tensor> NewTensor(DType dtype, Shape shape) {
  return Tensor::Allocate(dtype, std::move(shape), kMaxTensorBytes);
}

template <typename Wide>
std::vector<Wide> Load(const Tensor& tensor) {
  std::vector<Wide> out(static_cast<size_t>(tensor.num_elements()));
  switch (tensor.dtype()) {
    case DType::kF32:
      LoadAs<float>(tensor, &out);
      break;
    case DType::kF64:
      LoadAs<double>(tensor, &out);
      break;
    case DType::kF16: {
      const auto halves = tensor.as<uint16_t>();
      for (size_t i = 0; i < out.size(); ++i) out[i] = ConvertElement<Wide>(F16ToFloat(halves[i]));
      break;
    }
    case DType::kBF16: {
      const auto halves = tensor.as<uint16_t>();
      for (size_t i = 0; i < out.size(); ++i) out[i] = ConvertElement<Wide>(BF16ToFloat(halves[i]));
      break;
    }
    case DType::kBool:
      LoadAs<uint8_t>(tensor, &out);
      break;
    default:
      WithIntType(tensor.dtype(), [&](auto t) { LoadAs<decltype(t)>(tensor, &out); });
  }
  return out;
}

template <typename Wide>
absl::StatusOr<Tensor> Store(const std::vector<Wide>& values, DType dtype, Shape shape) {
  absl::StatusOr<Tensor> out = NewTensor(dtype, std::move(shape));
  if (!out.ok()) return out;
  switch (dtype) {
    case DType::kF32:
      StoreAs<float>(values, &*out);
      break;
    case DType::kF64:
      StoreAs<double>(values, &*out);
      break;
    case DType::kF16:
    case DType::kBF16:
      for (size_t i = 0; i < values.size(); ++i) {
        out->SetDouble(static_cast<int64_t>(i), static_cast<double>(values[i]));
      }
      break;
    case DType::kBool:
      StoreAs<bool>(values, &*out);
      break;
    default:
      WithIntType(dtype, [&](auto t) { StoreAs<decltype(t)>(values, &*out); });
  }
  return out;
}

template std::vector<double> Load(const Tensor&);
template std::vector<int64_t> Load(const Tensor&);
template std::vector<uint64_t> Load(const Tensor&);
template absl::StatusOr<Tensor> Store(const std::vector<double>&, DType, Shape);
template absl::StatusOr<Tensor> Store(const std::vector<int64_t>&, DType, Shape);
template absl::StatusOr<Tensor> Store(const std::vector<uint64_t>&, DType, Shape);

template <>
double LowestOf<double>(DType) {
  return -std::numeric_limits<double>::infinity();
}
template <>
int64_t LowestOf<int64_t>(DType dtype) {
  return std::numeric_limits<int64_t>::min() >> (64 - 8 * DTypeSize(dtype));
}
template <>
uint64_t LowestOf<uint64_t>(DType) {
  return 0;
}
template <>
double HighestOf<double>(DType) {
  return std::numeric_limits<double>::infinity();
}
template <>
int64_t HighestOf<int64_t>(DType dtype) {
  return std::numeric_limits<int64_t>::max() >> (64 - 8 * DTypeSize(dtype));
}
template <>
uint64_t HighestOf<uint64_t>(DType dtype) {
  if (dtype == DType::kBool) return 1;
  return std::numeric_limits<uint64_t>::max() >> (64 - 8 * DTypeSize(dtype));
}

int64_t CountElements(const Shape& shape, int begin, int end) {
  int64_t count = 1;
  for (int axis = begin; axis < end; ++axis) count *= shape[axis];
  return count;
}

Shape RowMajorStrides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (int axis = static_cast<int>(shape.size()) - 2; axis >= 0; --axis) {
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  }
  return strides;
}

absl::StatusOr<Tensor> TakeSlices(const Tensor& x, const AxisView& view, const std::vector<int64_t>& indices,
                                  Shape shape) {
  ASSIGN_OR_RETURN(Tensor out, NewTensor(x.dtype(), std::move(shape)));
  if (out.num_elements() == 0) return out;
  const int64_t bytes = view.inner * DTypeSize(x.dtype());
  std::byte* to = out.mutable_data();
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (const int64_t index : indices) {
      std::memcpy(to, x.data() + (outer * view.size + index) * bytes, static_cast<size_t>(bytes));
      to += bytes;
    }
  }
  return out;
}

}  // namespace attune::reference
