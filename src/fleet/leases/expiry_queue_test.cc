#include "fleet/leases/expiry_queue.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(ExpiryQueueTest, NamesExpireInTheOrderOfTheirTimes) {
  ExpiryQueue queue;
  EXPECT_EQ(queue.TakeExpired(9), std::nullopt);
  queue.Put("late", 3);
  queue.Put("early", 1);
  queue.Put("middle", 2);
  EXPECT_EQ(queue.TakeExpired(0.5), std::nullopt);
  EXPECT_EQ(queue.TakeExpired(2), "early");
  EXPECT_EQ(queue.TakeExpired(2), "middle");  // at its time, no later
  EXPECT_EQ(queue.TakeExpired(2), std::nullopt);
}

TEST(ExpiryQueueTest, ANameHasOneTime) {
  ExpiryQueue queue;
  queue.Put("a", 1);
  queue.Put("b", 1);
  queue.Put("a", 5);
  EXPECT_EQ(queue.TakeExpired(4), "b");
  EXPECT_EQ(queue.TakeExpired(4), std::nullopt);
  queue.Put("a", 2);
  EXPECT_EQ(queue.TakeExpired(4), "a");
  queue.Put("a", 2);
  queue.Erase("a");
  queue.Erase("a");
  EXPECT_EQ(queue.TakeExpired(9), std::nullopt);
}

}  // namespace
}  // namespace attune
