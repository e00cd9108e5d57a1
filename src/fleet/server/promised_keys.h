// Keys for which a member promises devices as soon as requests wait for them.
//
// A request for a key that no device has is refused, since it could wait for ever. An operator's program that
// brings devices when they are needed promises their keys, again and again; if it vanishes, its promises are
// forgotten soon after.
#ifndef ATTUNE_FLEET_SERVER_PROMISED_KEYS_H_
#define ATTUNE_FLEET_SERVER_PROMISED_KEYS_H_

#include <map>
#include <string>

#include "absl/status/status.h"

namespace attune {

// Times are seconds of one monotonic clock. Not thread safe.
class PromisedKeys {
 public:
  static constexpr double kPromiseSeconds = 60;
  static constexpr int kMostKeys = 1024;

  // Counts for kPromiseSeconds. Fails if the key is empty or has more than 256 bytes, or if there are too
  // many.
  absl::Status Promise(const std::string& key, double now);
  bool Has(const std::string& key, double now) const;

 private:
  std::map<std::string, double> ends_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_PROMISED_KEYS_H_
