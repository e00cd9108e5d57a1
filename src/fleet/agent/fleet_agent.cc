#include "fleet/agent/fleet_agent.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/background_loop.h"
#include "base/backoff.h"
#include "base/log.h"
#include "base/processors.h"
#include "base/status.h"
#include "device/codec.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/pinned_server.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/rpc_status.h"
#include "fleet/wire/token.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr double kPollSeconds = 0.25;  // for Stop()
constexpr double kLookSeconds = 0.5;   // at who answers instead of the server
constexpr double kLeastHeartbeatSeconds = 0.05, kMostHeartbeatSeconds = 60;

double LoadOfMachine() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load / Processors() : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FleetAgent>> FleetAgent::Create(FleetAgentOptions options) {
  ASSIGN_OR_RETURN(FleetCredentials credentials, LoadCredentialsOf(FleetRole::kAgent, options.folder));
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(credentials.certificate_pem));
  ASSIGN_OR_RETURN(std::unique_ptr<StoredBlobs> blobs, StoredBlobs::Open(options.folder + "/blobs"));
  return std::unique_ptr<FleetAgent>(
      new FleetAgent(std::move(options), facts.who.id, std::move(blobs), std::move(credentials)));
}

FleetAgent::~FleetAgent() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;  // no event reaches what is destroyed now
  }
  for (auto& [name, device] : devices_) device.work.reset();
}

absl::Status FleetAgent::AddDevice(const std::string& name, std::unique_ptr<DeviceHost> host) {
  if (!host->lacks().empty() && options_.owners.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "this machine cannot isolate the code that it measures: ", absl::StrJoin(host->lacks(), "; "),
        "; name the owners whose work it may accept nevertheless with --trust"));
  }
  auto work = std::make_unique<LeaseWork>(*host, *blobs_, [this](const proto::Result& result) {
    proto::FromAgent message;
    *message.mutable_result() = result;
    Send(message);
  });
  auto use = std::make_unique<ProcessorUse>(host->device().usable);
  const std::lock_guard<std::mutex> lock(mutex_);
  devices_[name] = {.host = std::move(host), .work = std::move(work), .use = std::move(use)};
  return absl::OkStatus();
}

void FleetAgent::OnHostEvent(const std::string& name, const HostEvent& event) {
  LeaseWork* work = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto device = devices_.find(name);
    if (is_ending_ || device == devices_.end()) return;
    work = device->second.work.get();
    if (const auto* lost = std::get_if<HostLost>(&event)) {
      lost_ = absl::UnavailableError(absl::StrCat("the process that measures has ended: ", lost->reason));
      return;
    }
  }
  work->Observe(event);
}

absl::Status FleetAgent::Lost() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lost_;
}

bool FleetAgent::TakeWelcome() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(was_welcomed_, false);
}

absl::Status FleetAgent::Run() {
  Backoff backoff;
  while (!is_stopped_) {
    const absl::Status ended = Serve();
    if (is_stopped_) break;
    RETURN_IF_ERROR(Lost());
    if (IsRefusedForGood(ended)) return ended;
    if (TakeWelcome()) backoff.Reset();
    const FleetCredentials used = renewal_.credentials();
    const absl::Status known = ExplainLostServer(used, kLookSeconds);
    Log(LogLevel::kWarning, "not connected to the server", "agent", id_, "server", used.server, "reason",
        known.ok() ? ended.message() : known.message());
    backoff.Pause([&] {
      StopIfIdle();
      return is_stopped_.load();
    });
  }
  return absl::OkStatus();
}

absl::Status FleetAgent::Serve() {
  const std::shared_ptr<proto::Fleet::Stub> stub =
      proto::Fleet::NewStub(ConnectFleet(renewal_.credentials()));
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream = stub->Serve(&context);
  blobs_->SetServer(stub);
  {
    const std::lock_guard<std::mutex> lock(write_mutex_);
    stream_ = stream.get();
    stream->Write(Hello());
  }
  Stopwatch since_heartbeat;
  BackgroundLoop alive([&] { return KeepAlive(context, since_heartbeat); });
  if (!alive.Start().ok()) context.TryCancel();
  proto::ToAgent message;
  while (stream->Read(&message)) Receive(message);
  alive.Stop();
  {
    const std::lock_guard<std::mutex> lock(write_mutex_);
    stream_ = nullptr;
  }
  blobs_->SetServer(nullptr);
  return FromRpc(stream->Finish());
}

