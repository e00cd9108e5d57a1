// Enumerates every candidate once, in an order that covers the space evenly from the start; for comparison.
//
// The i-th candidate has the index i·step mod size. The step is close to size over the golden ratio and has
// no factor in common with the size, so each prefix is spread about evenly and no candidate comes twice.
#include <algorithm>
#include <numbers>
#include <numeric>

#include "tune/search/search_base.h"

namespace attune {
namespace {

// A batch looks at no more candidates than this: enough for a space where one candidate in a hundred is
// valid.
constexpr int64_t kMaxAttempts = 20'000;

class Grid : public SearchBase {
 public:
  using SearchBase::SearchBase;

 protected:
  void Extend(const SearchState&) override {
    const int64_t size = space().size();
    if (step_ == 0) step_ = StepFor(size);
    for (int64_t attempts = kMaxAttempts; attempts > 0 && looked_at_ < size && !is_full(); --attempts) {
      Add(space().At(index_));
      index_ = static_cast<int64_t>((static_cast<__int128>(index_) + step_) % size);
      ++looked_at_;
    }
  }

 private:
  static int64_t StepFor(int64_t size) {
    auto step = static_cast<int64_t>(static_cast<double>(size) / std::numbers::phi);
    step = std::clamp<int64_t>(step, 1, std::max<int64_t>(size - 1, 1));
    while (std::gcd(step, size) != 1) --step;
    return step;
  }

  int64_t step_ = 0, index_ = 0, looked_at_ = 0;
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeGrid(const SearchOptions& options) {
  return std::make_unique<Grid>(options);
}

}  // namespace attune
