// FleetLeases beside a twin that computes everything anew with each call: whatever happens, in any order,
// both say the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fleet/leases/fleet_leases.h"

namespace attune {
namespace {

constexpr double kLease = 15;

class NaiveLeases {
 public:
  NaiveLeases(int64_t epoch, std::optional<double> begin, const DeviceOwners& owners)
      : epoch_(epoch), grants_from_(begin ? *begin + kLease : 0), owners_(owners) {}

  void Join(const std::string& name, const std::set<std::string>& keys, double now,
            const std::set<std::string>& owners) {
    Device& device = devices_[name];
    device.keys = keys;
    device.owners = owners;
    device.seen = now;
  }
  bool Restore(const std::string& name, const LeaseToken& token, double now) {
    if (token.epoch >= epoch_ || devices_[name].lease || Find(token)) return false;
    Device& device = devices_[name];
    device.lease = token;
    device.holder = "";
    device.seen = device.holder_seen = now;
    return true;
  }
  void Drain(const std::string& name) { SetDrained(name, true); }
  void Resume(const std::string& name) { SetDrained(name, false); }
  void Remove(const std::string& name) { devices_.erase(name); }
  void DeviceIsAlive(const std::string& name, double now) {
    if (devices_.contains(name)) devices_[name].seen = now;
  }
  int64_t Ask(const DeviceRequest& request) {
    waiting_.emplace(++last_request_, request);
    return last_request_;
  }
  void Withdraw(int64_t request) { waiting_.erase(request); }
  bool HolderIsAlive(const LeaseToken& token, double now) {
    Device* device = Find(token);
    if (device != nullptr) device->holder_seen = now;
    return device != nullptr;
  }
  bool Release(const LeaseToken& token) {
    Device* device = Find(token);
    if (device != nullptr) device->lease.reset();
    return device != nullptr;
  }

  std::vector<LostLease> EndSilent(double now) {
    std::map<LeaseToken, LostLease> lost;
    for (auto& [name, device] : devices_) {
      const bool device_was_silent = now >= device.seen + kLease;
      if (!device.lease || (!device_was_silent && now < device.holder_seen + kLease)) continue;
      lost[*device.lease] = {.device = name, .token = *device.lease, .device_was_silent = device_was_silent};
      device.lease.reset();
    }
    std::vector<LostLease> ended;
    for (const auto& [token, lease] : lost) ended.push_back(lease);
    return ended;
  }

  std::vector<DeviceGrant> Grant(double now) {
    std::vector<DeviceGrant> grants;
    if (now < grants_from_) return grants;
    std::set<int64_t> refused;
    while (const std::optional<int64_t> number = Next(refused)) {
      const DeviceRequest request = waiting_.at(*number);
      Device* device = Choose(request, now);
      if (device == nullptr) {
        refused.insert(*number);
        continue;
      }
      device->lease = {.epoch = epoch_, .number = ++last_token_};
      device->holder = request.owner;
      device->holder_seen = now;
      waiting_.erase(*number);
      grants.push_back({.request = *number, .device = NameOf(*device), .token = *device->lease});
    }
    return grants;
  }

  std::map<std::string, int> Waiting() const {
    std::map<std::string, int> waiting;
    for (const auto& [number, request] : waiting_) ++waiting[request.key];
    return waiting;
  }
  // The tokens of all leases, by device.
  std::map<std::string, LeaseToken> Held() const {
    std::map<std::string, LeaseToken> held;
    for (const auto& [name, device] : devices_)
      if (device.lease) held[name] = *device.lease;
    return held;
  }

 private:
  struct Device {
    std::set<std::string> keys, owners;
    double seen = 0, holder_seen = 0;
    bool is_drained = false;
    std::optional<LeaseToken> lease;
    std::string holder;
  };

