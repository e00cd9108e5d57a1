#include "quant/cluster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/random.h"
#include "base/status.h"
#include "quant/layers.h"

namespace attune::quant {
namespace {

constexpr int kByte = 8;

// Sorted values, and the sums of all values before each.
struct SortedValues {
  std::vector<float> values;
  std::vector<double> sums;  // one element more than `values`

  explicit SortedValues(std::span<const float> unsorted) : values(unsorted.begin(), unsorted.end()) {
    std::ranges::sort(values);
    sums.resize(values.size() + 1, 0);
    for (size_t i = 0; i < values.size(); ++i) sums[i + 1] = sums[i] + values[i];
  }
  size_t LowerBound(double value) const {
    return static_cast<size_t>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
  }
};

// k-means++: each center is drawn with a probability proportional to its squared distance to the earlier
// ones. Only looks at evenly spaced values if there are many, since these have the same distribution.
std::vector<double> FirstCenters(const std::vector<float>& sorted, int k) {
  constexpr size_t kMostLookedAt = 1 << 16;
  constexpr uint64_t kSeed = 1;
  const size_t step = std::max<size_t>(sorted.size() / kMostLookedAt, 1);
  std::vector<double> values;
  for (size_t i = 0; i < sorted.size(); i += step) values.push_back(sorted[i]);
  Random random(kSeed);
  std::vector<double> centers = {values[values.size() / 2]};
  std::vector<double> distances(values.size(), std::numeric_limits<double>::infinity());
  while (std::ssize(centers) < k) {
    double total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double difference = values[i] - centers.back();
      distances[i] = std::min(distances[i], difference * difference);
      total += distances[i];
    }
    if (total == 0) break;
    double left = total * random.Uniform();
    size_t chosen = 0;
    while (chosen + 1 < values.size() && left >= distances[chosen]) left -= distances[chosen++];
    centers.push_back(values[chosen]);
  }
  std::ranges::sort(centers);
  return centers;
}

// Moves each center to the mean of the values nearest to it; a center without any stays.
std::vector<double> Moved(const SortedValues& sorted, const std::vector<double>& centers) {
  std::vector<double> moved = centers;
  size_t begin = 0;
  for (size_t c = 0; c < centers.size(); ++c) {
    const bool is_last = c + 1 == centers.size();
    const size_t end = is_last ? sorted.values.size() : sorted.LowerBound((centers[c] + centers[c + 1]) / 2);
    if (end > begin) moved[c] = (sorted.sums[end] - sorted.sums[begin]) / static_cast<double>(end - begin);
    begin = std::max(begin, end);
  }
  return moved;
}

// The index of the nearest element, the lower one if two are equally near. The codebook is ascending.
size_t Nearest(const std::vector<float>& codebook, float value) {
  const auto above = std::ranges::lower_bound(codebook, value);
  if (above == codebook.begin()) return 0;
  if (above == codebook.end()) return codebook.size() - 1;
  const auto i = static_cast<size_t>(above - codebook.begin());
  return static_cast<double>(codebook[i]) - value < static_cast<double>(value) - codebook[i - 1] ? i : i - 1;
}

// Encodes each element as the index of the nearest number of the codebook.
ClusteredTensor Indexed(const Tensor& tensor, std::vector<float> codebook, int clusters) {
  ClusteredTensor result{tensor.shape(), std::move(codebook), BitsFor(clusters), {}};
  std::vector<uint8_t> indices(static_cast<size_t>(tensor.num_elements()));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const auto value = static_cast<float>(tensor.ToDouble(i));
    indices[static_cast<size_t>(i)] = static_cast<uint8_t>(Nearest(result.codebook, value));
  }
  result.packed = PackIndices(indices, result.bits);
  return result;
}

}  // namespace

int64_t ClusteredTensor::num_bytes() const {
  return std::ssize(packed) + std::ssize(codebook) * static_cast<int64_t>(sizeof(float));
}

int BitsFor(int clusters) {
  int bits = 1;
  while ((1 << bits) < clusters) ++bits;
  return bits;
}

