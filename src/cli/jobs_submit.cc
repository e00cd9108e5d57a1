// attune jobs submit JOBS.yaml
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/jobs_command.h"
#include "cli/jobs_flags.h"
#include "cli/jobs_server.h"
#include "cli/live_text.h"
#include "cli/output.h"
#include "cli/submitted_jobs_view.h"
#include "jobs/settings.h"
#include "service/client/submission.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

struct Flags {
  JobsFlags jobs;
  std::string on, deadline, json;
  std::optional<int> priority;
  bool wait = false;
};

// A server has its own ways to run jobs, and knows whose they are.
void NoteWhatDoesNotCount(const JobsFile& file) {
  std::vector<std::string> keys;
  const auto has_owner = [](const JobSpec& job) { return !job.owner.empty(); };
  for (const auto& [is_given, key] :
       {std::pair(!file.strategy.empty(), "strategy"), std::pair(!file.isolation.empty(), "isolation"),
        std::pair(file.building > 0, "building"), std::pair(file.measuring > 0, "measuring"),
        std::pair(file.jobs_at_once > 0, "jobs_at_once"),
        std::pair(std::ranges::any_of(file.jobs, has_owner), "owner")}) {
    if (is_given) keys.emplace_back(key);
  }
  if (!keys.empty())
    PrintNote(absl::StrCat("the server decides about ", absl::StrJoin(keys, ", "),
                           "; what the file says of that has no effect"));
}

absl::StatusOr<std::vector<JobSpec>> ReadSpecs(const Flags& flags) {
  ASSIGN_OR_RETURN(JobsFile file, ReadJobs(flags.jobs));
  NoteWhatDoesNotCount(file);
  for (JobSpec& job : file.jobs) {
    job.on = flags.on;
    if (flags.priority.has_value()) job.priority = *flags.priority;
    if (!flags.deadline.empty()) job.deadline_seconds = ParseSeconds(flags.deadline);
  }
  return std::move(file.jobs);
}

// Waits for the ends of jobs, and tells of each.
class JobsWait {
 public:
  explicit JobsWait(const std::vector<proto::Job>& jobs) : jobs_(jobs) {}

  // Whether all are over.
  absl::StatusOr<bool> Ask(JobsClient& server) {
    ASSIGN_OR_RETURN(const std::vector<proto::Job> unfinished, server.List(/*unfinished_alone=*/true));
    std::map<std::string, const proto::Job*> listed;
    for (const proto::Job& job : unfinished) listed[job.id()] = &job;
    for (proto::Job& job : jobs_) {
      if (IsOver(job)) continue;
      const auto found = listed.find(job.id());
      if (found != listed.end()) {
        job = *found->second;
        continue;
      }
      // It is over, or the list is cut short.
      ASSIGN_OR_RETURN(const proto::JobDetail detail, server.Show(job.id()));
      job = detail.job();
      if (IsOver(job)) text_.Note(EndText(job));
    }
    Draw();
    return std::ranges::all_of(jobs_, IsOver);
  }

  const std::vector<proto::Job>& jobs() const { return jobs_; }

 private:
  void Draw() {
    if (!text_.is_terminal()) return;
    std::vector<proto::Job> left;
    std::ranges::copy_if(jobs_, std::back_inserter(left), [](const auto& job) { return !IsOver(job); });
    text_.Draw(text_.Fitted(JobsTable(left)));
  }

  std::vector<proto::Job> jobs_;
  LiveText text_;
};

absl::Status Await(JobsClient& server, std::vector<proto::Job>& jobs) {
  JobsWait wait(jobs);
  const absl::Status waited = PollServer([&] { return wait.Ask(server); });
  jobs = wait.jobs();
  RETURN_IF_ERROR(waited);
  const auto done = std::ranges::count_if(jobs, [](const auto& job) { return job.state() == "done"; });
  if (done == std::ssize(jobs)) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat(std::ssize(jobs) - done, " of ", jobs.size(), " jobs have failed or were cancelled"));
}

absl::StatusOr<std::vector<proto::Job>> Send(JobsClient& server, const std::vector<JobSpec>& specs) {
  Progress progress;
  const WorkControl control = {.progress = &progress};
  ASSIGN_OR_RETURN(const PreparedSubmission submission, PrepareSubmission(specs, control));
  return server.Submit(submission, control);
}

absl::Status Submit(const Flags& flags) {
  ASSIGN_OR_RETURN(const std::vector<JobSpec> specs, ReadSpecs(flags));
  ASSIGN_OR_RETURN(const auto server, JoinedJobsServer());
  ASSIGN_OR_RETURN(std::vector<proto::Job> jobs, Send(*server, specs));
  if (flags.json != "-") {
    for (const proto::Job& job : jobs) PrintResult(absl::StrCat(job.id(), "\n"));
    RETURN_IF_ERROR(FlushOutput());
  }
  const absl::Status waited = flags.wait ? Await(*server, jobs) : absl::OkStatus();
  if (!flags.json.empty()) RETURN_IF_ERROR(WriteJson(JobsJson(jobs), flags.json));
  return waited;
}

}  // namespace

void AddJobsSubmitCommand(CLI::App& jobs, Action& action) {
  CLI::App* command =
      jobs.add_subcommand("submit", "Give jobs and their files to the server, and print the jobs' ids");
  auto flags = std::make_shared<Flags>();
  constexpr int kMostPriority = 1'000'000;
  AddJobsFlags(*command, flags->jobs);
  command
      ->add_option(
          "--on", flags->on,
          "the key of the device that the jobs measure on (default: they need none); attune fleet list "
          "shows the keys")
      ->type_name("KEY");
  command->add_option("--priority", flags->priority, "that of every job; higher goes first")
      ->check(CLI::Range(-kMostPriority, kMostPriority));
  command
      ->add_option("--deadline", flags->deadline, "when every job should be done, from now: 90s, 5m or 1h30m")
      ->check([](const std::string& text) {
        return ParseSeconds(text).has_value() ? "" : "it is no time like 90s, 5m or 1h30m";
      });
  command->add_flag("--wait", flags->wait, "until all are over; fails if one does");
  command
      ->add_option("--json", flags->json,
                   "write the jobs to this file, or - for stdout; with --wait, as they have ended")
      ->type_name("FILE");
  command->callback([flags, &action] { action = [flags] { return Submit(*flags); }; });
}

}  // namespace attune
