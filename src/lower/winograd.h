// Winograd: the stages that compute a 3×3 convolution with fewer multiplications.
//
// Problem: a direct convolution multiplies nine times for each output element and input channel. Idea: a
// tile of m × m outputs is a product of two polynomials in each direction, and those are determined by
// their values at m + 2 points: transform filter and input tile to their values there, multiply point by
// point (for each point, a matrix product over the channels), and interpolate. That takes (m + 2)²
// multiplications for m² outputs: 4 per output with m = 2, 2.25 with m = 4, 1.78 with m = 6. With g the
// filter and d the input tile,
//   Y = Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A.
// With m = 2, all entries of 2 G, B and A are integers, so bytes in i16 give 4 Y without rounding.
// After Winograd, Arithmetic complexity of computations, 1980, and Lavin and Gray, Fast algorithms for
// convolutional neural networks, CVPR 2016; the points after Barabasz et al., Error analysis and improving
// the accuracy of Winograd convolution for deep neural networks, TOMS 2020.
#ifndef ATTUNE_LOWER_WINOGRAD_H_
#define ATTUNE_LOWER_WINOGRAD_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "lower/definition.h"

namespace attune {

// The three transforms of F(m, 3) in one dimension, as formulas.
//
// The points are 0, pairs ±p, and infinity. The two rows of a pair share their even and odd parts, which
// are equal expressions, so that code generation computes them once.
class WinogradTransforms {
 public:
  // `tile` is m: 2, 4 or 6. The filter's transform comes out `filter_scale` times as large.
  explicit WinogradTransforms(int64_t tile, double filter_scale = 1);

  int64_t tile() const { return tile_; }
  int64_t points() const { return tile_ + 2; }

  // Element `row` of G g, of Bᵀ d and of Aᵀ t, for g of 3 values and d and t of points() values.
  Expr Filter(const Expr& row, const std::vector<Expr>& g) const;
  Expr Input(const Expr& row, const std::vector<Expr>& d) const;
  Expr Output(const Expr& row, const std::vector<Expr>& t) const;

 private:
  int64_t tile_;
  double filter_scale_;
  std::vector<double> pairs_;  // the positive point of each pair
};

struct WinogradShape {
  int64_t batch, in_blocks, out_blocks, channels, height, width, lanes;
  int64_t tiles_h, tiles_w;  // tiles of m × m outputs; the last ones may reach beyond the image
  bool is_integer;           // from i16 to i32

  int64_t tiles() const { return batch * tiles_h * tiles_w; }
};
// The shape of a two-dimensional convolution in blocked layout, with tiles of `tile` × `tile` outputs.
WinogradShape WinogradShapeOf(const Node& conv, int64_t tile);

// How a convolution is computed by F(tile, 3).
struct WinogradConfig {
  int64_t tile;          // 2, 4 or 6
  int64_t group_blocks;  // blocks of output channels in a group
  int64_t dot = 1;       // channels whose products one instruction adds up
};

// Adds the stages of `conv`, a 3×3 convolution of stride 1 in blocked layout, called after it:
//
//   conv0.g, gx    the weights and G g, in f64
//   conv0.u        [groups, point, point, channels / dot, group_blocks · lanes, dot]  transformed filters,
//                  from the weights alone
//   conv0.pad      [batch, in_blocks, height, width, lanes]  the input with its padding
//   conv0.columns  [point, column, batch, in_blocks, tile, lanes]  Bᵀ d
//   conv0.v        [point, point, batch, in_blocks, tile, lanes]  Bᵀ d B; tiles are row-major in the image
//   conv0.m        [point, point, batch, out_blocks, tile, lanes]  their products, summed over the channels
//   conv0.rows     [row, point, batch, out_blocks, tile, lanes]  Aᵀ m
//   conv0.acc      Aᵀ m A, of the output's physical shape; conv0 adds the bias
//
// All but g and gx have the type that the convolution is computed in. With `dot` above 1, u and v, which
// are multiplied, have the type of its input unless its output has a wider one. For integers, pad, columns,
// u and v have the type of its input, u is four times as large, tiles are of 2, and conv0 = acc / 4.
absl::Status DefineWinograd(Definition& definition, const Node& conv, const WinogradConfig& config);

}  // namespace attune

#endif  // ATTUNE_LOWER_WINOGRAD_H_
