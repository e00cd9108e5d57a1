// attune runner
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/log.h"
#include "base/process/program_guard.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/common/service_command.h"
#include "cli/common/stops_on_signal.h"
#include "cli/enrolment.h"
#include "fleet/identity/member_folders.h"
#include "service/runner/job_runner.h"

namespace attune {
namespace {

struct RunnerFlags {
  EnrolmentFlags enrolment;
  JobRunnerOptions runner;
  std::vector<std::string> programs;  // NAME=COMMAND
};

absl::Status RunRunner(RunnerFlags flags) {
  if (flags.runner.folder.empty()) {
    ASSIGN_OR_RETURN(flags.runner.folder, DefaultRunnerFolder());
  }
  for (const std::string& listed : flags.programs) {
    const size_t equals = listed.find('=');
    const std::vector<std::string> command =
        absl::StrSplit(listed.substr(equals == std::string::npos ? 0 : equals + 1), ' ', absl::SkipEmpty());
    if (equals == std::string::npos || equals == 0 || command.empty())
      return InvalidInput("--program ", listed, ": is not of the form zip=/usr/bin/python3 /opt/zip.py");
    flags.runner.programs[listed.substr(0, equals)] = command;
  }
  if (!flags.programs.empty() && !ProgramGuard::HasNamespaces())
    Log(LogLevel::kWarning,
        "this system has no PID namespaces for programs of jobs; their leftover processes are searched for");
  RETURN_IF_ERROR(Enrol(flags.enrolment, flags.runner.folder));
  ASSIGN_OR_RETURN(const std::unique_ptr<JobRunner> runner, JobRunner::Create(flags.runner));
  const StopsOnSignal stops([](void* running) { static_cast<JobRunner*>(running)->Stop(); }, runner.get(),
                            "\nstopping; interrupt again to exit at once\n");
  PrintNote(absl::StrCat("running jobs on ", runner->machine().usable.size(), " processors"));
  return runner->Run();
}

}  // namespace

void AddRunnerCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("runner", "Run the jobs that are submitted to a server");
  auto flags = std::make_shared<RunnerFlags>();
  constexpr int kMostProcessors = 8192;
  AddEnrolmentFlags(*command, flags->enrolment);
  command->add_option("--state", flags->runner.folder,
                      "the folder of its state (default: attune/runner among the user's state files)");
  command
      ->add_option("--processors", flags->runner.processors,
                   "number of processors to compute on (default: all)")
      ->check(CLI::Range(1, kMostProcessors));
  command
      ->add_option("--program", flags->programs,
                   "a program that jobs may name, with its command: NAME=COMMAND; may be repeated")
      ->type_name("NAME=COMMAND")
      ->allow_extra_args(false);
  command->callback([command, flags, &action] {
    LogToPeople(*command);
    flags->runner.program = ATTUNE_VERSION;
    action = [flags] { return RunRunner(*flags); };
  });
}

}  // namespace attune
