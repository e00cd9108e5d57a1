// The work of one device under its leases.
//
// Problem: connections break and the server starts again, so work arrives twice and results get lost; leases
// end while something is measured. Idea: only the work of the latest lease counts. Its results are kept until
// the next lease, and work that comes again is answered with them.
#ifndef ATTUNE_FLEET_AGENT_LEASE_WORK_H_
#define ATTUNE_FLEET_AGENT_LEASE_WORK_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/background_loop.h"
#include "fleet/agent/blob_fetcher.h"
#include "fleet/host/device_host.h"
#include "fleet/leases/fleet_leases.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

// Thread safe. The host and the fetcher must outlive it.
class LeaseWork {
 public:
  // `send` is called with each result, by several threads, one at a time.
  using Send = std::function<void(const fleet_proto::Result&)>;
  LeaseWork(DeviceHost& host, BlobFetcher& fetcher, Send send);
  ~LeaseWork();

  // Work of an older lease than the latest is ignored.
  void Take(const fleet_proto::Work& work);
  // The lease has ended.
  void Stop(const LeaseToken& token);
  void Observe(const HostEvent& event);
  // Whether there is nothing to measure.
  bool is_idle() const;

 private:
  struct Portion {
    LeaseToken token;
    std::string owner = {};
    RunBatch batch = {};
  };

  // Gets the blobs of the next portion, and hands it to the host.
  double Step();
  // Gives the host the blobs of the portion. A blob that cannot be had is named by the results of its items.
  void Prepare(const Portion& portion);
  // Tries again while the connection is broken and the portion's lease counts.
  absl::StatusOr<FileDescriptor> Fetch(const Portion& portion, const std::string& digest);

  // The caller must hold the mutex.
  //
  // Whether the lease is the latest, and has not ended.
  bool Counts(const LeaseToken& token) const;
  void Begin(const LeaseToken& token);
  void CancelBatches();
  // Sends a result, and keeps it.
  void Answer(fleet_proto::Result result);

  DeviceHost& host_;
  BlobFetcher& fetcher_;
  const Send send_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_ending_ = false;
  LeaseToken latest_;
  bool is_stopped_ = true;                          // the latest lease has ended
  std::set<int32_t> taken_;                         // items of the latest lease, by index
  std::map<int32_t, fleet_proto::Result> results_;  // of these
  std::set<int64_t> batches_;                       // numbers of the latest lease's batches
  std::deque<Portion> waiting_;
  std::set<std::string> given_;                   // digests of blobs that the host has
  std::map<std::string, std::string> unfetched_;  // why blobs that the fleet has are not here, by digest
  int64_t last_batch_ = 0;

  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_FLEET_AGENT_LEASE_WORK_H_
