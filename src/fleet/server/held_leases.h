// The leases that are held, and what each still has to measure.
#ifndef ATTUNE_FLEET_SERVER_HELD_LEASES_H_
#define ATTUNE_FLEET_SERVER_HELD_LEASES_H_

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/leases/fleet_leases.h"
#include "fleet/wire/fleet.pb.h"
#include "measure/item.h"

namespace attune {

// A device has one lease at most. An item is open from when its client has sent it until its result is taken,
// so that it can be sent again and no result is taken twice. Not thread safe.
class HeldLeases {
 public:
  struct Lease {
    std::string device = {}, owner = {}, key = {};
    std::string member = {};  // its holder's id; empty: one of the owner's, before the server started again
    int64_t client = 0;       // the number of its connection; 0: it is gone, and may come back
    std::map<int32_t, fleet_proto::Item> open = {};  // by index
    double told_alive = -INFINITY;                   // when its client was told that the device is alive

    std::vector<fleet_proto::Item> OpenItems() const;
    // Opens the items. One with an open one's index takes its place. InvalidArgument, without any effect, if
    // there would be too many.
    absl::Status Open(const fleet_proto::Items& items);
    // Takes the result of an open item, which is then no longer open. Returns false if no item with this
    // index is open. InvalidArgument, without any effect, if it cannot be the item's result.
    absl::StatusOr<bool> TakeResult(int32_t index, const Measurement& measurement);
  };
  using Leases = std::map<LeaseToken, Lease>;

  // The token is new, and the lease's device has no lease. The result is valid until Remove().
  Lease& Add(const LeaseToken& token, Lease lease);
  // Does nothing if there is no such lease.
  void Remove(const LeaseToken& token);

  // Returns null if there is no such lease.
  Lease* Find(const LeaseToken& token);
  const Lease* Find(const LeaseToken& token) const;
  // Returns the token of the device's lease; nothing if it has none.
  std::optional<LeaseToken> OfDevice(const std::string& device) const;
  const Leases& all() const { return leases_; }

 private:
  Leases leases_;
  std::map<std::string, LeaseToken> by_device_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_HELD_LEASES_H_