std::vector<uint8_t> PackIndices(std::span<const uint8_t> indices, int bits) {
  std::vector<uint8_t> packed(static_cast<size_t>(CeilDiv(std::ssize(indices) * bits, kByte)), 0);
  size_t bit = 0;
  for (const uint8_t index : indices) {
    for (int b = 0; b < bits; ++b, ++bit) {
      if ((index >> b & 1) != 0) packed[bit / kByte] |= static_cast<uint8_t>(1 << bit % kByte);
    }
  }
  return packed;
}

absl::StatusOr<std::vector<uint8_t>> UnpackIndices(std::span<const uint8_t> packed, int bits, int64_t count) {
  const std::optional<int64_t> needed = CheckedMul(count, bits);
  if (bits < 1 || bits > kByte || count < 0 || !needed || CeilDiv(*needed, kByte) > std::ssize(packed)) {
    return InvalidInput(packed.size(), " bytes do not hold ", count, " indices of ", bits, " bits");
  }
  std::vector<uint8_t> indices(static_cast<size_t>(count), 0);
  size_t bit = 0;
  for (uint8_t& index : indices) {
    for (int b = 0; b < bits; ++b, ++bit) {
      index |= static_cast<uint8_t>((packed[bit / kByte] >> bit % kByte & 1) << b);
    }
  }
  return indices;
}

std::vector<float> KMeans(std::span<const float> values, int k) {
  if (values.empty()) return {0};
  constexpr int kMostIterations = 100;
  const SortedValues sorted(values);
  std::vector<double> centers = FirstCenters(sorted.values, k);
  for (int i = 0; i < kMostIterations; ++i) {
    std::vector<double> moved = Moved(sorted, centers);
    if (moved == centers) break;
    centers = std::move(moved);
    std::ranges::sort(centers);
  }
  std::vector<float> codebook(centers.begin(), centers.end());
  std::ranges::sort(codebook);
  codebook.erase(std::unique(codebook.begin(), codebook.end()), codebook.end());
  return codebook;
}

ClusteredTensor Cluster(const Tensor& tensor, int clusters) {
  return Indexed(tensor, KMeans(tensor.as<float>(), clusters), clusters);
}

std::optional<ClusteredTensor> IndexValues(const Tensor& tensor, int clusters) {
  std::set<float> different;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    different.insert(static_cast<float>(tensor.ToDouble(i)));
    if (std::ssize(different) > clusters) return std::nullopt;
  }
  return Indexed(tensor, std::vector<float>(different.begin(), different.end()), clusters);
}

absl::StatusOr<Tensor> Expand(const ClusteredTensor& clustered) {
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DType::kF32, clustered.shape));
  ASSIGN_OR_RETURN(const std::vector<uint8_t> indices,
                   UnpackIndices(clustered.packed, clustered.bits, tensor.num_elements()));
  const std::span<float> out = tensor.as_mutable<float>();
  for (size_t i = 0; i < out.size(); ++i) {
    if (indices[i] >= clustered.codebook.size()) {
      return InvalidInput("index ", int{indices[i]}, " of a codebook of ", clustered.codebook.size());
    }
    out[i] = clustered.codebook[indices[i]];
  }
  return tensor;
}

std::vector<ClusteredLayer> ClusterWeights(Graph& graph, int clusters, const std::set<std::string>& except,
                                           int64_t min_elements) {
  const GraphNames names(graph);
  std::vector<ClusteredLayer> clustered;
  for (Node* layer : LayersOf(graph)) {
    const Tensor& weights = *layer->input(1)->constant();
    const auto is_finite = [](float weight) { return std::isfinite(weight); };
    if (weights.num_elements() < min_elements || except.contains(names.Of(layer))) continue;
    if (!std::ranges::all_of(weights.as<float>(), is_finite)) continue;
    ClusteredTensor tensor = Cluster(weights, clusters);
    absl::StatusOr<Tensor> expanded = Expand(tensor);
    if (!expanded.ok()) continue;  // out of memory: the layer stays as it is
    layer->SetInput(1, graph.AddConstant(*std::move(expanded), layer->name(), layer));
    clustered.push_back({names.Of(layer), std::move(tensor)});
  }
  EraseUnusedConstants(graph);
  return clustered;
}

}  // namespace attune::quant
