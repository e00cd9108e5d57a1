#include "fleet/slurm/slurm_commands.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/printable.h"
#include "base/process/command.h"
#include "base/status.h"

namespace attune {
namespace {

// Slurm's commands give up on a controller that is silent after some ten seconds.
constexpr CommandLimits kLimits = {.seconds = 30, .output_bytes = size_t{16} << 20};

// Letters, digits and some other characters, of which a value may not begin with a dash.
absl::Status CheckText(std::string_view flag, std::string_view text, std::string_view others) {
  constexpr size_t kMostBytes = 256;
  const bool is_good =
      !text.empty() && text.size() <= kMostBytes && text[0] != '-' && std::ranges::all_of(text, [&](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains(others, c);
      });
  if (is_good) return absl::OkStatus();
  return InvalidInput(flag, ": \"", Printable(text), "\" is nothing that Slurm takes");
}

}  // namespace

absl::Status CheckSlurmResources(const SlurmResources& resources) {
  RETURN_IF_ERROR(CheckText("--partition", resources.partition, "_-.,"));
  if (!resources.gres.empty()) RETURN_IF_ERROR(CheckText("--gres", resources.gres, "_-.,:="));
  if (!resources.time_limit.empty()) RETURN_IF_ERROR(CheckText("--time-limit", resources.time_limit, "-:"));
  return resources.cpus >= 0 ? absl::OkStatus() : InvalidInput("--cpus: ", resources.cpus, " is too few");
}

std::vector<std::string> SbatchCommand(const SlurmResources& resources, const SlurmJob& job) {
  std::vector<std::string> command = {
      "sbatch", "--parsable",
      // A pilot that a node has lost is replaced by another one.
      "--no-requeue",
      // Nothing of our environment, which may have secrets, is stored with the job.
      "--export=NIL", "--nodes=1", "--ntasks=1", absl::StrCat("--job-name=", job.name),
      absl::StrCat("--partition=", resources.partition),
      resources.cpus == 0 ? "--exclusive" : absl::StrCat("--cpus-per-task=", resources.cpus),
      absl::StrCat("--chdir=", job.folder),
      absl::StrCat("--output=", absl::StrReplaceAll(job.log, {{"%", "%%"}})),  // else a pattern
  };
  if (!resources.gres.empty()) command.push_back(absl::StrCat("--gres=", resources.gres));
  if (!resources.time_limit.empty()) command.push_back(absl::StrCat("--time=", resources.time_limit));
  command.push_back(job.script);
  command.insert(command.end(), job.arguments.begin(), job.arguments.end());
  return command;
}

std::map<std::string, PilotJobState> ParseSqueue(std::string_view text, std::string_view prefix) {
  std::map<std::string, PilotJobState> jobs;
  for (const std::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<std::string_view, std::string_view> words = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    if (!absl::StartsWith(words.second, prefix)) continue;
    const PilotJobState state = words.first == "PENDING" ? PilotJobState::kPending : PilotJobState::kStarted;
    // If two jobs have one name, the one that has started counts.
    PilotJobState& known = jobs.try_emplace(std::string(words.second), state).first->second;
    known = std::max(known, state);
  }
  return jobs;
}

absl::Status SlurmPrograms::Submit(const SlurmJob& job) {
  ASSIGN_OR_RETURN(const std::string id, RunCommand(SbatchCommand(resources_, job), kLimits));
  if (!id.empty() && absl::ascii_isdigit(static_cast<unsigned char>(id[0]))) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("sbatch: answers \"", Printable(id), "\", which is not a job's id"));
}

absl::StatusOr<std::map<std::string, PilotJobState>> SlurmPrograms::Jobs(std::string_view prefix) {
  ASSIGN_OR_RETURN(const std::string lines, RunCommand({"squeue", "-h", "--me", "-o", "%T %j"}, kLimits));
  return ParseSqueue(lines, prefix);
}

absl::Status SlurmPrograms::Cancel(const std::string& name) {
  return RunCommand({"scancel", absl::StrCat("--name=", name)}, kLimits).status();
}

}  // namespace attune
