// Operators that interpolate images, and those that assemble windows.
#include <cmath>

#include "base/status.h"
#include "export/onnx/ops/writers.h"

namespace attune::onnx_export {
namespace {

Tensor F32Vector(const Floats& values) {
  const std::vector<float> floats(values.begin(), values.end());
  return Tensor::FromFloats(floats, {static_cast<int64_t>(floats.size())});
}

}  // namespace

// ONNX takes either sizes or scales and derives the other. This writes the one from which the graph's sizes
// and scales both follow.
absl::Status WriteResize(NodeContext& c, const OperatorRow& row) {
  const Ints& sizes = c.attrs().IntList("sizes");
  const Floats& scales = c.attrs().FloatList("scales");
  const Floats roi = c.attrs().Has("roi") ? c.attrs().FloatList("roi") : Floats();
  const std::string coordinates = c.attrs().String("coordinate_mode", "half_pixel");
  bool by_sizes = true, by_scales = true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!c.type().dims[i].is_constant()) return NotSupported("a size that depends on data");
    const auto from = static_cast<double>(c.type().dims[i].size), to = static_cast<double>(sizes[i]);
    by_sizes = by_sizes && (scales[i] == to / from || (from == 0 && scales[i] == 1));
    const auto scale = static_cast<float>(scales[i]);
    by_scales = by_scales && scale == scales[i] && std::floor(static_cast<float>(from) * scale) == to;
  }
  if (!by_sizes && !by_scales) return NotSupported("its scales and sizes do not follow from each other");
  constexpr int64_t kSymmetricOpset = 19;
  if (coordinates == "half_pixel_symmetric") c.writer().NeedOpset(kSymmetricOpset);
  Names inputs = {c.In(0), roi.empty() ? "" : c.Constant(F32Vector(roi)), "", ""};
  if (by_sizes) {
    inputs[3] = c.IntVector(sizes);
  } else {
    inputs[2] = c.Constant(F32Vector(scales));
  }
  c.Finish(row.name, inputs, HandedOn(c, row));
  return absl::OkStatus();
}

absl::Status WriteRoiAlign(NodeContext& c, const OperatorRow& row) {
  c.Finish(row.name, {c.In(0), c.In(1), c.LongIn(2)}, HandedOn(c, row));
  return absl::OkStatus();
}

absl::Status WriteCol2Im(NodeContext& c, const OperatorRow& row) {
  const std::string image = c.IntVector(c.attrs().IntList("image"));
  c.Finish(row.name, {c.In(0), image, c.IntVector(c.attrs().IntList("block"))}, HandedOn(c, row));
  return absl::OkStatus();
}

}  // namespace attune::onnx_export
