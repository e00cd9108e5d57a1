#include "quant/equalize.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "opt/rewrite.h"
#include "quant/layers.h"

namespace attune::quant {
namespace {

struct Pair {
  Node* first;
  Node* second;
};

bool IsConvLayer(const Node& node) { return node.op() == Op::kConv && IsLayer(node); }

// The convolution that alone uses the result, through what keeps factors.
Node* Follower(const Graph& graph, const Node& first) {
  const Value* value = first.output();
  Node* user = OnlyUser(graph, value);
  while (user != nullptr && (user->op() == Op::kRelu || user->op() == Op::kLeakyRelu)) {
    value = user->output();
    user = OnlyUser(graph, value);
  }
  return user != nullptr && IsConvLayer(*user) && user->input(0) == value ? user : nullptr;
}

std::vector<Pair> FindPairs(const Graph& graph) {
  std::vector<Pair> pairs;
  for (const auto& node : graph.nodes()) {
    const bool has_known_bias =
        node->op() == Op::kConv && (node->input(2) == nullptr || node->input(2)->constant() != nullptr);
    if (!has_known_bias || !IsConvLayer(*node)) continue;
    if (Node* second = Follower(graph, *node)) pairs.push_back({node.get(), second});
  }
  return pairs;
}

// Weights [M, C/group, K…] as rows that make one output channel each, and where the input channels are.
struct InputView {
  int64_t rows, columns, inner;  // [M, C/group, product of K]
  int64_t rows_of_group;

  explicit InputView(const Node& conv) {
    const Shape& shape = conv.input(1)->constant()->shape();
    rows = shape[0];
    columns = shape[1];
    inner = rows * columns == 0 ? 0 : conv.input(1)->constant()->num_elements() / (rows * columns);
    rows_of_group = rows / conv.attrs().Int("group", 1);
  }
  // The input channel that weight i multiplies.
  int64_t Channel(int64_t i) const {
    const int64_t row = i / (columns * inner), column = i / inner % columns;
    return row / rows_of_group * columns + column;
  }
};

// The largest weight of each output channel of `first`, and of each input channel of `second`.
std::vector<double> OutputRanges(const Node& first) {
  const std::span<const float> weights = first.input(1)->constant()->as<float>();
  std::vector<double> ranges(static_cast<size_t>(NumChannels(first)), 0);
  const size_t size = ranges.empty() ? 1 : std::max<size_t>(weights.size() / ranges.size(), 1);
  for (size_t i = 0; i < weights.size(); ++i) {
    ranges[i / size] = std::max<double>(ranges[i / size], std::abs(weights[i]));
  }
  return ranges;
}

std::vector<double> InputRanges(const Node& second, size_t channels) {
  const InputView view(second);
  const std::span<const float> weights = second.input(1)->constant()->as<float>();
  std::vector<double> ranges(channels, 0);
  for (size_t i = 0; i < weights.size(); ++i) {
    double& range = ranges[static_cast<size_t>(view.Channel(static_cast<int64_t>(i)))];
    range = std::max<double>(range, std::abs(weights[i]));
  }
  return ranges;
}

void SetConstant(Graph& graph, Node* node, int input, Tensor tensor) {
  node->SetInput(input, graph.AddConstant(std::move(tensor), node->name(), node));
}

void ScaleInputs(Graph& graph, Node* second, const std::vector<double>& factors) {
  const InputView view(*second);
  const Tensor& weights = *second->input(1)->constant();
  Tensor scaled(DType::kF32, weights.shape());
  for (int64_t i = 0; i < weights.num_elements(); ++i) {
    scaled.SetDouble(i, weights.ToDouble(i) * factors[static_cast<size_t>(view.Channel(i))]);
  }
  SetConstant(graph, second, 1, std::move(scaled));
}

// Balances one pair. Returns the largest |log₂ s|.
double Balance(Graph& graph, const Pair& pair) {
  const std::vector<double> before = OutputRanges(*pair.first);
  const std::vector<double> after = InputRanges(*pair.second, before.size());
  // A channel that is all but zero on one side stays small: its factor would be noise.
  constexpr double kMost = 1024;
  std::vector<double> factors(before.size(), 1), inverse(before.size(), 1);
  double change = 0;
  for (size_t c = 0; c < before.size(); ++c) {
    if (!(before[c] > 0 && after[c] > 0)) continue;
    factors[c] = std::clamp(std::sqrt(before[c] / after[c]), 1 / kMost, kMost);
    inverse[c] = 1 / factors[c];
    change = std::max(change, std::abs(std::log2(factors[c])));
  }
  std::optional<Tensor> weights = ScaleAlong(*pair.first->input(1)->constant(), 0, inverse);
  std::optional<Tensor> bias;
  const bool has_bias = pair.first->input(2) != nullptr;
  if (has_bias) bias = ScaleAlong(*pair.first->input(2)->constant(), 0, inverse);
  if (!weights || (has_bias && !bias)) return 0;
  SetConstant(graph, pair.first, 1, *std::move(weights));
  if (has_bias) SetConstant(graph, pair.first, 2, *std::move(bias));
  ScaleInputs(graph, pair.second, factors);
  return change;
}

}  // namespace

int EqualizeLayers(Graph& graph, int max_rounds) {
  constexpr double kSmall = 1e-3;
  const std::vector<Pair> pairs = FindPairs(graph);
  for (int round = 0; round < max_rounds; ++round) {
    double change = 0;
    for (const Pair& pair : pairs) change = std::max(change, Balance(graph, pair));
    // Replaced weights are as large as the network: they do not wait for the last round.
    EraseUnusedConstants(graph);
    if (change < kSmall) break;
  }
  return static_cast<int>(pairs.size());
}

}  // namespace attune::quant
