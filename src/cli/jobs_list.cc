// attune jobs list|show|cancel
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/jobs_command.h"
#include "cli/jobs_server.h"
#include "cli/submitted_jobs_view.h"

namespace attune {
namespace {

constexpr int64_t kMostListed = 10'000;

absl::Status List(const ServerFlags& flags, bool all, const std::string& json) {
  ASSIGN_OR_RETURN(const auto server, OpenJobsServer(flags));
  ASSIGN_OR_RETURN(const std::vector<RemoteJob> jobs, server->List(all ? "" : "unfinished", kMostListed));
  if (!json.empty()) RETURN_IF_ERROR(WriteJson(JobsJson(jobs), json));
  if (json == "-") return absl::OkStatus();
  if (!jobs.empty()) {
    PrintResult(JobsTable(jobs));
  } else {
    PrintResult(all ? "no jobs; submit some with attune jobs submit\n"
                    : "no unfinished jobs; --all shows those that are over\n");
  }
  return absl::OkStatus();
}

absl::Status Show(const ServerFlags& flags, const std::string& id, bool all_stages, const std::string& json) {
  ASSIGN_OR_RETURN(const auto server, OpenJobsServer(flags));
  ASSIGN_OR_RETURN(const RemoteJobDetail detail, server->Show(id));
  if (!json.empty()) RETURN_IF_ERROR(WriteJson(detail.job.json, json));
  if (json != "-") PrintResult(JobDetailText(detail, all_stages));
  return absl::OkStatus();
}

// Continues after an error, and returns the first one.
absl::Status Cancel(const ServerFlags& flags, const std::vector<std::string>& ids) {
  ASSIGN_OR_RETURN(const auto server, OpenJobsServer(flags));
  absl::Status status;
  for (const std::string& id : ids) {
    const absl::StatusOr<RemoteJob> job = server->Cancel(id);
    if (job.ok()) PrintResult(absl::StrCat(id, ": ", job->is_over() ? job->state : "ends soon", "\n"));
    status.Update(Annotate(job.status(), id));
  }
  return status;
}

}  // namespace

void AddJobsListCommand(CLI::App& jobs, Action& action) {
  struct Flags {
    ServerFlags server;
    bool all = false;
    std::string json;
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App* command = jobs.add_subcommand("list", "Show your jobs on the server, latest first");
  AddServerFlags(*command, flags->server);
  command->add_flag("--all", flags->all, "also show jobs that are over");
  command->add_option("--json", flags->json, "write them to this file, or - for stdout")->type_name("FILE");
  command->callback(
      [flags, &action] { action = [flags] { return List(flags->server, flags->all, flags->json); }; });
}

void AddJobsShowCommand(CLI::App& jobs, Action& action) {
  struct Flags {
    ServerFlags server;
    bool stages = false;
    std::string id, json;
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App* command = jobs.add_subcommand("show", "Show one job on the server in full");
  AddServerFlags(*command, flags->server);
  command->add_option("JOB", flags->id, "its id")->required();
  command->add_flag("--stages", flags->stages, "show each stage on a line of its own");
  command->add_option("--json", flags->json, "write it to this file, or - for stdout")->type_name("FILE");
  command->callback([flags, &action] {
    action = [flags] { return Show(flags->server, flags->id, flags->stages, flags->json); };
  });
}

void AddJobsCancelCommand(CLI::App& jobs, Action& action) {
  struct Flags {
    ServerFlags server;
    std::vector<std::string> ids;
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App* command = jobs.add_subcommand("cancel", "Stop jobs on the server");
  AddServerFlags(*command, flags->server);
  command->add_option("JOB", flags->ids, "their ids")->required();
  command->callback([flags, &action] { action = [flags] { return Cancel(flags->server, flags->ids); }; });
}

}  // namespace attune
