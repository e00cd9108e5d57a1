#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "cli/fleet_command.h"
#include "cli/fleet_view.h"
#include "fleet/client/fleet_client.h"
#include "fleet/client/joined_fleet.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr std::chrono::milliseconds kPoll(500);

int64_t LatestMillis(const proto::CalibrationState& state) {
  return state.calibrations().empty() ? -1 : state.calibrations().rbegin()->time_ms();
}

// The state once there is a calibration after those `before`.
absl::StatusOr<proto::CalibrationState> Await(FleetClient& fleet, const std::string& device,
                                              const proto::CalibrationState& before) {
  Progress progress;
  progress.Show(absl::StrCat("waiting for ", device));
  for (;;) {
    ASSIGN_OR_RETURN(proto::CalibrationState state, fleet.Calibrations(device));
    if (LatestMillis(state) != LatestMillis(before)) return state;
    if (!state.failure().empty())
      return absl::UnavailableError(absl::StrCat(device, " was not calibrated: ", state.failure()));
    if (!state.is_going_on())
      return absl::AbortedError(absl::StrCat(device, " was not calibrated; try again"));
    std::this_thread::sleep_for(kPoll);
  }
}

absl::Status Calibrate(const std::string& device, const std::string& json) {
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  ASSIGN_OR_RETURN(const proto::CalibrationState before, fleet->Calibrate(device));
  ASSIGN_OR_RETURN(const proto::CalibrationState state, Await(*fleet, device, before));
  if (!json.empty()) RETURN_IF_ERROR(WriteJson(CalibrationsJson(state).back(), json));
  if (json != "-") PrintResult(LatestCalibrationTable(state));
  ASSIGN_OR_RETURN(const auto devices, fleet->Overview(device));
  if (!devices.empty() && !devices.front().drained().empty())
    PrintNote(absl::StrCat(device, " is given out no more: ", devices.front().drained()));
  return absl::OkStatus();
}

}  // namespace

void AddFleetCalibrateCommand(CLI::App& fleet, Action& action) {
  struct Flags {
    std::string device, json;
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App* command = fleet.add_subcommand(
      "calibrate", "Measure a device's peak rates now, and show them beside its earlier ones");
  command->add_option("DEVICE", flags->device, "its id, as attune fleet list shows it")->required();
  command->add_option("--json", flags->json, "write them to this file, or - for stdout")->type_name("FILE");
  command->callback([flags, &action] { action = [flags] { return Calibrate(flags->device, flags->json); }; });
}

}  // namespace attune
