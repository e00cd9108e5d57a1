#include "random_case.h"

#include <algorithm>
#include <cmath>

#include "patterns.h"
#include "recipes.h"

namespace attune::graph_fuzz {

RandomCase MakeRandomCase(uint64_t seed) {
  constexpr double kMedian = 8, kSpread = 0.7, kMost = 32;  // a pattern may add some more
  GraphMaker maker(seed);
  const auto size =
      static_cast<int>(std::clamp(kMedian * std::exp(kSpread * maker.random().Normal()), 1.0, kMost));
  for (int tries = 0; maker.num_nodes() < size && tries < size + 8; ++tries) {
    if (maker.OneIn(6)) {
      Patterns()[static_cast<size_t>(maker.Pick(std::ssize(Patterns())))].add(maker);
    } else {
      AddRandomNode(maker);
    }
  }
  return maker.Finish();
}

}  // namespace attune::graph_fuzz
