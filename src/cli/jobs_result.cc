// attune jobs result JOB
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/jobs_command.h"
#include "cli/jobs_server.h"
#include "cli/submitted_jobs_view.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

struct JobsResultFlags {
  ServerFlags server;
  std::string id, folder, json;
};

absl::Status CheckIsDone(const RemoteJob& job) {
  if (!job.is_over())
    return absl::FailedPreconditionError(absl::StrCat(job.id, " is not over: ", DoingText(job),
                                                      "; attune jobs logs ", job.id,
                                                      " --follow waits for its end"));
  return job.state == "done" ? absl::OkStatus() : absl::AbortedError(EndText(job));
}

// The files that the job made for people, by their names below the folder for these.
absl::StatusOr<std::vector<RemoteFile>> OutputsOf(const RemoteJobDetail& detail) {
  std::vector<JobFile> all;
  for (const RemoteFile& file : detail.files)
    all.push_back({.name = file.name, .digest = file.sha256, .bytes = file.bytes});
  RETURN_IF_ERROR(CheckJobFiles(all));
  std::vector<RemoteFile> outputs;
  for (const RemoteFile& file : detail.files)
    if (file.name.starts_with(kOutputsFolder)) outputs.push_back(file);
  return outputs;
}

absl::Status Download(JobsClient& server, const JobsResultFlags& flags, std::vector<RemoteFile>& outputs) {
  Progress progress;
  for (RemoteFile& output : outputs) {
    const std::filesystem::path path =
        std::filesystem::path(flags.folder) / output.name.substr(kOutputsFolder.size());
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      return absl::FailedPreconditionError(
          absl::StrCat(path.parent_path().string(), ": cannot create the folder: ", error.message()));
    RETURN_IF_ERROR(server.Download(flags.id, output, path.string(), {.progress = &progress}));
    output.name = path.string();
  }
  return absl::OkStatus();
}

absl::Status Result(JobsResultFlags flags) {
  if (flags.folder.empty()) flags.folder = flags.id;
  ASSIGN_OR_RETURN(const auto server, OpenJobsServer(flags.server));
  ASSIGN_OR_RETURN(RemoteJobDetail detail, server->Show(flags.id));
  RETURN_IF_ERROR(CheckIsDone(detail.job));
  ASSIGN_OR_RETURN(std::vector<RemoteFile> outputs, OutputsOf(detail));
  RETURN_IF_ERROR(Download(*server, flags, outputs));
  if (!flags.json.empty()) {
    Json& files = detail.job.json["files"] = Json::array();
    for (const RemoteFile& file : outputs)
      files.push_back({{"name", file.name}, {"sha256", file.sha256}, {"bytes", file.bytes}});
    RETURN_IF_ERROR(WriteJson(detail.job.json, flags.json));
  }
  if (flags.json != "-")
    PrintResult(absl::StrCat(ResultText(detail), outputs.empty() ? "" : "\n" + FilesTable(outputs)));
  return absl::OkStatus();
}

}  // namespace

void AddJobsResultCommand(CLI::App& jobs, Action& action) {
  const auto flags = std::make_shared<JobsResultFlags>();
  CLI::App* command = jobs.add_subcommand(
      "result", "Fetch the files that a job on the server has written, and print its result");
  AddServerFlags(*command, flags->server);
  command->add_option("JOB", flags->id, "its id")->required();
  command->add_option("-o,--output", flags->folder, "the folder for its files (default: the job's id)")
      ->type_name("FOLDER");
  command->add_option("--json", flags->json, "write all facts about the job to this file, or - for stdout")
      ->type_name("FILE");
  command->callback([flags, &action] { action = [flags] { return Result(*flags); }; });
}

}  // namespace attune
