#include "fleet/leases/request_queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "fleet/leases/device_owners.h"

namespace attune {

int64_t RequestQueue::Add(const DeviceRequest& request) {
  const int64_t number = ++last_;
  waiting_.emplace(number, request);
  owners_[request.owner].waiting[request.key].insert({.priority = request.priority, .number = number});
  return number;
}

void RequestQueue::Remove(int64_t request) {
  const auto found = waiting_.find(request);
  if (found == waiting_.end()) return;
  const DeviceRequest& removed = found->second;
  Owner& owner = owners_.at(removed.owner);
  const auto places = owner.waiting.find(removed.key);
  places->second.erase({.priority = removed.priority, .number = request});
  if (places->second.empty()) owner.waiting.erase(places);
  ForgetIfIdle(removed.owner);
  waiting_.erase(found);
}

std::map<std::string, int> RequestQueue::NumByKey() const {
  std::map<std::string, int> num;
  for (const auto& [number, request] : waiting_) ++num[request.key];
  return num;
}

void RequestQueue::Hold(const std::string& owner) { ++owners_[owner].held; }

void RequestQueue::GiveBack(const std::string& owner) {
  --owners_.at(owner).held;
  ForgetIfIdle(owner);
}

void RequestQueue::ForgetIfIdle(const std::string& owner) {
  const auto found = owners_.find(owner);
  if (found->second.held == 0 && found->second.waiting.empty()) owners_.erase(found);
}

void RequestQueue::Serve(const GiveDevice& give) {
  // The first place for each key that may still get a device, by owner.
  std::map<std::string, std::map<Place, std::string>> asking;
  for (const auto& [name, owner] : owners_)
    for (const auto& [key, places] : owner.waiting) asking[name].emplace(*places.begin(), key);
  const auto turn = [this](const auto& entry) {
    const auto& [owner, firsts] = entry;
    const Place& next = firsts.begin()->first;
    const int rank = owner != kFleetItself ? 0 : next.priority < 0 ? 1 : -1;
    return std::tuple(rank, owners_.at(owner).held, -int64_t{next.priority}, next.number);
  };
  while (!asking.empty()) {
    const auto next = std::ranges::min_element(asking, {}, turn);
    auto& [owner, firsts] = *next;
    const auto [place, key] = *firsts.begin();
    firsts.erase(firsts.begin());
    if (give(place.number, waiting_.at(place.number))) {
      const std::set<Place>& places = owners_.at(owner).waiting.at(key);
      if (places.size() > 1) firsts.emplace(*std::next(places.begin()), key);
      Remove(place.number);
    }
    if (firsts.empty()) asking.erase(next);
  }
}

}  // namespace attune
