// attune jobs submit|predict JOBS.yaml
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cancel.h"
#include "base/status.h"
#include "cli/agreement_flags.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/jobs_command.h"
#include "cli/jobs_flags.h"
#include "cli/jobs_server.h"
#include "cli/live_text.h"
#include "cli/submitted_jobs_view.h"
#include "device/device_key.h"
#include "service/client/pending_submission.h"
#include "service/client/submission.h"

namespace attune {
namespace {

struct JobsSubmitFlags {
  ServerFlags server;
  JobsFlags jobs;
  AgreementFlags agreement;
  std::string on, json;
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
                           "; the file's settings of these have no effect"));
}

absl::StatusOr<std::vector<JobSpec>> ReadSpecs(const JobsSubmitFlags& flags) {
  ASSIGN_OR_RETURN(JobsFile file, ReadJobs(flags.jobs));
  NoteWhatDoesNotCount(file);
  for (JobSpec& job : file.jobs) job.on = flags.on;
  return std::move(file.jobs);
}

// Waits for the ends of jobs, and tells of each.
absl::Status Await(JobsClient& server, Cancellation& cancellation, std::vector<RemoteJob>& jobs) {
  LiveText text;
  const auto told = [&](size_t index) {
    if (jobs[index].is_over()) text.Note(EndText(jobs[index]));
    if (!text.is_terminal()) return absl::OkStatus();
    std::vector<RemoteJob> left;
    std::ranges::copy_if(jobs, std::back_inserter(left), [](const auto& job) { return !job.is_over(); });
    text.Draw(text.Fitted(JobsTable(left)));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(AwaitJobs(server, cancellation, jobs, told));
  const auto done = std::ranges::count_if(jobs, [](const auto& job) { return job.state == "done"; });
  if (done == std::ssize(jobs)) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat(std::ssize(jobs) - done, " of ", jobs.size(), " jobs have failed or were cancelled"));
}

// The jobs with what the flags want of them; their files are read, and nothing is sent.
absl::StatusOr<PreparedSubmission> Prepare(const JobsSubmitFlags& flags, const WorkControl& control) {
  ASSIGN_OR_RETURN(const std::vector<JobSpec> specs, ReadSpecs(flags));
  ASSIGN_OR_RETURN(PreparedSubmission submission, PrepareSubmission(specs, control));
  for (Json& job : submission.jobs) AddAgreement(flags.agreement, job);
  return submission;
}

// A name that the same command has again.
std::string NameOf(const PreparedSubmission& submission, const std::string& server) {
  std::string name = server;
  for (const Json& job : submission.jobs) absl::StrAppend(&name, "\n", job["name"].get<std::string>());
  return name;
}

absl::StatusOr<std::vector<RemoteJob>> Send(JobsClient& server, const std::string& url,
                                            const PreparedSubmission& submission,
                                            const WorkControl& control) {
  ASSIGN_OR_RETURN(const std::string folder, PendingSubmission::DefaultFolder(std::getenv));
  ASSIGN_OR_RETURN(PendingSubmission pending, PendingSubmission::Begin(folder, NameOf(submission, url)));
  if (pending.is_repeated())
    PrintNote(
        "an earlier submission of these jobs did not end; jobs that it submitted are not submitted again");
  RETURN_IF_ERROR(server.SendFiles(submission, control));
  ASSIGN_OR_RETURN(std::vector<RemoteJob> jobs, server.Submit(submission, pending));
  pending.Forget();
  return jobs;
}

absl::Status Submit(const JobsSubmitFlags& flags) {
  Progress progress;
  const WorkControl control = {.progress = &progress};
  ASSIGN_OR_RETURN(const PreparedSubmission submission, Prepare(flags, control));
  ASSIGN_OR_RETURN(const KnownServer meant, MeantServer(flags.server));
  Cancellation cancellation;
  ASSIGN_OR_RETURN(const auto server, OpenJobsServer(meant, &cancellation));
  ASSIGN_OR_RETURN(std::vector<RemoteJob> jobs, Send(*server, meant.url, submission, control));
  if (flags.json != "-") {
    for (const RemoteJob& job : jobs) PrintResult(absl::StrCat(job.id, "\n"));
    RETURN_IF_ERROR(FlushOutput());
  }
  const absl::Status waited = flags.wait ? Await(*server, cancellation, jobs) : absl::OkStatus();
  if (!flags.json.empty()) RETURN_IF_ERROR(WriteJson(JobsJson(jobs), flags.json));
  return waited;
}

// The server gets the files, and no job.
absl::Status Predict(const JobsSubmitFlags& flags) {
  Progress progress;
  const WorkControl control = {.progress = &progress};
  ASSIGN_OR_RETURN(const PreparedSubmission submission, Prepare(flags, control));
  ASSIGN_OR_RETURN(const auto server, OpenJobsServer(flags.server));
  RETURN_IF_ERROR(server->SendFiles(submission, control));
  Json all = Json::array();
  std::string text;
  for (const Json& job : submission.jobs) {
    ASSIGN_OR_RETURN(Json predicted, server->Predict(job));
    ASSIGN_OR_RETURN(const RemotePrediction prediction, ReadRemotePrediction(predicted));
    absl::StrAppend(&text, text.empty() ? "" : "\n", job["name"].get<std::string>(), ": ",
                    PredictionText(prediction));
    all.push_back(std::move(predicted));
  }
  if (!flags.json.empty()) RETURN_IF_ERROR(WriteJson({{"predictions", std::move(all)}}, flags.json));
  if (flags.json != "-") PrintResult(text);
  return absl::OkStatus();
}

// The flags of both commands.
CLI::App* AddSubmitCommand(CLI::App& jobs, const char* name, const char* help, JobsSubmitFlags& flags) {
  CLI::App* command = jobs.add_subcommand(name, help);
  AddServerFlags(*command, flags.server);
  AddJobsFlags(*command, flags.jobs);
  command
      ->add_option(
          "--on", flags.on,
          "key of the device to measure on (default: the jobs need none); attune fleet list shows the keys")
      ->type_name("KEY")
      ->check([](const std::string& key) { return std::string(CheckDeviceKey(key).message()); });
  AddAgreementFlags(*command, flags.agreement);
  return command;
}

}  // namespace

void AddJobsSubmitCommand(CLI::App& jobs, Action& action) {
  const auto flags = std::make_shared<JobsSubmitFlags>();
  CLI::App* command = AddSubmitCommand(
      jobs, "submit", "Send jobs and their files to the server, and print the jobs' ids", *flags);
  command->add_flag("--wait", flags->wait, "wait until all are over; fails if one does");
  command
      ->add_option("--json", flags->json,
                   "write the jobs to this file, or - for stdout; with --wait, as they have ended")
      ->type_name("FILE");
  command->callback([flags, &action] { action = [flags] { return Submit(*flags); }; });
}

void AddJobsPredictCommand(CLI::App& jobs, Action& action) {
  const auto flags = std::make_shared<JobsSubmitFlags>();
  CLI::App* command = AddSubmitCommand(
      jobs, "predict", "Ask the server for its predictions for jobs, without submitting them", *flags);
  command->add_option("--json", flags->json, "write the predictions to this file, or - for stdout")
      ->type_name("FILE");
  command->callback([flags, &action] { action = [flags] { return Predict(*flags); }; });
}

}  // namespace attune
