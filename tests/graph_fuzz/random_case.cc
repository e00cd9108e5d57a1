#include "random_case.h"

#include <algorithm>
#include <cmath>

#include "patterns.h"
#include "recipes.h"

namespace attune::graph_fuzz {

RandomCase MakeRandomCase(uint64_t seed) {
  constexpr double kMedian = 7, kSpread = 0.7;
  constexpr int kMostNodes = 40, kLargestPattern = 24;
  GraphMaker maker(seed, kMostNodes);
  const auto size = static_cast<int>(
      std::clamp(kMedian * std::exp(kSpread * maker.random().Normal()), 1.0, 1.0 * kMostNodes));
  for (int tries = 0; maker.num_nodes() < size && tries < size + 8; ++tries) {
    if (maker.num_nodes() + kLargestPattern < kMostNodes && maker.OneIn(2)) {
      AddRandomPattern(maker);
    } else {
      AddRandomNode(maker);
    }
  }
  return maker.Finish();
}

RandomCase MakeIntegerCase(uint64_t seed) {
  constexpr int kMostNodes = 12;
  GraphMaker maker(seed, kMostNodes, GraphMaker::Numbers::kIntegers);
  const int64_t size = 1 + maker.Pick(kMostNodes);
  while (maker.num_nodes() < size && AddRandomNode(maker) != nullptr) {
  }
  return maker.Finish();
}

}  // namespace attune::graph_fuzz
