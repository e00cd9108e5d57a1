// Names in the order in which they expire.
#ifndef ATTUNE_FLEET_LEASES_EXPIRY_QUEUE_H_
#define ATTUNE_FLEET_LEASES_EXPIRY_QUEUE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace attune {

// Each name has one time, and stands at it in the order. Each call costs the logarithm of the number of
// names. Not thread safe.
class ExpiryQueue {
 public:
  // Adds the name, or moves it to this time.
  void Put(const std::string& name, double expiry) {
    const auto [entry, is_new] = expiries_.try_emplace(name, expiry);
    if (!is_new) order_.erase({entry->second, name});
    entry->second = expiry;
    order_.emplace(expiry, name);
  }
  // Does nothing if the name is not there.
  void Erase(const std::string& name) {
    const auto entry = expiries_.find(name);
    if (entry == expiries_.end()) return;
    order_.erase({entry->second, name});
    expiries_.erase(entry);
  }

  // Removes the first name and returns it if its time is `now` or before; nothing otherwise.
  std::optional<std::string> TakeExpired(double now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    std::string name = order_.begin()->second;
    Erase(name);
    return name;
  }

 private:
  std::map<std::string, double> expiries_;
  std::set<std::pair<double, std::string>> order_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_LEASES_EXPIRY_QUEUE_H_
