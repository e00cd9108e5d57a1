// An agent: offers the devices of its machine to a fleet, and measures on them for those who have leases.
#ifndef ATTUNE_FLEET_AGENT_FLEET_AGENT_H_
#define ATTUNE_FLEET_AGENT_FLEET_AGENT_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "device/contention.h"
#include "fleet/agent/lease_work.h"
#include "fleet/agent/stored_blobs.h"
#include "fleet/client/renewing_connection.h"
#include "fleet/host/device_host.h"
#include "fleet/identity/credentials.h"
#include "fleet/wire/fleet.grpc.pb.h"

namespace attune {

struct FleetAgentOptions {
  std::string folder = {};                // of its credentials, and of the blobs that it keeps
  std::string program = {};               // this program's version, for people
  std::vector<std::string> keys = {};     // that its devices can be asked for by, besides their fingerprints
  std::vector<std::string> sensors = {};  // that its devices have (device/sensors.h)
  std::vector<std::string> owners = {};   // whose work it takes even if the machine cannot fence it in
  double idle_seconds = 0;                // seconds without work after which it ends; 0: never
};

// Keeps a connection to the server until it is stopped. Thread safe.
class FleetAgent {
 public:
  // Fails if there are no credentials, or none of an agent.
  static absl::StatusOr<std::unique_ptr<FleetAgent>> Create(FleetAgentOptions options);
  ~FleetAgent();

  // Offers one more device, by this name among the agent's own. Events of the host go to OnHostEvent(); those
  // that come before this call are ignored. To be called before Run(). Fails if the machine lacks fences and
  // no owners are trusted.
  absl::Status AddDevice(const std::string& name, std::unique_ptr<DeviceHost> host);
  void OnHostEvent(const std::string& name, const HostEvent& event);

  // Serves until Stop(), or until it was idle for too long, which is no failure, or until the server refuses
  // this agent for good or a host is lost: then fails with the reason. A server that cannot be reached is
  // tried again and again.
  absl::Status Run();
  // Safe in a signal handler. Takes effect within a second.
  void Stop() { is_stopped_.store(true, std::memory_order_relaxed); }

 private:
  struct Device {
    std::unique_ptr<DeviceHost> host;
    std::unique_ptr<LeaseWork> work;
    std::unique_ptr<ProcessorUse> use;  // of its processors
    double disturbance = 0;             // when the last measurement there ended
  };
  using Stream = grpc::ClientReaderWriter<fleet_proto::FromAgent, fleet_proto::ToAgent>;

  FleetAgent(FleetAgentOptions options, std::string id, std::unique_ptr<StoredBlobs> blobs,
             FleetCredentials credentials)
      : options_(std::move(options)),
        id_(std::move(id)),
        blobs_(std::move(blobs)),
        renewal_(std::move(credentials)) {}

  // One connection, until it ends.
  absl::Status Serve();
  void Receive(const fleet_proto::ToAgent& message);
  fleet_proto::FromAgent Hello() const;
  // Gives a sign of life and renews the certificate, if these are due, and ends the call after Stop(). To be
  // called again in as many seconds as it returns.
  double KeepAlive(grpc::ClientContext& context, Stopwatch& since_heartbeat);
  // Looks at the processes that use the devices, if none has been measured on for `seconds`.
  void LookForDisturbance(double seconds);
  void NoteWork();
  void StopIfIdle();
  void Send(const fleet_proto::FromAgent& message);
  absl::Status Lost() const;
  // Whether the server has answered since the last call.
  bool TakeWelcome();

  const FleetAgentOptions options_;
  const std::string id_;  // as in its certificate
  const std::unique_ptr<StoredBlobs> blobs_;
  RenewingConnection renewal_;  // of the certificate, for the next connection
  std::map<std::string, Device> devices_;
  std::atomic<bool> is_stopped_ = false;

  mutable std::mutex mutex_;
  bool is_ending_ = false, was_welcomed_ = false;
  double heartbeat_seconds_ = 5;
  Stopwatch since_work_;  // came or was done
  absl::Status lost_;     // why a host is lost

  std::mutex write_mutex_;    // one write at a time
  Stream* stream_ = nullptr;  // null: not connected
};

}  // namespace attune

#endif  // ATTUNE_FLEET_AGENT_FLEET_AGENT_H_