void FleetAgent::Receive(const proto::ToAgent& message) {
  if (message.has_welcome()) {
    Log(LogLevel::kInfo, "connected to the server", "agent", id_);
    const std::lock_guard<std::mutex> lock(mutex_);
    was_welcomed_ = true;
    heartbeat_seconds_ =
        std::clamp(message.welcome().heartbeat_seconds(), kLeastHeartbeatSeconds, kMostHeartbeatSeconds);
  } else if (message.has_work()) {
    NoteWork();
    const auto device = devices_.find(message.work().device());
    if (device != devices_.end()) device->second.work->Take(message.work());
  } else if (message.has_stop()) {
    for (auto& [name, device] : devices_) device.work->Stop(FromWire(message.stop().token()));
  } else if (message.has_renew()) {
    renewal_.AskToRenew();
  }
}

proto::FromAgent FleetAgent::Hello() const {
  proto::FromAgent message;
  proto::Hello* hello = message.mutable_hello();
  hello->set_version(kFleetVersion);
  hello->set_program(options_.program);
  for (const auto& [name, device] : devices_) {
    proto::AgentDevice* added = hello->add_devices();
    added->set_name(name);
    added->mutable_keys()->Assign(options_.keys.begin(), options_.keys.end());
    added->set_info(EncodeDevice(device.host->device()));
    added->mutable_sensors()->Assign(options_.sensors.begin(), options_.sensors.end());
    if (device.host->lacks().empty()) continue;
    added->mutable_trusted_owners()->Assign(options_.owners.begin(), options_.owners.end());
    for (const std::string& lack : device.host->lacks()) hello->add_lacks(lack);
  }
  return message;
}

double FleetAgent::KeepAlive(grpc::ClientContext& context, Stopwatch& since_heartbeat) {
  StopIfIdle();
  if (is_stopped_ || !Lost().ok()) {
    context.TryCancel();
    return BackgroundLoop::kUntilWoken;
  }
  double seconds = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    seconds = heartbeat_seconds_;
  }
  const double pause = std::min(kPollSeconds, seconds);
  if (since_heartbeat.Seconds() < seconds) return pause;
  LookForDisturbance(since_heartbeat.Lap());
  proto::FromAgent message;
  message.mutable_heartbeat()->set_load(LoadOfMachine());
  for (const auto& [name, device] : devices_)
    (*message.mutable_heartbeat()->mutable_disturbance())[name] = device.disturbance;
  Send(message);
  renewal_.RenewIfDue();
  return pause;
}

void FleetAgent::LookForDisturbance(double seconds) {
  bool has_measured = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    has_measured = since_work_.Seconds() < seconds;
  }
  for (auto& [name, device] : devices_) {
    // Its own measurements do not disturb it.
    if (has_measured || !device.work->is_idle()) {
      device.use->Forget();
    } else if (const std::optional<double> used = device.use->Take()) {
      device.disturbance = *used;
    }
  }
}

void FleetAgent::NoteWork() {
  const std::lock_guard<std::mutex> lock(mutex_);
  since_work_.Lap();
}

void FleetAgent::StopIfIdle() {
  if (options_.idle_seconds == 0) return;
  if (!std::ranges::all_of(devices_, [](const auto& entry) { return entry.second.work->is_idle(); }))
    return NoteWork();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (since_work_.Seconds() < options_.idle_seconds) return;
  }
  Log(LogLevel::kInfo, "was idle for too long, ends", "seconds", options_.idle_seconds);
  Stop();
}

void FleetAgent::Send(const proto::FromAgent& message) {
  const std::lock_guard<std::mutex> lock(write_mutex_);
  // The server asks again, on the next connection, for messages that this one loses.
  if (stream_ != nullptr) stream_->Write(message);
}

}  // namespace attune
