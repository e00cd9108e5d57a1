#include "fleet/host/batch_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace attune {
namespace {

TEST(BatchQueue, GivesBatchesInTheOrderInWhichTheyCame) {
  BatchQueue queue;
  EXPECT_FALSE(queue.Take(After(0)).has_value());
  queue.Add({.number = 3});
  queue.Add({.number = 1});
  EXPECT_EQ(queue.Take(After(0))->number, 3);
  EXPECT_EQ(queue.Take(After(0))->number, 1);
  EXPECT_FALSE(queue.Take(After(0)).has_value());
}

TEST(BatchQueue, CancelsTheCurrentBatchOrOneThatWaits) {
  BatchQueue queue;
  for (const int number : {1, 2, 3}) queue.Add({.number = number});
  queue.Cancel(2);
  queue.Take(After(0));
  EXPECT_FALSE(queue.IsCancelled());
  queue.Cancel(1);
  EXPECT_TRUE(queue.IsCancelled());
  queue.Take(After(0));
  EXPECT_TRUE(queue.IsCancelled());
  queue.Take(After(0));
  queue.Cancel(1);  // it is over
  EXPECT_FALSE(queue.IsCancelled());
}

TEST(BatchQueue, WakesAThreadThatWaits) {
  BatchQueue queue;
  std::thread taker([&] {
    EXPECT_EQ(queue.Take(kNoDeadline)->number, 1);
    EXPECT_TRUE(queue.AwaitCancellation(kNoDeadline));
  });
  queue.Add({.number = 1});
  queue.Cancel(1);
  taker.join();
}

TEST(BatchQueue, GivesNothingOnceItIsClosed) {
  BatchQueue queue;
  queue.Add({.number = 1});
  queue.Add({.number = 2});
  queue.Take(After(0));
  std::thread waiting([&] { EXPECT_TRUE(queue.AwaitCancellation(kNoDeadline)); });
  queue.Close();
  waiting.join();
  queue.Add({.number = 3});
  EXPECT_FALSE(queue.Take(kNoDeadline).has_value());
  EXPECT_TRUE(queue.is_closed());
}

}  // namespace
}  // namespace attune