  void SetDrained(const std::string& name, bool is_drained) {
    if (devices_.contains(name)) devices_[name].is_drained = is_drained;
  }
  Device* Find(const LeaseToken& token) {
    for (auto& [name, device] : devices_)
      if (device.lease == token) return &device;
    return nullptr;
  }
  std::string NameOf(const Device& wanted) const {
    return std::ranges::find_if(devices_, [&](const auto& entry) { return &entry.second == &wanted; })->first;
  }
  // The request whose turn it is, among those that were not refused.
  std::optional<int64_t> Next(const std::set<int64_t>& refused) const {
    const auto turn = [&](const auto& entry) {
      const auto& [number, request] = entry;
      const int64_t held = std::ranges::count_if(devices_, [&](const auto& device) {
        return device.second.lease && device.second.holder == request.owner;
      });
      const int rank = request.owner != kFleetItself ? 0 : request.priority < 0 ? 1 : -1;
      return std::tuple(refused.contains(number), rank, held, -int64_t{request.priority}, number);
    };
    const auto next = std::ranges::min_element(waiting_, {}, turn);
    if (next == waiting_.end() || refused.contains(next->first)) return std::nullopt;
    return next->first;
  }
  // The first device that will do.
  Device* Choose(const DeviceRequest& request, double now) {
    const auto meaning = owners_.MeaningOf(request.owner, request.key);
    if (!meaning) return nullptr;
    for (auto& [name, device] : devices_) {
      const bool is_free = !device.lease && !device.is_drained && now < device.seen + kLease;
      const bool is_meant = device.keys.contains(meaning->key) && owners_.OwnerOf(name) == meaning->owner &&
                            owners_.MayUse(name, request.owner);
      const bool serves =
          request.owner == kFleetItself || device.owners.empty() || device.owners.contains(request.owner);
      if (is_free && is_meant && serves) return &device;
    }
    return nullptr;
  }

  const int64_t epoch_;
  const double grants_from_;
  const DeviceOwners& owners_;
  int64_t last_request_ = 0, last_token_ = 0;
  std::map<std::string, Device> devices_;
  std::map<int64_t, DeviceRequest> waiting_;
};

// Does the same to both, drawn at random.
class BothLeases {
 public:
  explicit BothLeases(uint32_t seed) : random_(seed) {
    for (const char* owner : {"ann", "bob"}) owners_.SetTrust(owner, {"ann", "bob", kServersOwner});
  }

  void Step() {
    now_ += Draw(3) == 0 ? Draw(8) : 0.25 * Draw(4);
    switch (Draw(12)) {
      case 0:
      case 1:
        return Join();
      case 2:
      case 3:
        return DeviceIsAlive();
      case 4:
      case 5:
        return Ask();
      case 6:
      case 7:
        return HolderIsAlive();
      case 8:
        return Release();
      case 9:
        return Change();
      case 10:
        return Share();
      default:
        return Restore();
    }
  }

  void ExpectSame() {
    const std::vector<LostLease> lost = leases_.EndSilent(now_), naively_lost = naive_.EndSilent(now_);
    ASSERT_EQ(lost.size(), naively_lost.size());
    for (size_t i = 0; i < lost.size(); ++i) {
      EXPECT_EQ(lost[i].device, naively_lost[i].device);
      EXPECT_EQ(lost[i].token, naively_lost[i].token);
      EXPECT_EQ(lost[i].device_was_silent, naively_lost[i].device_was_silent);
    }
    const std::vector<DeviceGrant> grants = leases_.Grant(now_), naive_grants = naive_.Grant(now_);
    ASSERT_EQ(grants.size(), naive_grants.size());
    for (size_t i = 0; i < grants.size(); ++i) {
      EXPECT_EQ(grants[i].request, naive_grants[i].request);
      EXPECT_EQ(grants[i].device, naive_grants[i].device);
      EXPECT_EQ(grants[i].token, naive_grants[i].token);
    }
    num_granted_ += std::ssize(grants);
    num_lost_ += std::ssize(lost);
    EXPECT_EQ(leases_.Waiting(), naive_.Waiting());
    for (const auto& [device, token] : naive_.Held()) EXPECT_TRUE(leases_.IsCurrent(device, token));
  }

  int64_t num_granted() const { return num_granted_; }
  int64_t num_lost() const { return num_lost_; }

