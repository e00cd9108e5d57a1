// The flag --on: commands that run a network do it on a device of the fleet.
#ifndef ATTUNE_CLI_ON_DEVICE_H_
#define ATTUNE_CLI_ON_DEVICE_H_

#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "api/network_on_device.h"
#include "base/cancel.h"
#include "cli/common/output.h"
#include "cli/common/stops_on_signal.h"
#include "device/run_times.h"
#include "measure/service.h"

namespace attune {

void AddOnFlag(CLI::App& command, std::string& key);

// Prints a note unless the sentence is empty: other programs have disturbed the runs.
void NoteDisturbance(const std::string& sentence);

// Adds "wall_seconds" and "processor_seconds", which are null for a device elsewhere, and "waited_share".
void AddTimes(double waited_share, const RunTimes& times, Json& json);

// Runs networks on the device of a service, where Ctrl-C ends what runs; a null service means this machine.
class WorkOnDevice {
 public:
  WorkOnDevice(MeasuringService* service, Progress& progress)
      : device_(service, {.cancellation = &cancellation_, .progress = &progress}) {
    if (service == nullptr) return;
    stops_.emplace([](void* work) { static_cast<Cancellation*>(work)->Cancel(); }, &cancellation_,
                   "\nstopping the work on the device; interrupt again to exit at once\n");
  }

  NetworkOnDevice* operator->() { return &device_; }

 private:
  Cancellation cancellation_;
  std::optional<StopsOnSignal> stops_;
  NetworkOnDevice device_;
};

}  // namespace attune

#endif  // ATTUNE_CLI_ON_DEVICE_H_
