// The requests for devices that wait, and whose turn it is.
//
// Problem: hundreds of requests may wait for the same few devices, and every device that becomes free asks
// for the next one. Idea: all requests of one owner for one key get the same answer, and so the queue is
// asked for the first one of each owner and key alone. Price: each round looks at all owners that wait.
#ifndef ATTUNE_FLEET_LEASES_REQUEST_QUEUE_H_
#define ATTUNE_FLEET_LEASES_REQUEST_QUEUE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace attune {

struct DeviceRequest {
  std::string key = {};  // of any device that will do (device_owners.h)
  std::string owner = {};
  // Among one owner's requests, higher ones go first; among equals, the earlier ones. Owners do not compete
  // by it. The fleet's own requests come before those of all owners, or after all if it is negative.
  int priority = 0;
};

// Every request waits in the queue of its owner and key, and an owner's number of held devices is that of
// Hold() less that of GiveBack(). Pure logic, not thread safe.
class RequestQueue {
 public:
  // Gives the request a device and returns true, or returns false if none will do. May call Hold().
  using GiveDevice = std::function<bool(int64_t request, const DeviceRequest& asked)>;

  // Returns the number of the request, which is larger than all before it.
  int64_t Add(const DeviceRequest& request);
  // Does nothing if the request does not wait.
  void Remove(int64_t request);
  bool empty() const { return waiting_.empty(); }
  // Returns how many requests wait for each key.
  std::map<std::string, int> NumByKey() const;

  // The owner holds one device more, or one less.
  void Hold(const std::string& owner);
  void GiveBack(const std::string& owner);

  // Calls `give` for the next request of the owner who holds the fewest devices, and again until every
  // request has a device or got none. A request that has a device waits no longer. After one that got none,
  // its owner's others for the same key are passed over.
  void Serve(const GiveDevice& give);

 private:
  // The order of one owner's requests.
  struct Place {
    int priority = 0;
    int64_t number = 0;

    bool operator<(const Place& other) const {
      return priority != other.priority ? priority > other.priority : number < other.number;
    }
  };
  struct Owner {
    std::map<std::string, std::set<Place>> waiting = {};  // by key; no key is without any
    int64_t held = 0;                                     // devices
  };

  void ForgetIfIdle(const std::string& owner);

  int64_t last_ = 0;
  std::map<int64_t, DeviceRequest> waiting_;  // by number
  std::map<std::string, Owner> owners_;       // that wait or hold
};

}  // namespace attune

#endif  // ATTUNE_FLEET_LEASES_REQUEST_QUEUE_H_
