#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "cli/common/stops_on_signal.h"
#include "cli/fleet_command.h"
#include "cli/fleet_view.h"
#include "cli/live_text.h"
#include "fleet/client/fleet_client.h"
#include "fleet/client/joined_fleet.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr double kPollSeconds = 0.1;  // for Ctrl-C

struct FleetTopFlags {
  double interval = 1;  // seconds
  int64_t count = 0;    // views; 0: until it is ended
  bool json = false;
};

struct FleetState {
  std::vector<proto::Device> devices = {};
  std::map<std::string, int> waiting = {};  // requests by key
};

absl::StatusOr<FleetState> Ask(FleetClient& fleet) {
  FleetState state;
  ASSIGN_OR_RETURN(state.devices, fleet.Devices(""));
  ASSIGN_OR_RETURN(state.waiting, fleet.Queue());
  return state;
}

int64_t NumWaiting(const FleetState& state) {
  int64_t all = 0;
  for (const auto& [key, requests] : state.waiting) all += requests;
  return all;
}

std::string Headline(const FleetState& state) {
  int64_t away = 0, drained = 0, held = 0;
  for (const proto::Device& device : state.devices) {
    if (!device.is_there()) ++away;
    if (!device.drained().empty()) ++drained;
    if (!device.held_by().empty()) ++held;
  }
  return absl::StrCat("devices: ", state.devices.size(), " (", held, " held, ", drained, " drained, ", away,
                      " away); requests waiting: ", NumWaiting(state));
}

// A line for each device that has one.
std::string Warnings(const FleetState& state) {
  std::string text;
  for (const proto::Device& device : state.devices)
    if (!device.warning().empty())
      absl::StrAppend(&text, WithoutControls(device.id()), ": ", WithoutControls(device.warning()), "\n");
  return text;
}

std::string Describe(const FleetState& state) {
  std::string text = absl::StrCat(Headline(state), "\n", Warnings(state), DevicesTable(state.devices));
  if (state.waiting.empty()) return text;
  std::vector<std::vector<std::string>> rows = {{"key", "waiting"}};
  for (const auto& [key, requests] : state.waiting)
    rows.push_back({WithoutControls(key), absl::StrCat(requests)});
  return absl::StrCat(text, "\n", FormatTable(rows, {false, true}));
}

absl::Status WriteLine(const FleetState& state) {
  Json line = {{"time_ms", SystemClock().WallMillis()}, {"devices", DevicesJson(state.devices)}};
  line["waiting"] = state.waiting;
  PrintResult(absl::StrCat(line.dump(-1, ' ', true, Json::error_handler_t::replace), "\n"));
  return FlushOutput();
}

// Shows one view after the other.
class View {
 public:
  explicit View(bool json)
      : json_(json), is_live_(!json && text_.is_terminal() && isatty(STDOUT_FILENO) != 0) {}

  absl::Status Show(const FleetState& state) {
    if (json_) return WriteLine(state);
    if (is_live_) {
      text_.Draw(text_.Fitted(Describe(state)));
      return absl::OkStatus();
    }
    PrintResult(absl::StrCat(is_first_ ? "" : "\n", Describe(state)));
    is_first_ = false;
    return FlushOutput();
  }
  void ShowError(const absl::Status& error) {
    if (is_live_) {
      text_.Draw(absl::StrCat(Cut(WithoutControls(error.message()), text_.columns()), "\n"));
    } else {
      PrintNote(error.message());
    }
  }

 private:
  LiveText text_;
  const bool json_, is_live_;
  bool is_first_ = true;
};

absl::Status Watch(const FleetTopFlags& flags) {
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  std::atomic<bool> is_stopped = false;
  const StopsOnSignal stops([](void* stopped) { *static_cast<std::atomic<bool>*>(stopped) = true; },
                            &is_stopped, "\n");
  View view(flags.json);
  for (int64_t shown = 0; !is_stopped;) {
    const Stopwatch since_view;
    const absl::StatusOr<FleetState> state = Ask(*fleet);
    if (state.ok()) {
      RETURN_IF_ERROR(view.Show(*state));
      ++shown;
    } else if (shown > 0 && absl::IsUnavailable(state.status())) {
      view.ShowError(state.status());  // the server may come back
    } else {
      return state.status();
    }
    if (shown == flags.count) break;
    while (!is_stopped && since_view.Seconds() < flags.interval)
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(kPollSeconds, flags.interval)));
  }
  return absl::OkStatus();
}

}  // namespace

void AddFleetTopCommand(CLI::App& fleet, Action& action) {
  CLI::App* command = fleet.add_subcommand(
      "top", "Show the devices and the waiting requests, and update them; live on a terminal");
  const auto flags = std::make_shared<FleetTopFlags>();
  command->add_option("--interval", flags->interval, "seconds between two views (default: 1)")
      ->check(CLI::Range(0.1, 86400.0));
  command->add_option("--count", flags->count, "exit after this many views (default: on Ctrl-C)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  command->add_flag("--json", flags->json, "print a line of JSON for each view");
  command->callback([flags, &action] { action = [flags] { return Watch(*flags); }; });
}

}  // namespace attune
