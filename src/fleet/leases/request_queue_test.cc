#include "fleet/leases/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "fleet/leases/device_owners.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// Serves the queue with this many devices of each key. Returns the requests that got one, in their order.
std::vector<int64_t> ServeWith(std::map<std::string, int> devices, RequestQueue& queue) {
  std::vector<int64_t> served;
  queue.Serve([&](int64_t number, const DeviceRequest& request) {
    if (devices[request.key]-- <= 0) return false;
    queue.Hold(request.owner);
    served.push_back(number);
    return true;
  });
  return served;
}

TEST(RequestQueueTest, AnOwnersRequestsGoByPriorityThenByNumber) {
  RequestQueue queue;
  const int64_t low = queue.Add({.key = "x"}), first = queue.Add({.key = "x", .priority = 2});
  const int64_t second = queue.Add({.key = "y", .priority = 2});
  EXPECT_THAT(ServeWith({{"x", 9}, {"y", 9}}, queue), ElementsAre(first, second, low));
  EXPECT_TRUE(queue.empty());
}

TEST(RequestQueueTest, TheNextIsOfTheOwnerWhoHoldsTheFewest) {
  RequestQueue queue;
  std::vector<int64_t> anns;
  for (int i = 0; i < 3; ++i) anns.push_back(queue.Add({.key = "x", .owner = "ann", .priority = 5}));
  queue.Hold("bob");
  const int64_t bobs = queue.Add({.key = "x", .owner = "bob", .priority = 1});
  EXPECT_THAT(ServeWith({{"x", 3}}, queue), ElementsAre(anns[0], anns[1], bobs));
  queue.GiveBack("ann");
  queue.GiveBack("ann");
  const int64_t again = queue.Add({.key = "x", .owner = "bob", .priority = 9});
  EXPECT_THAT(ServeWith({{"x", 2}}, queue), ElementsAre(anns[2], again));
}

TEST(RequestQueueTest, TheFleetsOwnGoFirstOrLast) {
  RequestQueue queue;
  const int64_t last = queue.Add({.key = "x", .owner = kFleetItself, .priority = -1});
  const int64_t anns = queue.Add({.key = "x", .owner = "ann", .priority = 9});
  const int64_t urgent = queue.Add({.key = "x", .owner = kFleetItself, .priority = 1});
  EXPECT_THAT(ServeWith({{"x", 3}}, queue), ElementsAre(urgent, anns, last));
}

TEST(RequestQueueTest, OneRefusalStandsForAllOfItsOwnerAndKey) {
  RequestQueue queue;
  for (int i = 0; i < 100; ++i) queue.Add({.key = "x", .owner = "ann", .priority = 1});
  const int64_t other = queue.Add({.key = "y", .owner = "ann"}),
                bobs = queue.Add({.key = "x", .owner = "bob"});
  std::vector<int64_t> asked;
  queue.Serve([&](int64_t number, const DeviceRequest& request) {
    asked.push_back(number);
    return request.key == "y";
  });
  EXPECT_THAT(asked, ElementsAre(1, other, bobs));
  EXPECT_THAT(queue.NumByKey(), ElementsAre(Pair("x", 101)));
}

TEST(RequestQueueTest, RemovedRequestsAreNotServed) {
  RequestQueue queue;
  const int64_t first = queue.Add({.key = "x"}), second = queue.Add({.key = "x"});
  queue.Remove(first);
  queue.Remove(first);
  queue.Remove(77);
  EXPECT_THAT(queue.NumByKey(), ElementsAre(Pair("x", 1)));
  EXPECT_THAT(ServeWith({{"x", 9}}, queue), ElementsAre(second));
  queue.Remove(second);  // it has been served
  EXPECT_THAT(queue.NumByKey(), IsEmpty());
  EXPECT_THAT(ServeWith({{"x", 9}}, queue), SizeIs(0));
}

}  // namespace
}  // namespace attune
