// Agents with mock devices, for the load of a fleet and for faults.
//
//     mock_agents SERVER_STATE FOLDER KEY COUNT SECONDS
//
// Enrols COUNT agents, whose credentials are in FOLDER and are used again the next time, as operator of the
// server whose state is in SERVER_STATE, and runs them until it is killed. Each has one device with the key,
// with this machine's processor, and the real agent's code; only the device answers without measuring: after
// SECONDS, with a time that depends on nothing but the kernel.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "device/device.h"
#include "fleet/agent/fleet_agent.h"
#include "fleet/client/fleet_client.h"
#include "fleet/host/mock_device_host.h"
#include "fleet/identity/credentials.h"
#include "fleet/identity/member_folders.h"

namespace attune {
namespace {

constexpr char kDevice[] = "mock";

// The same each time for one kernel, and different from the other kernels' by up to 60 %.
double SecondsOf(const std::string& digest) {
  return 1e-3 * (0.7 + 0.6 * static_cast<double>(std::hash<std::string>()(digest) % 1000) / 1000);
}

Measurement Answer(const MeasureItem& item) {
  Measurement measurement;
  measurement.outcome = TrialOutcome::kOk;
  const double seconds = SecondsOf(item.subject);
  measurement.timing = {.seconds = seconds, .low = seconds, .high = seconds, .repetitions = 10};
  measurement.peaks = {.gflops_per_core = 100,
                       .bf16_gflops_per_core = 100,
                       .int8_gops_per_core = 100,
                       .l2_gb_per_s = 100,
                       .l3_gb_per_s = 50,
                       .memory_gb_per_s = 10,
                       .l2_bytes = 1 << 20};
  // As many as it takes to judge the slowest of them.
  constexpr int kRuns = 500;
  if (item.kind == MeasureItem::Kind::kRunNetwork) measurement.run_seconds.assign(kRuns, seconds);
  if (item.baseline.empty() || item.baseline == item.subject) return measurement;
  measurement.baseline_seconds = SecondsOf(item.baseline);
  measurement.ratio = measurement.ratio_low = measurement.ratio_high = seconds / measurement.baseline_seconds;
  measurement.is_significant = true;
  measurement.normalized_seconds = item.baseline_seconds * measurement.ratio;
  return measurement;
}

// Gets credentials, unless there are some. One after the other, as the server limits who tries at once.
absl::Status Enrol(FleetClient& fleet, const std::string& folder) {
  if (!absl::IsNotFound(LoadCredentials(folder).status())) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, fleet.Invite("agent", "server"));
  ASSIGN_OR_RETURN(const Invitation invitation, Invitation::Parse(text));
  ASSIGN_OR_RETURN(const FleetCredentials credentials, EnrolInFleet(invitation));
  return SaveCredentials(folder, credentials);
}

// Runs one agent until the process ends. Returns why it could not.
absl::Status RunOne(const DeviceInfo& device, const std::string& folder, const std::string& key,
                    double seconds) {
  ASSIGN_OR_RETURN(const std::unique_ptr<FleetAgent> agent,
                   FleetAgent::Create({.folder = folder, .program = "mock", .keys = {key}}));
  ASSIGN_OR_RETURN(std::unique_ptr<MockDeviceHost> host,
                   MockDeviceHost::Start(
                       device,
                       [seconds](const MeasureItem& item) {
                         return MockAnswer{.seconds = seconds, .measurement = Answer(item)};
                       },
                       [&agent](const HostEvent& event) { agent->OnHostEvent(kDevice, event); }));
  RETURN_IF_ERROR(agent->AddDevice(kDevice, std::move(host)));
  return agent->Run();
}

absl::Status RunAll(const std::string& state, const std::string& folder, const std::string& key, int count,
                    double seconds) {
  ASSIGN_OR_RETURN(const FleetCredentials credentials, LoadCredentials(OperatorFolder(state)));
  ASSIGN_OR_RETURN(DeviceInfo device, HostDevice());
  device.fingerprint = "mock board";
  FleetClient fleet(credentials);
  const auto folder_of = [&](int i) { return absl::StrCat(folder, "/", i); };
  for (int i = 0; i < count; ++i) RETURN_IF_ERROR(Enrol(fleet, folder_of(i)));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      const absl::Status status = RunOne(device, folder_of(i), key, seconds);
      std::fprintf(stderr, "agent %d: %s\n", i, status.ToString().c_str());
    });
  }
  for (std::thread& thread : threads) thread.join();
  return absl::OkStatus();
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  constexpr int kArguments = 6;
  if (argc != kArguments) {
    std::fputs("usage: mock_agents SERVER_STATE FOLDER KEY COUNT SECONDS\n", stderr);
    return 2;
  }
  const absl::Status status =
      attune::RunAll(argv[1], argv[2], argv[3], std::atoi(argv[4]), std::atof(argv[5]));
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
