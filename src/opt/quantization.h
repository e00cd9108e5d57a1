// Helpers of the passes over quantized tensors.
#ifndef ATTUNE_OPT_QUANTIZATION_H_
#define ATTUNE_OPT_QUANTIZATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace attune {

bool Is8Bit(DType dtype);  // i8 or u8

// Whether a quantization rounds ties away from zero, and not to even.
bool RoundsHalfAway(const Node& node);

// A float times this, rounded half to even, is the float rounded half away from zero: just enough to move a
// tie.
inline constexpr double kAwayFromZero = 1 + 0x1p-23;

// The number of a constant of one element.
std::optional<double> ScalarOf(const Value* value);

// A zero point of one number, 0 where the input is absent; nothing where it is not a constant of one
// number.
std::optional<int64_t> ZeroPointOf(const Node& node, int input);

// The numbers of a zero point, one or several: a 0 where the input is absent; nothing where it is not a
// constant.
std::optional<std::vector<double>> ZeroPointsOf(const Node& node, int input);

// A dequantization to f32 by constants, without blocks. DequantizationOf() gives the one that makes
// `value`.
struct Dequantization {
  Node* node;
  Value* integers;
  std::vector<double> scale;  // one, or one for each index along `axis`
  std::vector<int64_t> zero;  // as many
  bool is_scalar;             // else `axis` counts, even if it has one element
  int64_t axis;
};
std::optional<Dequantization> DequantizationOf(const Value* value);

// Adds a dequantization before `before`: integers times scale, which is one number, or one for each index
// along `axis`.
Value* AddDequantize(Graph& graph, Node* before, Value* integers, std::span<const double> scale,
                     int64_t axis);

// A constant that has values[i] at index i of `axis` of a tensor of that rank, and broadcasts along the
// others.
Value* AddAlong(Graph& graph, Node* before, DType dtype, std::span<const double> values, int rank,
                int64_t axis);

}  // namespace attune

#endif  // ATTUNE_OPT_QUANTIZATION_H_
