// For tests: keeps the events of a device host.
#ifndef ATTUNE_FLEET_HOST_HOST_EVENTS_FOR_TEST_H_
#define ATTUNE_FLEET_HOST_HOST_EVENTS_FOR_TEST_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "fleet/host/device_host.h"

namespace attune {

// Thread safe.
class EventLogOfTest {
 public:
  OnHostEvent Collect() {
    return [this](const HostEvent& event) {
      const std::lock_guard<std::mutex> lock(mutex_);
      events_.push_back(event);
      changed_.notify_all();
    };
  }

  // The events of this type so far, in their order.
  template <typename Event>
  std::vector<Event> All() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return AllLocked<Event>();
  }

  // Waits until there are `count` events of this type.
  template <typename Event>
  void Await(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    AwaitThat([&] { return AllLocked<Event>().size() >= count; }, lock);
  }

  // The results of a batch by the indices of their items, once it is over.
  std::map<int64_t, HostResult> AwaitResults(int64_t batch) {
    std::unique_lock<std::mutex> lock(mutex_);
    AwaitThat(
        [&] { return std::ranges::count(AllLocked<HostBatchOver>(), batch, &HostBatchOver::number) > 0; },
        lock);
    std::map<int64_t, HostResult> results;
    for (const HostResult& result : AllLocked<HostResult>()) {
      if (result.number != batch) continue;
      EXPECT_TRUE(results.emplace(result.index, result).second) << result.index << " has two results";
    }
    return results;
  }

 private:
  // Waits, but not for a host that is lost.
  void AwaitThat(const std::function<bool()>& has_come, std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [&] { return has_come() || !AllLocked<HostLost>().empty(); });
    EXPECT_TRUE(has_come()) << "it does not come after " << events_.size() << " events";
  }

  template <typename Event>
  std::vector<Event> AllLocked() const {
    std::vector<Event> found;
    for (const HostEvent& event : events_)
      if (const auto* one = std::get_if<Event>(&event)) found.push_back(*one);
    return found;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<HostEvent> events_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_HOST_HOST_EVENTS_FOR_TEST_H_
