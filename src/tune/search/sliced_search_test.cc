#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "tune/search/search.h"
#include "tune/search/synthetic_space_for_test.h"
#include "tune/task/sliced_space.h"

namespace attune {
namespace {

SyntheticSpace RandomSpace(Random& random) {
  std::vector<SyntheticStrategy> strategies;
  const int64_t count = random.Integer(1, 3);
  for (int64_t s = 0; s < count; ++s) {
    SyntheticStrategy& strategy = strategies.emplace_back();
    strategy.name = absl::StrCat("s", s);
    const int64_t knobs = random.Integer(1, 4);
    for (int64_t k = 0; k < knobs; ++k) {
      strategy.sizes.push_back(random.Integer(1, 6));
      strategy.optimum.push_back(random.Integer(0, strategy.sizes.back() - 1));
    }
  }
  return SyntheticSpace(std::move(strategies));
}

TEST(Slices, AreDisjointAndCompleteAndOfAboutTheSameSize) {
  constexpr int kSpaces = 200, kMostSlices = 16;
  Random random(1);
  for (int n = 0; n < kSpaces; ++n) {
    const SyntheticSpace space = RandomSpace(random);
    const int count = static_cast<int>(random.Integer(1, kMostSlices));
    for (int64_t i = 0; i < space.size(); ++i) {
      int slices = 0;
      for (int slice = 0; slice < count; ++slice) slices += Slice{slice, count}.Has(space.At(i)) ? 1 : 0;
      ASSERT_EQ(slices, 1) << "candidate " << i << " of " << count << " slices";
    }
  }
  const SyntheticSpace space = MediumSpace();
  constexpr int kCount = 4;
  std::vector<int64_t> sizes(kCount);
  for (int64_t i = 0; i < space.size(); ++i)
    for (int slice = 0; slice < kCount; ++slice)
      sizes[static_cast<size_t>(slice)] += Slice{slice, kCount}.Has(space.At(i)) ? 1 : 0;
  for (const int64_t size : sizes)
    EXPECT_NEAR(static_cast<double>(size * kCount), space.size(), 0.1 * space.size());
}

// Otherwise runners of different versions would search the same candidates.
TEST(Slices, AreTheSameForEver) {
  std::string text;
  const SyntheticSpace space = SmallSpace();
  for (int64_t i = 0; i < space.size(); ++i)
    for (int slice = 0; slice < 3; ++slice)
      if (Slice{slice, 3}.Has(space.At(i))) absl::StrAppend(&text, slice);
  EXPECT_EQ(text, "010020200010112100220022002");
}

TEST(Slices, AMoveStaysWithin) {
  SyntheticSpace space = MediumSpace();
  Random random(1);
  int moves = 0;
  for (int slice = 0; slice < 3; ++slice) {
    SlicedSpace sliced(space, {slice, 3});
    for (int i = 0; i < 100; ++i) {
      const std::optional<Candidate> sample = sliced.Sample(random);
      ASSERT_TRUE(sample.has_value() && sliced.IsValid(*sample));
      const std::optional<Candidate> neighbour = sliced.Neighbour(*sample, random);
      ASSERT_TRUE(!neighbour.has_value() || sliced.IsValid(*neighbour));
      moves += neighbour.has_value() ? 1 : 0;
    }
  }
  EXPECT_GT(moves, 200);  // a candidate at a corner may have no neighbour within
}

// All candidates that a strategy proposes until its slice of the space is exhausted.
std::vector<Candidate> SearchAll(const SearchStrategyInfo& info, SyntheticSpace& space, Slice slice) {
  SlicedSpace sliced(space, slice);
  const auto strategy = info.create({.seed = 1});
  std::vector<Candidate> all;
  for (;;) {
    const std::vector<Candidate> batch = strategy->Propose(4, {&sliced, nullptr});
    if (batch.empty()) return all;
    std::vector<Trial> trials;
    for (const Candidate& candidate : batch) trials.push_back({candidate, true, space.Seconds(candidate)});
    strategy->Observe(trials);
    all.insert(all.end(), batch.begin(), batch.end());
  }
}

TEST(Slices, TogetherFindWhatAnUndividedSearchFinds) {
  for (const SearchStrategyInfo& info : AllSearchStrategies()) {
    SyntheticSpace space = SmallSpace();
    const std::vector<Candidate> undivided = SearchAll(info, space, {});
    std::vector<Candidate> together;
    for (int slice = 0; slice < 2; ++slice)
      for (Candidate& candidate : SearchAll(info, space, {slice, 2}))
        together.push_back(std::move(candidate));
    EXPECT_EQ(std::ssize(together), space.num_valid()) << info.name;
    EXPECT_EQ(std::set<Candidate>(together.begin(), together.end()),
              std::set<Candidate>(undivided.begin(), undivided.end()))
        << info.name;
  }
}

}  // namespace
}  // namespace attune
