// How far the rounding of compiled code may move the result of one operator.
//
// Compiled code computes f32, f16 and bf16 in f32 and f64 in f64. It sums in an order of its own, folds
// factors and shifts into its neighbours, and evaluates functions by polynomials. All of it is modelled as
// rounding of what an operator reads and of what it gives: an operator that is made of several steps errs as
// if its inputs had been rounded (Higham: Accuracy and stability of numerical algorithms, 2002, section 1.5),
// and a sum of n terms in any order errs like √n roundings of its terms (section 2.8).
#ifndef ATTUNE_REFERENCE_ROUNDING_H_
#define ATTUNE_REFERENCE_ROUNDING_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune::reference {

enum class Rounding {
  kNone,      // gives values that it is given: movement, selection, comparison
  kOnce,      // exact, then rounded: a product
  kFunction,  // several steps
  kAdd,       // of two, into which a factor may be folded
  kSum,       // sums of `terms` products, and perhaps more
};

struct RoundingModel {
  Rounding kind = Rounding::kNone;
  double terms = 1;
  // An absolute error, in units of the roundoff: ln(1 + eˣ) is made of numbers near 1 however small it is.
  double absolute = 0;
  // Whether integers give integers that no order of summation rounds, as long as all are small.
  bool keeps_integers = false;
  // Whether Winograd's algorithm may compute it, whose errors follow the largest elements of a tile.
  bool winograd = false;
  // Whether a small change of an input may change the result at once, as of a floor or an argmax.
  bool jumps = false;
};

RoundingModel ModelRounding(const Node& node);

// Whether `inputs`, floats as f64, are such small integers that nothing of the node rounds in f32, whatever
// the order.
bool StaysInteger(const RoundingModel& model, const std::vector<Tensor>& inputs);

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_ROUNDING_H_
