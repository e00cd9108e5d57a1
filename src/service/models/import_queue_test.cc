#include "service/models/import_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace attune {
namespace {

using ::testing::ElementsAre;

TEST(ImportQueueTest, TenantsTakeTurns) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> imported;
  ImportQueue queue(1, 3, [&](const std::string& tenant, const std::string& id) {
    const std::lock_guard<std::mutex> lock(mutex);
    imported.push_back(tenant + id);
    changed.notify_all();
  });
  for (const char* id : {"1", "2", "3"}) EXPECT_TRUE(queue.Add("ann", id));
  EXPECT_TRUE(queue.Add("ann", "2"));   // waits already
  EXPECT_FALSE(queue.Add("ann", "4"));  // too many
  EXPECT_TRUE(queue.Add("bob", "1"));
  EXPECT_TRUE(queue.Add("cid", "1"));
  EXPECT_EQ(queue.counts().waiting, 5);
  ASSERT_TRUE(queue.Begin().ok());
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return imported.size() == 5; });
  EXPECT_THAT(imported, ElementsAre("ann1", "bob1", "cid1", "ann2", "ann3"));
}

TEST(ImportQueueTest, NothingBeginsOnceItIsStopped) {
  ImportQueue queue(2, 3, [](const std::string&, const std::string&) { ADD_FAILURE(); });
  EXPECT_TRUE(queue.Add("ann", "1"));
  queue.Stop();
  EXPECT_FALSE(queue.Add("ann", "2"));
  EXPECT_EQ(queue.counts().waiting, 0);
}

}  // namespace
}  // namespace attune