 private:
  int Draw(int below) { return static_cast<int>(random_() % static_cast<uint32_t>(below)); }
  std::string DrawOf(const std::vector<std::string>& words) {
    return words[static_cast<size_t>(Draw(static_cast<int>(words.size())))];
  }
  std::string Device() { return absl::StrCat("d", Draw(6)); }
  std::string Owner() { return DrawOf({"ann", "bob", kServersOwner, kFleetItself}); }
  // Returns the token of a lease, or at times one that no lease has.
  LeaseToken Token() {
    const std::map<std::string, LeaseToken> held = naive_.Held();
    if (held.empty() || Draw(8) == 0) return {.epoch = 1 + Draw(2), .number = Draw(50)};
    return std::next(held.begin(), Draw(static_cast<int>(held.size())))->second;
  }

  void Join() {
    const std::string name = Device(), owner = DrawOf({"ann", "bob", kServersOwner});
    const std::set<std::string> keys = {name, DrawOf({"x", "y", "z"}), DrawOf({"x", "y", "z"})};
    std::set<std::string> trusted;
    if (Draw(4) == 0) trusted.insert(Owner());
    owners_.Put(name, owner, keys, DefaultSharing(owner));
    leases_.Join(name, keys, now_, trusted);
    naive_.Join(name, keys, now_, trusted);
  }
  void DeviceIsAlive() {
    const std::string name = Device();
    leases_.DeviceIsAlive(name, now_);
    naive_.DeviceIsAlive(name, now_);
  }
  void Ask() {
    const DeviceRequest request = {
        .key = DrawOf({"x", "y", "z", "d1"}), .owner = Owner(), .priority = Draw(4) - 1};
    EXPECT_EQ(leases_.Ask(request), naive_.Ask(request));
    ++num_asked_;
  }
  void HolderIsAlive() {
    const LeaseToken token = Token();
    EXPECT_EQ(leases_.HolderIsAlive(token, now_), naive_.HolderIsAlive(token, now_));
  }
  void Release() {
    const LeaseToken token = Token();
    EXPECT_EQ(leases_.Release(token), naive_.Release(token));
  }
  void Restore() {
    const std::string name = Device();
    const LeaseToken token = {.epoch = 1 + Draw(2), .number = Draw(50)};
    EXPECT_EQ(leases_.Restore(name, token, now_), naive_.Restore(name, token, now_));
  }
  // An operator changes a device, or a client leaves.
  void Change() {
    const std::string name = Device();
    const int64_t request = Draw(num_asked_ + 2);
    switch (Draw(5)) {
      case 0:
        leases_.Drain(name, "test");
        return naive_.Drain(name);
      case 1:
      case 2:
        leases_.Resume(name);
        return naive_.Resume(name);
      case 3:
        leases_.Withdraw(request);
        return naive_.Withdraw(request);
      default:
        owners_.Remove(name);
        leases_.Remove(name);
        return naive_.Remove(name);
    }
  }
  void Share() {
    const std::string name = Device(), owner = owners_.OwnerOf(name);
    if (!owner.empty())
      owners_.Put(name, owner, {"x", "y"}, {DrawOf({"ann", "bob", kServersOwner, kEveryOwner})});
  }

  std::mt19937 random_;
  double now_ = 100;
  DeviceOwners owners_;
  FleetLeases leases_{2, kLease, now_, &owners_};
  NaiveLeases naive_{2, now_, owners_};
  int num_asked_ = 0;
  int64_t num_granted_ = 0, num_lost_ = 0;
};

TEST(FleetLeasesPropertyTest, SaysWhatATwinSaysThatComputesAllAnew) {
  int64_t num_granted = 0, num_lost = 0;
  for (uint32_t seed = 1; seed <= 100 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    BothLeases both(seed);
    for (int step = 0; step < 150 && !::testing::Test::HasFailure(); ++step) {
      both.Step();
      both.ExpectSame();
    }
    num_granted += both.num_granted();
    num_lost += both.num_lost();
  }
  // Neither is always idle.
  EXPECT_GT(num_granted, 500);
  EXPECT_GT(num_lost, 300);
}

}  // namespace
}  // namespace attune
