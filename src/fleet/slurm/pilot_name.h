// The names of pilots: agents that run as Slurm jobs.
//
// A pilot has one name everywhere: its Slurm job's, its folder's in the spool, and a key of its device.
// Slurm's own ids will not do: a controller that loses its state gives them out again.
#ifndef ATTUNE_FLEET_SLURM_PILOT_NAME_H_
#define ATTUNE_FLEET_SLURM_PILOT_NAME_H_

#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attune {

// All pilots of the spool with this tag have it, and no others.
inline std::string PilotPrefix(std::string_view tag) { return absl::StrCat("attune-", tag, "-"); }

// `id` differs from that of all other pilots of the spool. One that stays does not end when it is idle; its
// name says so, since everything else about it may get lost.
inline std::string PilotName(std::string_view tag, std::string_view id, bool stays) {
  return absl::StrCat(PilotPrefix(tag), id, stays ? "-stays" : "");
}
inline bool PilotStays(std::string_view name) { return absl::EndsWith(name, "-stays"); }

}  // namespace attune

#endif  // ATTUNE_FLEET_SLURM_PILOT_NAME_H_
