// attune agent
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/common/service_command.h"
#include "cli/common/stops_on_signal.h"
#include "cli/enrolment.h"
#include "device/sensors.h"
#include "fleet/agent/fleet_agent.h"
#include "fleet/host/device_host_process.h"
#include "fleet/host/stays_off_lease.h"
#include "fleet/identity/member_folders.h"

namespace attune {
namespace {

// Among the agent's devices.
constexpr char kDeviceName[] = "cpu";

constexpr double kMostIdleSeconds = 1e9;

struct AgentFlags {
  EnrolmentFlags enrolment;
  FleetAgentOptions agent;
};

// Passes a host's events on once there is an agent. The host comes first, since it must be started before
// gRPC.
class HostEvents {
 public:
  void PassTo(FleetAgent& agent, const DeviceInfo& device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    agent_ = &agent;
    stays_off_.emplace(device);
  }
  void End() {
    const std::lock_guard<std::mutex> lock(mutex_);
    agent_ = nullptr;
  }
  void Receive(const HostEvent& event) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (agent_ == nullptr) return;
    stays_off_->Observe(event);
    agent_->OnHostEvent(kDeviceName, event);
  }

 private:
  std::mutex mutex_;
  FleetAgent* agent_ = nullptr;
  std::optional<StaysOffLease> stays_off_;
};

absl::Status RunAgent(AgentFlags flags) {
  if (flags.agent.folder.empty()) {
    ASSIGN_OR_RETURN(flags.agent.folder, DefaultAgentFolder());
  }
  flags.agent.sensors = ReadableSensors("/sys");
  HostEvents events;
  ASSIGN_OR_RETURN(
      std::unique_ptr<DeviceHostProcess> host,
      DeviceHostProcess::Start("/proc/self/exe", [&](const HostEvent& e) { events.Receive(e); }));
  RETURN_IF_ERROR(Enrol(flags.enrolment, flags.agent.folder));
  const DeviceInfo device = host->device();
  ASSIGN_OR_RETURN(const std::unique_ptr<FleetAgent> agent, FleetAgent::Create(flags.agent));
  RETURN_IF_ERROR(agent->AddDevice(kDeviceName, std::move(host)));
  events.PassTo(*agent, device);
  const StopsOnSignal stops([](void* running) { static_cast<FleetAgent*>(running)->Stop(); }, agent.get(),
                            "\nstopping; interrupt again to exit at once\n");
  PrintNote(absl::StrCat("offering this machine by the key ", device.fingerprint));
  const absl::Status status = agent->Run();
  events.End();
  return status;
}

}  // namespace

void AddAgentCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("agent", "Offer this machine as a device of a fleet");
  auto flags = std::make_shared<AgentFlags>();
  AddEnrolmentFlags(*command, flags->enrolment);
  command->add_option("--state", flags->agent.folder,
                      "the folder of its state (default: attune/agent among the user's state files)");
  command->add_option("--key", flags->agent.keys, "one more key to ask for the device by; may be repeated")
      ->type_name("KEY");
  command
      ->add_option("--trust", flags->agent.owners,
                   "accept work from this owner even if this machine cannot isolate it; may be repeated")
      ->type_name("OWNER");
  command
      ->add_option("--idle-seconds", flags->agent.idle_seconds,
                   "exit after this long without measurements (default: never)")
      ->check(CLI::Range(1.0, kMostIdleSeconds));
  command->callback([command, flags, &action] {
    LogToPeople(*command);
    flags->agent.program = ATTUNE_VERSION;
    action = [flags] { return RunAgent(*flags); };
  });
}

}  // namespace attune
