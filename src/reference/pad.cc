// Padding: a table per axis maps each index of the output to one of the input.
#include "base/status.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

constexpr int64_t kOutside = -1;

// The index in [0, size) whose element is used for position `at`, which may be outside.
int64_t SourceIndex(int64_t at, int64_t size, const std::string& mode) {
  if (at >= 0 && at < size) return at;
  if (mode == "edge") return at < 0 ? 0 : size - 1;
  if (mode == "wrap") return (at % size + size) % size;
  if (mode == "reflect") {
    if (size == 1) return 0;
    const int64_t period = 2 * (size - 1);  // forward and backward, without repeating the ends
    const int64_t phase = (at % period + period) % period;
    return phase < size ? phase : period - phase;
  }
  return kOutside;
}

}  // namespace

Outputs EvaluatePad(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const Ints& pads = node.attrs().IntList("pads");
  const std::string mode = node.attrs().String("mode", "constant");
  const int rank = x.rank();
  Shape shape = x.shape();
  std::vector<std::vector<int64_t>> sources(rank);  // offsets in elements of the input, or kOutside
  const Shape strides = RowMajorStrides(x.shape());
  for (int axis = 0; axis < rank; ++axis) {
    shape[axis] += pads[axis] + pads[axis + rank];
  }
  // Allocated before the tables are built, so that an excessive shape is refused first.
  ASSIGN_OR_RETURN(Tensor out, NewTensor(x.dtype(), shape));
  if (out.num_elements() == 0) return One(std::move(out));
  for (int axis = 0; axis < rank; ++axis) {
    for (int64_t i = 0; i < shape[axis]; ++i) {
      const int64_t source = SourceIndex(i - pads[axis], x.shape()[axis], mode);
      sources[axis].push_back(source == kOutside ? kOutside : source * strides[axis]);
    }
  }
  const Tensor fill = Tensor::Scalar(x.dtype(), node.attrs().Number("value", 0));
  WithStorage(x.dtype(), [&](auto storage) {
    using T = decltype(storage);
    const T* from = x.as<T>().data();
    T* to = out.as_mutable<T>().data();
    ForEachIndex(shape, [&](const Shape& index) {
      int64_t offset = 0;
      bool inside = true;
      for (int axis = 0; axis < rank; ++axis) {
        const int64_t source = sources[axis][index[axis]];
        inside &= source != kOutside;
        offset += source;
      }
      *to++ = inside ? from[offset] : fill.as<T>()[0];
    });
  });
  return One(std::move(out));
}

}  // namespace attune::reference
