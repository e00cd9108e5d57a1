// Weight clustering: a tensor of 16 or 32 different numbers, each stored as an index of 4 or 5 bits (Han,
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

// Element i of a tensor of few different numbers is codebook[index i]; indices are packed from the lowest bit
// of the first byte on, across bytes.
struct ClusteredTensor {
  Shape shape;
  std::vector<float> codebook;  // ascending
  int bits = 0;                 // of an index: 4 or 5
  std::vector<uint8_t> packed;

  // What it takes: packed indices and codebook.
  int64_t num_bytes() const;
};

// The bits that indices of so many clusters need.
int BitsFor(int clusters);

// `indices` of `bits` (1 to 8) each, one after the other, the lowest bit first.
std::vector<uint8_t> PackIndices(std::span<const uint8_t> indices, int bits);
// The first `count` of them. An error where `packed` holds fewer.
absl::StatusOr<std::vector<uint8_t>> UnpackIndices(std::span<const uint8_t> packed, int bits, int64_t count);

// The k numbers, ascending, with a small sum of squared distances of `values` to the nearest of them: k-means
// in one dimension (Lloyd's iterations over sorted values and their prefix sums), begun by k-means++ (Arthur,
// Vassilvitskii, 2007) with a fixed seed: the same values give the same numbers. Fewer where `values` has
// fewer different ones. `values` are finite.
std::vector<float> KMeans(std::span<const float> values, int k);

// `tensor`, f32, by at most `clusters` numbers, 16 or 32.
ClusteredTensor Cluster(const Tensor& tensor, int clusters);
// A tensor of f32 or i8 exactly; nothing where it has more than `clusters` different numbers.
std::optional<ClusteredTensor> IndexValues(const Tensor& tensor, int clusters);
// The numbers in f32. An error where an index is beyond the codebook, or the packed indices are too few.
absl::StatusOr<Tensor> Expand(const ClusteredTensor& clustered);

struct ClusteredLayer {
  std::string layer;  // as GraphNames names it
  ClusteredTensor weights;
};

// Gives each layer of `graph`, but those named in `except`, whose weights are finite and at least
// `min_elements` clustered weights in their place, one codebook a tensor, and returns these. For layers that
// stay floats: integers are clustered as they are quantized (QuantizeWeights), which keeps a scale for each
// channel beside the one codebook.
std::vector<ClusteredLayer> ClusterWeights(Graph& graph, int clusters,
                                           const std::set<std::string>& except = {},
                                           int64_t min_elements = kLeastClustered);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_CLUSTER_H_
