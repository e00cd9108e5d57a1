// Decides which agents run as Slurm jobs (pilots): how many there are, and which of them are lost.
//
// Problem: Slurm and the fleet's server fail independently, and each knows only a part. A Slurm controller
// that is killed has forgotten jobs that it had acknowledged, or still runs a job whose submission seemed to
// fail. Idea: a pilot counts from the moment before it is submitted until neither Slurm lists its name nor
// the fleet has its device, for a while; whatever happened to it, it is then forgotten, and a pilot with
// another name takes its place if one is needed. The success of a submission is never decided. Price: a lost
// pilot is replaced only after that while.
#ifndef ATTUNE_FLEET_SLURM_PILOT_PLANNER_H_
#define ATTUNE_FLEET_SLURM_PILOT_PLANNER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"

namespace attune {

// A pilot has one name everywhere: its Slurm job's, its folder's in the spool, and a key of its device.
// Slurm's own ids will not do: a controller that loses its state gives them out again.

// All pilots of the spool with this tag have it, and no others.
inline std::string PilotPrefix(std::string_view tag) { return absl::StrCat("attune-", tag, "-"); }

// `id` differs from that of all other pilots of the spool. One that stays does not end when it is idle; its
// name says so, since everything else about it may get lost.
inline std::string PilotName(std::string_view tag, std::string_view id, bool stays) {
  return absl::StrCat(PilotPrefix(tag), id, stays ? "-stays" : "");
}
inline bool PilotStays(std::string_view name) { return absl::EndsWith(name, "-stays"); }

struct PilotLimits {
  int min = 0, max = 1;        // pilots
  double idle_seconds = 60;    // after which they end by themselves, unless they stay
  double absent_seconds = 10;  // for which one must be absent to be forgotten
  // A job that runs is cancelled if its agent has been away for this long, or has not come within this time.
  // Slurm may have forgotten that it has ended.
  double away_seconds = 60, coming_seconds = 900;
  double longest_pause = 60;        // seconds between attempts to submit while pilots do not come
  double invitation_seconds = 200;  // after which the invitation of a pilot that waits is replaced
};

// The device of a pilot's agent.
struct PilotDevice {
  std::string id = {}, pilot = {};
  bool is_there = false, is_held = false;
};

enum class PilotJobState : uint8_t { kPending, kStarted };

struct PilotView {
  int waiting = 0;  // requests that pilots could serve
  // The pilots' jobs by name; nothing: Slurm does not answer.
  std::optional<std::map<std::string, PilotJobState>> jobs = std::nullopt;
  std::vector<PilotDevice> devices = {};
};

struct ForgottenPilot {
  std::string name = {};
  bool is_lost = false;  // its agent has never come, and it was not cancelled
};

// To be done in this order.
struct PilotActions {
  std::vector<std::string> removed_devices = {};  // ids
  std::vector<ForgottenPilot> forgotten = {};
  std::vector<std::string> cancelled = {};  // names of jobs
  std::vector<std::string> invited = {};    // names: the invitation of one that waits is replaced
  std::vector<std::string> submitted = {};  // names
};

// Pure logic but for the clock, which must outlive it. Not thread safe.
class PilotPlanner {
 public:
  // Makes a name that no pilot has had; the argument: whether the pilot stays.
  using NewName = std::function<std::string(bool stays)>;
  PilotPlanner(const PilotLimits& limits, NewName new_name, const Clock& clock = SystemClock())
      : limits_(limits), new_name_(std::move(new_name)), clock_(clock) {}

  // A pilot that may be there from earlier. Pilots in the view are adopted anyway.
  void Adopt(const std::string& name) { pilots_.try_emplace(name); }
  // `view` must be newer than the outcome of all earlier actions. There are never more than `max` pilots, as
  // long as those that an earlier process had submitted are not more.
  PilotActions Plan(const PilotView& view);

  // The pilot was not submitted, for sure.
  void NotSubmitted(const std::string& name);
  // To submit it has failed, but it may have been submitted all the same.
  void SubmissionFailed() { Pause(); }

 private:
  struct Pilot {
    bool has_come = false;
    bool is_held = false, is_pending = false;           // in the latest view
    std::optional<double> absent_since = std::nullopt;  // from Slurm and the fleet
    std::optional<double> away_since = std::nullopt;    // from the fleet, though Slurm says that it runs
    std::optional<double> cancelled = std::nullopt, invited = std::nullopt;  // when

    // Whether it does or will take requests. One that has come and is absent now has ended, most likely.
    bool serves() const { return !cancelled && !(has_come && absent_since); }
  };

  void Observe(const PilotView& view);
  void ForgetAbsent(const PilotView& view, PilotActions& actions);
  void CancelAway(PilotActions& actions);
  void Grow(int wanted, PilotActions& actions);
  void Shrink(int wanted, PilotActions& actions);
  // Cancels up to `count` pilots without work for which `is_chosen` holds, those that have not started first.
  void Cancel(int count, const std::function<bool(const std::string&, const Pilot&)>& is_chosen,
              PilotActions& actions);
  // A job may wait for longer than an invitation counts.
  void InviteAgain(PilotActions& actions);
  // How many pilots serve, and how many of these stay.
  int NumServing() const;
  int NumStaying() const;
  // Submits nothing for a while, which is longer each time.
  void Pause();

  const PilotLimits limits_;
  const NewName new_name_;
  const Clock& clock_;
  std::map<std::string, Pilot> pilots_;
  int failures_ = 0;  // since a pilot has come
  double paused_until_ = 0;
  std::optional<double> surplus_since_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SLURM_PILOT_PLANNER_H_
