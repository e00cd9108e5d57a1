// Helpers of the tests: graphs written as text and compiled as a user would, for each vector width.
#ifndef ATTUNE_TESTS_FLOATING_POINT_COMPILED_H_
#define ATTUNE_TESTS_FLOATING_POINT_COMPILED_H_

#include <span>
#include <string>
#include <vector>

#include "api/network.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "target/target.h"

namespace attune::floating_point {

// This machine, and AVX2 too if this machine has more.
std::vector<Target> Targets();

// Parses a graph; fails the test if the text is wrong.
std::unique_ptr<Graph> Parse(const std::string& text);

// Convolutions of x, which has that shape, by each of `weights` in turn; they keep its height and width.
std::unique_ptr<Graph> Convolutions(const Shape& x, const std::vector<Tensor>& weights);
// The matrix product of x and `columns`.
std::unique_ptr<Graph> Product(const Shape& x, const Tensor& columns);

// Compiles the graph for `target`, runs it on `inputs`, one tensor per input in order, and returns its
// outputs. If a strategy is named, it schedules all kernels that it applies to.
std::vector<Tensor> RunCompiled(const Graph& graph, const std::vector<Tensor>& inputs, const Target& target,
                                std::string_view strategy = "");

// The compiled graph, and its inputs by name.
Network Compiled(const Graph& graph, const Target& target, std::string_view strategy = "");
std::vector<NamedTensor> Named(const Graph& graph, const std::vector<Tensor>& inputs);

// Random numbers in [low, high).
Tensor RandomTensor(const Shape& shape, uint64_t seed, double low = -1, double high = 1);

// A tensor whose elements are `values` over and over.
Tensor Repeated(const Shape& shape, std::span<const double> values, DType dtype = DType::kF32);

}  // namespace attune::floating_point

#endif  // ATTUNE_TESTS_FLOATING_POINT_COMPILED_H_
