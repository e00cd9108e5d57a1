// How much each layer errs in bf16, measured on examples: what narrowing is decided by, beside the kinds of
// operators.
//
// Problem: what rounding does to a layer depends on its numbers. A sum of random terms errs by about what its
// terms do, 0.2 %; where large terms cancel, by many times that. Idea: a probe, the network in f32 in which
// each layer has a twin that computes the same in bf16 of the same inputs. Each layer's error is then its
// own, and one run gives all of them. Cost: compiling and running the network about twice.
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
  // The root mean square of what bf16 changes in the layer's output, inputs and weights rounded, relative to
  // that of the output; infinite where either is no finite number. Nothing where it was not measured, as
  // that of a layer whose kind stays in f32.
  std::optional<double> error;
};

// What the passes narrow and split_products decided (RunOptions::narrowing).
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

// Whether bf16 is to take the place of input i of a node that narrows: f32, but no mask of an attention,
// whose lowest f32 bf16 does not have.
bool IsNarrowedInput(const Node& node, int i);

// The errors of `layers`, nodes of `graph` in its order with outputs of static types, as of LayerPrecision.
// Fails where the executor does.
absl::StatusOr<NarrowingErrors> MeasureNarrowing(const Graph& graph, const std::vector<const Node*>& layers,
                                                 const ErrorProbe& measurement);

}  // namespace attune

#endif  // ATTUNE_OPT_NARROWING_ERROR_H_
