// attune jobs result JOB
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/jobs_command.h"
#include "cli/jobs_server.h"
#include "cli/output.h"
#include "cli/submitted_jobs_view.h"
#include "service/job_files.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

struct Flags {
  std::string id, folder, json;
};

absl::Status CheckIsDone(const proto::Job& job) {
  if (!IsOver(job))
    return absl::FailedPreconditionError(absl::StrCat(job.id(), " is not over: ", DoingText(job),
                                                      "; attune jobs logs ", job.id(),
                                                      " --follow waits for its end"));
  return job.state() == "done" ? absl::OkStatus() : absl::AbortedError(EndText(job));
}

// The files that the job made for people, by their names below the folder for these.
absl::StatusOr<std::vector<proto::JobFile>> OutputsOf(const proto::JobDetail& detail) {
  RETURN_IF_ERROR(CheckJobFiles(FromWire(detail.files())));
  std::vector<proto::JobFile> outputs;
  for (const proto::JobFile& file : detail.files())
    if (file.name().starts_with(kOutputsFolder)) outputs.push_back(file);
  return outputs;
}

absl::Status Download(JobsClient& server, const Flags& flags, std::vector<proto::JobFile>& outputs) {
  Progress progress;
  for (proto::JobFile& output : outputs) {
    const std::filesystem::path path =
        std::filesystem::path(flags.folder) / output.name().substr(kOutputsFolder.size());
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      return absl::FailedPreconditionError(
          absl::StrCat(path.parent_path().string(), ": cannot create the folder: ", error.message()));
    RETURN_IF_ERROR(server.ReadFile(flags.id, output, path.string(), {.progress = &progress}));
    output.set_name(path.string());
  }
  return absl::OkStatus();
}

absl::Status Result(Flags flags) {
  if (flags.folder.empty()) flags.folder = flags.id;
  ASSIGN_OR_RETURN(const auto server, JoinedJobsServer());
  ASSIGN_OR_RETURN(proto::JobDetail detail, server->Show(flags.id));
  RETURN_IF_ERROR(CheckIsDone(detail.job()));
  ASSIGN_OR_RETURN(std::vector<proto::JobFile> outputs, OutputsOf(detail));
  RETURN_IF_ERROR(Download(*server, flags, outputs));
  if (!flags.json.empty()) {
    detail.mutable_files()->Assign(outputs.begin(), outputs.end());
    RETURN_IF_ERROR(WriteJson(JobDetailJson(detail), flags.json));
  }
  if (flags.json != "-")
    PrintResult(absl::StrCat(ResultText(detail.job()), outputs.empty() ? "" : "\n" + FilesTable(outputs)));
  return absl::OkStatus();
}

}  // namespace

void AddJobsResultCommand(CLI::App& jobs, Action& action) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* command =
      jobs.add_subcommand("result", "Bring what a job on the server has written, and print its result");
  command->add_option("JOB", flags->id, "its id")->required();
  command->add_option("-o,--output", flags->folder, "the folder for its files (default: the job's id)")
      ->type_name("FOLDER");
  command->add_option("--json", flags->json, "write all about the job to this file, or - for stdout")
      ->type_name("FILE");
  command->callback([flags, &action] { action = [flags] { return Result(*flags); }; });
}

}  // namespace attune
