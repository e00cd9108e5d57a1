// attune jobs logs JOB
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/jobs_command.h"
#include "cli/jobs_server.h"
#include "cli/live_text.h"
#include "cli/output.h"
#include "cli/submitted_jobs_view.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr double kLineSeconds = 30;  // between two lines about the progress

// Prints what is new about a job: a line for each stage that has ended to stdout, and to stderr how far it
// is.
class JobLog {
 public:
  absl::Status Update(const proto::JobDetail& detail) {
    if (told_ < detail.stages_size()) text_.Erase();
    for (; told_ < detail.stages_size(); ++told_) PrintResult(StageLine(detail.stages(told_)));
    return FlushOutput();
  }

  void ShowProgress(const proto::Job& job) {
    const std::string left = job.remaining_seconds() > 0
                                 ? absl::StrCat(", ", FormatDuration(job.remaining_seconds()), " left")
                                 : "";
    const std::string line = absl::StrCat(job.id(), ": ", DoingText(job), left,
                                          job.progress().empty() ? "" : "; ", job.progress());
    if (text_.is_terminal()) return text_.Draw(Cut(WithoutControls(line), text_.columns()) + "\n");
    if (line == last_line_ || (!last_line_.empty() && since_line_.Seconds() < kLineSeconds)) return;
    std::fprintf(stderr, "%s\n", WithoutControls(line).c_str());
    last_line_ = line;
    since_line_.Lap();
  }

  void Note(const std::string& line) { text_.Note(line); }

 private:
  LiveText text_;
  int told_ = 0;  // stages
  std::string last_line_;
  Stopwatch since_line_;
};

absl::Status Logs(const std::string& id, bool follow) {
  ASSIGN_OR_RETURN(const auto server, JoinedJobsServer());
  ASSIGN_OR_RETURN(proto::JobDetail detail, server->Show(id));
  JobLog log;
  RETURN_IF_ERROR(log.Update(detail));
  if (!follow) return absl::OkStatus();
  const auto ask = [&]() -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(detail, server->Show(id));
    RETURN_IF_ERROR(log.Update(detail));
    if (IsOver(detail.job())) return true;
    log.ShowProgress(detail.job());
    return false;
  };
  RETURN_IF_ERROR(PollServer(ask));
  log.Note(EndText(detail.job()));
  return absl::OkStatus();
}

}  // namespace

void AddJobsLogsCommand(CLI::App& jobs, Action& action) {
  struct Flags {
    std::string id;
    bool follow = false;
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App* command = jobs.add_subcommand("logs", "Print the stages of a job on the server as they end");
  command->add_option("JOB", flags->id, "its id")->required();
  command->add_flag("--follow", flags->follow, "until the job is over");
  command->callback([flags, &action] { action = [flags] { return Logs(flags->id, flags->follow); }; });
}

}  // namespace attune
