// Weight clustering: a tensor of 16 or 32 distinct numbers, each stored as an index of 4 or 5 bits (Han,
// Mao, Dally: Deep Compression, 2016, section 3).
#ifndef ATTUNE_QUANT_CLUSTER_H_
#define ATTUNE_QUANT_CLUSTER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace attune::quant {

// Weights of fewer elements than this are not clustered: a codebook would not pay.
inline constexpr int64_t kLeastClustered = 1024;

// A tensor with few distinct numbers: element i is codebook[index i]. Indices are packed without gaps,
// starting at the lowest bit of the first byte.
struct ClusteredTensor {
  Shape shape;
  std::vector<float> codebook;  // ascending
  int bits = 0;                 // bits per index: 4 or 5
  std::vector<uint8_t> packed;

  // The size of the packed indices and the codebook.
  int64_t num_bytes() const;
};

// The number of bits that indices of `clusters` clusters need.
int BitsFor(int clusters);

// Packs `indices` with `bits` (1 to 8) bits each, without gaps, the lowest bit first.
std::vector<uint8_t> PackIndices(std::span<const uint8_t> indices, int bits);
// Unpacks the first `count` indices. Fails if `packed` has fewer.
absl::StatusOr<std::vector<uint8_t>> UnpackIndices(std::span<const uint8_t> packed, int bits, int64_t count);

// Returns k numbers, ascending, with a small sum of squared distances from `values` to the nearest of them:
// k-means in one dimension (Lloyd's iterations over sorted values and their prefix sums), initialized by
// k-means++ (Arthur, Vassilvitskii, 2007) with a fixed seed, so the result is deterministic. Returns fewer
// if `values` has fewer distinct ones. `values` must be finite.
std::vector<float> KMeans(std::span<const float> values, int k);

// Approximates `tensor`, f32, with at most `clusters` numbers, 16 or 32.
ClusteredTensor Cluster(const Tensor& tensor, int clusters);
// Represents a tensor of f32 or i8 exactly; nullopt if it has more than `clusters` distinct numbers.
std::optional<ClusteredTensor> IndexValues(const Tensor& tensor, int clusters);
// The tensor in f32. Fails if an index is beyond the codebook, or if there are too few packed indices.
absl::StatusOr<Tensor> Expand(const ClusteredTensor& clustered);

struct ClusteredLayer {
  std::string layer;  // named as in GraphNames
  ClusteredTensor weights;
};

// Clusters the weights of each layer of `graph`, one codebook per tensor, and returns the new weights;
// skips the layers in `except` and those with non-finite weights or fewer than `min_elements` of them. For
// layers that stay in float: integer weights are clustered when they are quantized (QuantizeWeights), which
// keeps a scale per channel beside the one codebook.
std::vector<ClusteredLayer> ClusterWeights(Graph& graph, int clusters,
                                           const std::set<std::string>& except = {},
                                           int64_t min_elements = kLeastClustered);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_CLUSTER_H_
