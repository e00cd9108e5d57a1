// Whether a device host's reports answer what it was asked.
//
// Problem: the process that measures runs strangers' code, and may have been taken over: it may report on
// unknown batches, twice, or without end. Idea: each report is compared with the request; a host that says
// anything else is ended. So the stored reports are bounded by the requests.
#ifndef ATTUNE_FLEET_HOST_HOST_CONVERSATION_H_
#define ATTUNE_FLEET_HOST_HOST_CONVERSATION_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "absl/status/status.h"
#include "fleet/host/host_messages.h"

namespace attune {

// Thread safe.
class HostConversation {
 public:
  // To be called before the host can have got the batch.
  void Ask(const RunBatch& batch);
  // Notes a report after the first one. Fails unless it is about a batch that the host has: its one lease,
  // the one result of an item, its end after all results.
  absl::Status Take(const HostReport& report);

 private:
  struct Asked {
    std::set<int64_t> open = {};  // indices of items without a result
    bool is_leased = false;
  };

  absl::Status Take(const HostLeased& leased);
  absl::Status Take(const HostResult& result);
  absl::Status Take(const HostBatchOver& over);

  std::mutex mutex_;
  std::map<int64_t, Asked> batches_;  // that are not over, by number
};

}  // namespace attune

#endif  // ATTUNE_FLEET_HOST_HOST_CONVERSATION_H_
