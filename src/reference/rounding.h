// Models how far rounding in compiled code may move the result of one operator.
//
// Compiled code computes f32, f16 and bf16 in f32 and f64 in f64. It sums in its own order, folds factors
// and shifts into neighbouring operators, and evaluates functions by polynomials. All this is modelled as
// rounding of an operator's inputs and results: the error of an operator with several steps is as if its
// inputs had been rounded (Higham: Accuracy and stability of numerical algorithms, 2002, section 1.5), and
// that of a sum of n terms in any order is like √n roundings of its terms (section 2.8).
#ifndef ATTUNE_REFERENCE_ROUNDING_H_
#define ATTUNE_REFERENCE_ROUNDING_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/op.h"
#include "graph/tensor.h"

namespace attune::reference {

struct RoundingModel {
  Rounding kind = Rounding::kNone;
  double terms = 1;  // of the longest sum, for kSum
  // An absolute error in units of the roundoff: ln(1 + eˣ) is computed from numbers near 1, however small
  // it is.
  double absolute = 0;
  // Whether integer inputs give integer results, exact in any order of summation, as long as all are small.
  bool keeps_integers = false;
  // Whether Winograd may compute it, whose errors are proportional to the largest elements of a tile.
  bool winograd = false;
  // Whether it subtracts the mean of `terms` elements.
  bool centers = false;
  bool jumps = false;  // as OpInfo has it, for the node's attributes
};

RoundingModel ModelRounding(const Node& node);

// Whether `inputs`, floats as f64, are integers so small that the node does not round in f32, in any order.
bool StaysInteger(const RoundingModel& model, const std::vector<Tensor>& inputs);

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_ROUNDING_H_
