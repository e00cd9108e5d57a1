#include "process/setup/processor_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ShareProcessors, KeepsCoresWhole) {
  // Four cores of two hyper-threads, numbered as Linux does.
  std::vector<Processor> processors;
  for (int i = 0; i < 8; ++i) processors.push_back({.number = i, .core = i % 4});
  const ProcessorShares shares = ShareProcessors(processors);
  EXPECT_THAT(shares.measuring, ElementsAre(0, 1, 2, 4, 5, 6));
  EXPECT_THAT(shares.computing, ElementsAre(3, 7));
}

TEST(ShareProcessors, GivesEachOfTwoCoresToOneSide) {
  const ProcessorShares shares =
      ShareProcessors(std::vector<Processor>{{.number = 3, .core = 3}, {.number = 5, .core = 5}});
  EXPECT_THAT(shares.measuring, ElementsAre(3));
  EXPECT_THAT(shares.computing, ElementsAre(5));
}

TEST(ShareProcessors, SharesASingleCore) {
  const ProcessorShares shares = ShareProcessors(std::vector<Processor>{{.number = 2, .core = 2}});
  EXPECT_THAT(shares.measuring, ElementsAre(2));
  EXPECT_THAT(shares.computing, ElementsAre(2));
  EXPECT_THAT(ShareProcessors({}).measuring, IsEmpty());
}

}  // namespace
}  // namespace attune
