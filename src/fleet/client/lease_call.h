// A client's call that asks for a device and measures on it while the lease lasts.
#ifndef ATTUNE_FLEET_CLIENT_LEASE_CALL_H_
#define ATTUNE_FLEET_CLIENT_LEASE_CALL_H_

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "fleet/client/fleet_client.h"
#include "measure/item.h"

namespace attune {

struct LeaseGranted {
  std::string device = {};
  std::string info = {};  // device/codec.h
  fleet_proto::Token token = {};
};
struct LeaseResult {
  size_t index = 0;
  Measurement measurement = {};
  std::vector<std::string> missing = {};  // blobs that the device did not get
};
struct DeviceAlive {};
using LeaseEvent = std::variant<LeaseGranted, LeaseResult, DeviceAlive>;

// One thread calls Next(); the others may be called by any thread. The server is given signs of life as long
// as the object lives.
class LeaseCall {
 public:
  // `resumed`: a lease that was held before the connection broke; zero: none. The client must outlive this
  // object.
  LeaseCall(FleetClient& client, const std::string& key, int priority, const fleet_proto::Token& resumed);
  ~LeaseCall();

  // Waits for the next event. Fails with the reason once the lease or the connection has ended: OutOfRange if
  // the device was given back.
  absl::StatusOr<LeaseEvent> Next();
  // The items' indices are theirs within the lease.
  void Send(const std::vector<std::pair<size_t, MeasureItem>>& items);
  // Gives the device back, or waits for one no longer.
  void Release();

 private:
  void Write(const fleet_proto::FromClient& message);
  // Gives a sign of life, and returns the seconds until the next one.
  double GiveSignOfLife();

  RenewingConnection& connection_;
  grpc::ClientContext context_;
  bool is_over_ = false;  // for the thread that calls Next()
  std::unique_ptr<grpc::ClientReaderWriter<fleet_proto::FromClient, fleet_proto::ToClient>> stream_;
  std::mutex write_mutex_;  // one write at a time

  std::mutex mutex_;
  double heartbeat_seconds_ = 5;
  BackgroundLoop alive_{[this] { return GiveSignOfLife(); }};
};

}  // namespace attune

#endif  // ATTUNE_FLEET_CLIENT_LEASE_CALL_H_
