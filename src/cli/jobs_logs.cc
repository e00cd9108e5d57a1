// attune jobs logs JOB
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/jobs_command.h"
#include "cli/jobs_server.h"
#include "cli/live_text.h"
#include "cli/submitted_jobs_view.h"

namespace attune {
namespace {

struct JobsLogsFlags {
  ServerFlags server;
  std::string id;
  bool follow = false;
};

constexpr double kLineSeconds = 30;  // between two lines about the progress

// Prints what is new about a job: a line for each stage that has ended to stdout, and to stderr how far it
// is.
class JobLog {
 public:
  absl::Status Update(const RemoteJobDetail& detail) {
    if (told_ < detail.stages.size()) text_.Erase();
    for (; told_ < detail.stages.size(); ++told_) PrintResult(StageLine(detail.stages[told_]));
    return FlushOutput();
  }

  void ShowProgress(const RemoteJob& job) {
    const std::string left =
        job.remaining_seconds > 0 ? absl::StrCat(", ", FormatDuration(job.remaining_seconds), " left") : "";
    const std::string line =
        absl::StrCat(job.id, ": ", DoingText(job), left, job.progress.empty() ? "" : "; ", job.progress);
    if (text_.is_terminal()) return text_.Draw(Cut(WithoutControls(line), text_.columns()) + "\n");
    if (line == last_line_ || (!last_line_.empty() && since_line_.Seconds() < kLineSeconds)) return;
    std::fprintf(stderr, "%s\n", WithoutControls(line).c_str());
    last_line_ = line;
    since_line_.Lap();
  }

  void Note(const std::string& line) { text_.Note(line); }

 private:
  LiveText text_;
  size_t told_ = 0;  // stages
  std::string last_line_;
  Stopwatch since_line_;
};

absl::Status Logs(const JobsLogsFlags& flags) {
  Cancellation cancellation;
  ASSIGN_OR_RETURN(const auto server, OpenJobsServer(flags.server, &cancellation));
  ASSIGN_OR_RETURN(RemoteJobDetail detail, server->Show(flags.id));
  JobLog log;
  RETURN_IF_ERROR(log.Update(detail));
  if (!flags.follow) return absl::OkStatus();
  std::vector<RemoteJob> jobs = {detail.job};
  const auto told = [&](size_t) -> absl::Status {
    // An event tells that something has changed, and no stages.
    ASSIGN_OR_RETURN(detail, server->Show(flags.id));
    RETURN_IF_ERROR(log.Update(detail));
    if (!jobs.front().is_over()) log.ShowProgress(jobs.front());
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(AwaitJobs(*server, cancellation, jobs, told));
  log.Note(EndText(jobs.front()));
  return absl::OkStatus();
}

}  // namespace

void AddJobsLogsCommand(CLI::App& jobs, Action& action) {
  const auto flags = std::make_shared<JobsLogsFlags>();
  CLI::App* command = jobs.add_subcommand("logs", "Print the stages of a job on the server as they end");
  AddServerFlags(*command, flags->server);
  command->add_option("JOB", flags->id, "its id")->required();
  command->add_flag("--follow", flags->follow, "until the job is over");
  command->callback([flags, &action] { action = [flags] { return Logs(*flags); }; });
}

}  // namespace attune
