#include "quant/equalize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "opt/rewrite.h"
#include "quant/layers.h"

namespace attune::quant {
namespace {

struct Pair {
  Node* first;
  Node* second;
  Node* bound;  // a ReLU with an upper bound between them, or nullptr
};

bool IsConvLayer(const Node& node) { return node.op() == Op::kConv && IsLayer(node); }

bool IsBoundedRelu(const Node& node) {
  return node.op() == Op::kClip && node.attrs().Has("max") && node.attrs().Number("min", -1).ToDouble() == 0;
}

// The pair of `first` and the convolution that is the only user of its result, if there are only operators
// between them that commute with positive factors.
std::optional<Pair> PairOf(const Graph& graph, Node* first) {
  Pair pair{first, nullptr, nullptr};
  const Value* value = first->output();
  for (;;) {
    Node* user = OnlyUser(graph, value);
    if (user == nullptr || user->input(0) != value) return std::nullopt;
    if (IsConvLayer(*user)) {
      pair.second = user;
      return pair;
    }
    const bool is_bounded = IsBoundedRelu(*user) && pair.bound == nullptr;
    if (is_bounded) pair.bound = user;
    if (!is_bounded && user->op() != Op::kRelu && user->op() != Op::kLeakyRelu) return std::nullopt;
    value = user->output();
  }
}

std::vector<Pair> FindPairs(const Graph& graph) {
  std::vector<Pair> pairs;
  for (const auto& node : graph.nodes()) {
    const bool has_known_bias =
        node->op() == Op::kConv && (node->input(2) == nullptr || node->input(2)->constant() != nullptr);
    if (!has_known_bias || !IsConvLayer(*node)) continue;
    if (std::optional<Pair> pair = PairOf(graph, node.get())) pairs.push_back(*pair);
  }
  return pairs;
}

// The weights [M, C/group, K…], as one row per output channel, and the input channel of each weight.
struct InputView {
  int64_t rows, columns, inner;  // M, C/group, product of K
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

// For each input channel, its largest weight relative to the largest weight with the same scale; 1 for a
// convolution whose channels are independent.
std::vector<double> WeightShares(const Node& second, size_t channels) {
  const InputView view(second);
  const std::span<const float> weights = second.input(1)->constant()->as<float>();
  std::vector<double> shares(channels, 0);
  const auto row_size = static_cast<size_t>(view.columns * view.inner);
  for (size_t begin = 0; begin + row_size <= weights.size() && row_size > 0; begin += row_size) {
    const std::span<const float> row = weights.subspan(begin, row_size);
    double largest = 0;
    for (const float weight : row) largest = std::max<double>(largest, std::abs(weight));
    for (size_t i = 0; i < row.size() && largest > 0; ++i) {
      double& share = shares[static_cast<size_t>(view.Channel(static_cast<int64_t>(begin + i)))];
      share = std::max(share, std::abs(row[i]) / largest);
    }
  }
  return shares;
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

// Replaces the common bound by one per channel: min(max(x, 0), bound / s).
void BoundEachChannel(Graph& graph, Node* clip, const std::vector<double>& inverse) {
  Shape shape(static_cast<size_t>(clip->output()->type().rank()), 1);
  shape[1] = static_cast<int64_t>(inverse.size());
  std::vector<double> bounds = inverse;
  for (double& bound : bounds) bound *= clip->attrs().Number("max", 0).ToDouble();
  Value* each = graph.AddConstant(FromDoubles(DType::kF32, shape, bounds), clip->name(), clip);
  Value* positive = AddBefore(graph, clip, Op::kRelu, {clip->input(0)});
  ReplaceNode(graph, clip, AddBefore(graph, clip, Op::kMin, {positive, each}));
}

// The divisors for the channels of the feature map between the two; `largest` are the channels' largest
// values.
std::vector<double> FactorsOf(const Pair& pair, const std::vector<double>& largest) {
  // A channel that is almost zero in the samples may be larger for other inputs, and its weights may be
  // noise.
  constexpr double kLeastShare = 1.0 / 32;
  const std::vector<double> shares = WeightShares(*pair.second, largest.size());
  const bool is_channelwise = pair.second->attrs().Int("group", 1) == static_cast<int64_t>(largest.size());
  const double whole = largest.empty() ? 0 : *std::ranges::max_element(largest);
  std::vector<double> factors(largest.size(), 1);
  for (size_t c = 0; c < largest.size() && whole > 0; ++c) {
    const double value = std::max(largest[c] / whole, kLeastShare);
    factors[c] = is_channelwise ? value : std::sqrt(value / std::max(shares[c], kLeastShare));
  }
  return factors;
}

void Divide(Graph& graph, const Pair& pair, const std::vector<double>& factors) {
  std::vector<double> inverse;
  for (const double factor : factors) inverse.push_back(1 / factor);
  std::optional<Tensor> weights = ScaleAlong(*pair.first->input(1)->constant(), 0, inverse);
  std::optional<Tensor> bias;
  const bool has_bias = pair.first->input(2) != nullptr;
  if (has_bias) bias = ScaleAlong(*pair.first->input(2)->constant(), 0, inverse);
  if (!weights || (has_bias && !bias)) return;
  SetConstant(graph, pair.first, 1, *std::move(weights));
  if (has_bias) SetConstant(graph, pair.first, 2, *std::move(bias));
  if (pair.bound != nullptr) BoundEachChannel(graph, pair.bound, inverse);
  ScaleInputs(graph, pair.second, factors);
}

// Updates the largest magnitude of each channel (axis 1).
void Widen(const Tensor& tensor, std::vector<double>& largest) {
  const auto channels = static_cast<size_t>(tensor.shape()[1]);
  largest.resize(channels, 0);
  const std::span<const float> values = tensor.as<float>();
  if (values.empty()) return;
  const size_t inner = values.size() / (channels * static_cast<size_t>(tensor.shape()[0]));
  for (size_t i = 0; i < values.size(); ++i) {
    double& most = largest[i / inner % channels];
    if (std::isfinite(values[i])) most = std::max<double>(most, std::abs(values[i]));
  }
}

}  // namespace

absl::StatusOr<int> EqualizeLayers(Graph& graph, const std::vector<Sample>& samples,
                                   const Executor& executor) {
  constexpr size_t kSamples = 64;
  const std::vector<Pair> pairs = FindPairs(graph);
  if (pairs.empty()) return 0;
  const GraphNames names(graph);
  std::vector<Value*> between;
  for (const Pair& pair : pairs) between.push_back(pair.second->input(0));
  std::map<std::string, std::vector<double>> largest;
  const auto few = static_cast<std::ptrdiff_t>(std::min(samples.size(), kSamples));
  RETURN_IF_ERROR(
      ObserveEach(graph, between, {samples.begin(), samples.begin() + few}, executor, {},
                  [&](const std::string& name, const Tensor& value) { Widen(value, largest[name]); }));
  std::vector<std::vector<double>> factors;
  for (const Pair& pair : pairs) factors.push_back(FactorsOf(pair, largest[names.Of(pair.second->input(0))]));
  for (size_t i = 0; i < pairs.size(); ++i) Divide(graph, pairs[i], factors[i]);
  EraseUnusedConstants(graph);
  return static_cast<int>(pairs.size());
}

}  // namespace attune::quant
