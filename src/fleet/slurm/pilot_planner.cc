#include "fleet/slurm/pilot_planner.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

// A job that ends may be listed for a while; one that is still there then is cancelled once more.
constexpr double kCancelAgainSeconds = 60;

}  // namespace

PilotActions PilotPlanner::Plan(const PilotView& view) {
  PilotActions actions;
  Observe(view);
  ForgetAbsent(view, actions);
  InviteAgain(actions);
  if (!view.jobs) return actions;
  const auto held = std::ranges::count_if(pilots_, [](const auto& entry) { return entry.second.is_held; });
  CancelAway(actions);
  const int wanted = std::clamp(static_cast<int>(held) + view.waiting, limits_.min, limits_.max);
  Shrink(wanted, actions);
  Grow(wanted, actions);
  return actions;
}

void PilotPlanner::Observe(const PilotView& view) {
  const double now = clock_.Now();
  if (view.jobs)
    for (const auto& [name, state] : *view.jobs) Adopt(name);
  for (auto& [name, pilot] : pilots_) {
    pilot.is_held = false;
    if (!view.jobs) continue;
    const auto job = view.jobs->find(name);
    const bool is_listed = job != view.jobs->end();
    pilot.is_pending = is_listed && job->second == PilotJobState::kPending;
    const bool is_started = is_listed && !pilot.is_pending;
    pilot.absent_since = is_listed ? std::nullopt : std::optional(pilot.absent_since.value_or(now));
    pilot.away_since = is_started ? std::optional(pilot.away_since.value_or(now)) : std::nullopt;
  }
  for (const PilotDevice& device : view.devices) {
    Pilot& pilot = pilots_[device.pilot];
    pilot.has_come = true;
    if (!device.is_there) continue;
    pilot.is_held |= device.is_held;
    pilot.absent_since.reset();
    pilot.away_since.reset();
    failures_ = 0;
  }
}

void PilotPlanner::ForgetAbsent(const PilotView& view, PilotActions& actions) {
  const double now = clock_.Now();
  const auto is_gone = [&](const Pilot& pilot) {
    return view.jobs && pilot.absent_since && now >= *pilot.absent_since + limits_.absent_seconds;
  };
  for (const PilotDevice& device : view.devices)
    if (is_gone(pilots_.at(device.pilot))) actions.removed_devices.push_back(device.id);
  bool is_lost = false;
  for (const auto& [name, pilot] : pilots_) {
    if (!is_gone(pilot)) continue;
    actions.forgotten.push_back({.name = name, .is_lost = !pilot.has_come && !pilot.cancelled});
    is_lost |= actions.forgotten.back().is_lost;
  }
  for (const ForgottenPilot& forgotten : actions.forgotten) pilots_.erase(forgotten.name);
  if (is_lost) Pause();
}

void PilotPlanner::InviteAgain(PilotActions& actions) {
  const double now = clock_.Now();
  for (auto& [name, pilot] : pilots_) {
    if (!pilot.is_pending || (pilot.invited && now < *pilot.invited + limits_.invitation_seconds)) continue;
    pilot.invited = now;
    actions.invited.push_back(name);
  }
}

void PilotPlanner::Grow(int wanted, PilotActions& actions) {
  if (clock_.Now() < paused_until_) return;
  const int room = limits_.max - static_cast<int>(pilots_.size());
  for (int missing = std::min(wanted - NumServing(), room); missing > 0; --missing) {
    const std::string name = new_name_(NumStaying() < limits_.min);
    pilots_[name].invited = clock_.Now();
    actions.submitted.push_back(name);
  }
}

void PilotPlanner::CancelAway(PilotActions& actions) {
  const double now = clock_.Now();
  for (auto& [name, pilot] : pilots_) {
    const double patience = pilot.has_come ? limits_.away_seconds : limits_.coming_seconds;
    const bool is_away = pilot.away_since && now >= *pilot.away_since + patience;
    const bool has_stayed = pilot.cancelled && now >= *pilot.cancelled + kCancelAgainSeconds;
    if (pilot.cancelled ? !has_stayed : !is_away) continue;
    pilot.cancelled = now;
    actions.cancelled.push_back(name);
  }
}

void PilotPlanner::Shrink(int wanted, PilotActions& actions) {
  const double now = clock_.Now();
  Cancel(NumServing() - limits_.max, [](const std::string&, const Pilot&) { return true; }, actions);
  const int surplus = NumServing() - wanted;
  if (surplus <= 0) return surplus_since_.reset();
  if (!surplus_since_) surplus_since_ = now;
  // Work comes in batches. Between two of them, no place in Slurm's queue is given up.
  if (now < *surplus_since_ + limits_.idle_seconds) return;
  Cancel(surplus, [](const std::string&, const Pilot& pilot) { return pilot.is_pending; }, actions);
  // The others end by themselves.
  Cancel(
      std::min(NumServing() - wanted, NumStaying() - limits_.min),
      [](const std::string& name, const Pilot&) { return PilotStays(name); }, actions);
}

void PilotPlanner::Cancel(int count, const std::function<bool(const std::string&, const Pilot&)>& is_chosen,
                          PilotActions& actions) {
  const double now = clock_.Now();
  for (const bool is_pending : {true, false}) {
    for (auto& [name, pilot] : pilots_) {
      if (pilot.is_pending != is_pending || pilot.is_held || !is_chosen(name, pilot)) continue;
      if (count <= 0) return;
      if (pilot.cancelled) continue;
      pilot.cancelled = now;
      actions.cancelled.push_back(name);
      --count;
    }
  }
}

int PilotPlanner::NumServing() const {
  return static_cast<int>(
      std::ranges::count_if(pilots_, [](const auto& entry) { return entry.second.serves(); }));
}

int PilotPlanner::NumStaying() const {
  return static_cast<int>(std::ranges::count_if(
      pilots_, [](const auto& entry) { return entry.second.serves() && PilotStays(entry.first); }));
}

void PilotPlanner::NotSubmitted(const std::string& name) {
  pilots_.erase(name);
  Pause();
}

void PilotPlanner::Pause() {
  if (clock_.Now() < paused_until_) return;
  paused_until_ = clock_.Now() + std::min(limits_.longest_pause, std::ldexp(1.0, failures_));
  failures_ = std::min(failures_ + 1, 30);
}

}  // namespace attune
