#include "fleet/server/held_leases.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "base/status.h"
#include "fleet/wire/checked_messages.h"
#include "measure/answer_check.h"
#include "measure/codec.h"

namespace attune {

std::vector<fleet_proto::Item> HeldLeases::Lease::OpenItems() const {
  std::vector<fleet_proto::Item> items;
  for (const auto& [index, item] : open) items.push_back(item);
  return items;
}

absl::Status HeldLeases::Lease::Open(const fleet_proto::Items& items) {
  const auto is_new = [&](const fleet_proto::Item& item) { return !open.contains(item.index()); };
  if (std::ssize(open) + std::ranges::count_if(items.items(), is_new) > kMaxItemsOfLease)
    return InvalidInput("a lease has at most ", kMaxItemsOfLease, " items that wait");
  for (const fleet_proto::Item& item : items.items()) open[item.index()] = item;
  return absl::OkStatus();
}

absl::StatusOr<bool> HeldLeases::Lease::TakeResult(int32_t index, const Measurement& measurement) {
  const auto item = open.find(index);
  if (item == open.end()) return false;
  const auto asked = DecodeWorkerRequest(item->second.item());
  if (asked.ok()) RETURN_IF_ERROR(CheckAnswer(std::get<MeasureItem>(*asked), measurement));
  open.erase(item);
  return true;
}

HeldLeases::Lease& HeldLeases::Add(const LeaseToken& token, Lease lease) {
  by_device_[lease.device] = token;
  return leases_[token] = std::move(lease);
}

void HeldLeases::Remove(const LeaseToken& token) {
  const auto lease = leases_.find(token);
  if (lease == leases_.end()) return;
  by_device_.erase(lease->second.device);
  leases_.erase(lease);
}

HeldLeases::Lease* HeldLeases::Find(const LeaseToken& token) {
  const auto lease = leases_.find(token);
  return lease == leases_.end() ? nullptr : &lease->second;
}

const HeldLeases::Lease* HeldLeases::Find(const LeaseToken& token) const {
  const auto lease = leases_.find(token);
  return lease == leases_.end() ? nullptr : &lease->second;
}

std::optional<LeaseToken> HeldLeases::OfDevice(const std::string& device) const {
  const auto token = by_device_.find(device);
  if (token == by_device_.end()) return std::nullopt;
  return token->second;
}

}  // namespace attune
