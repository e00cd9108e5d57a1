// How much each layer errs in bf16, measured on examples. Narrowing depends on this and on the kinds of
// operators.
//
// Problem: the error that rounding causes in a layer depends on its numbers. A sum of random terms errs by
// about as much as its terms, 0.2 %; where large terms cancel, by many times that. Idea: a probe, the
// network in f32 in which each layer has a twin that computes the same in bf16 of the same inputs. Each
// layer's error is then its own, and one run gives all of them. Cost: compiling and running the network
// about twice.
#ifndef ATTUNE_OPT_NARROWING_ERROR_H_
#define ATTUNE_OPT_NARROWING_ERROR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "opt/pass.h"

namespace attune {

// A convolution, matrix product or another contraction of f32.
struct LayerPrecision {
  std::string name;
  bool is_bf16 = false;  // or three products of bf16, by the pass split_products
  // The root mean square of the change in the layer's output when inputs and weights are rounded to bf16,
  // relative to that of the output; infinite where either is not finite. Nothing where it was not measured,
  // as for a layer whose kind stays in f32.
  std::optional<double> error;
};

// The decisions of the passes narrow and split_products (RunOptions::narrowing).
struct NarrowingReport {
  std::vector<LayerPrecision> layers;  // in the graph's order, those of regions first
  // The graph's outputs in f32 for the examples; empty where nothing was measured.
  std::vector<Tensor> outputs;
  // Why nothing could be measured, where that was asked for.
  std::string failure;
};

// Whether a node is such a layer, and what reports call it.
bool IsLayer(const Node& node);
std::string LayerName(const Node& layer);

struct NarrowingErrors {
  std::vector<double> layers;
  std::vector<Tensor> outputs;  // of the graph, in f32
};

// Whether bf16 is to take the place of input i of a node that narrows: true for f32, except for the mask of
// an attention, which uses the lowest f32, a number that bf16 does not have.
bool IsNarrowedInput(const Node& node, int i);

// The errors of `layers`, nodes of `graph` in its order with outputs of static types, as of LayerPrecision.
// Fails where the executor does.
absl::StatusOr<NarrowingErrors> MeasureNarrowing(const Graph& graph, const std::vector<const Node*>& layers,
                                                 const ErrorProbe& measurement);

}  // namespace attune

#endif  // ATTUNE_OPT_NARROWING_ERROR_H_
