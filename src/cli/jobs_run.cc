// attune jobs run JOBS.yaml
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/cancel.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/common/stops_on_signal.h"
#include "cli/common/strategy_flag.h"
#include "cli/destinations.h"
#include "cli/jobs_command.h"
#include "cli/jobs_flags.h"
#include "cli/jobs_view.h"
#include "kinds/kinds.h"
#include "work/driver/local_host.h"
#include "work/driver/runner_processes.h"
#include "work/driver/schedule_driver.h"
#include "work/file/jobs_file.h"
#include "work/report/schedule_json.h"
#include "work/report/schedule_report.h"
#include "work/sched/strategy.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

struct JobsRunFlags {
  JobsFlags jobs;
  std::string strategy, isolation, state, json, report;
  int building = 0, measuring = 0;
  int64_t jobs_at_once = 0;
};

struct NamedIsolation {
  const char* name;
  Isolation isolation;
};
constexpr NamedIsolation kIsolations[] = {{"none", Isolation::kNone},
                                          {"core", Isolation::kCore},
                                          {"cache", Isolation::kCache},
                                          {"device", Isolation::kDevice}};

template <typename Value>
Value First(Value flag, Value of_file, Value otherwise) {
  if (flag != Value()) return flag;
  return of_file != Value() ? of_file : otherwise;
}

// The most processors that a job asks of the device, so that it need not be said twice.
int ThreadsOf(const std::vector<JobSpec>& jobs) {
  int64_t threads = 1;
  for (const JobSpec& job : jobs) {
    if (!job.settings.is_object()) continue;
    const auto found = job.settings.find("threads");
    if (found != job.settings.end() && found->is_number_integer())
      threads = std::max(threads, std::min<int64_t>(found->get<int64_t>(), kMaxProcessors));
  }
  return static_cast<int>(threads);
}

absl::StatusOr<Isolation> IsolationNamed(const std::string& name) {
  const auto* const found =
      std::ranges::find_if(kIsolations, [&](const auto& row) { return name == row.name; });
  if (found != std::end(kIsolations)) return found->isolation;
  return InvalidInput("isolation: \"", Printable(name), "\" is none of none, core, cache, device");
}

// Finds the name that the flag gives, or else the file, or else `otherwise`. Errors name the file if it is at
// fault.
template <typename Find>
auto Named(const std::string& flag, const std::string& of_file, const char* otherwise,
           const JobsRunFlags& flags, const Find& find) {
  auto found = find(First<std::string>(flag, of_file, otherwise));
  if (!found.ok() && flag.empty()) found = Annotate(found.status(), flags.jobs.inputs.front());
  return found;
}

// The same command has the same key, and so resumes the schedule that it has begun.
std::string KeyOf(const std::vector<JobSpec>& jobs, const std::string& host) {
  std::string text = absl::StrCat(host, "\n");
  for (const JobSpec& job : jobs) {
    absl::StrAppend(&text, job.id, "\n", job.kind, "\n", job.owner, "\n", job.priority, "\n",
                    job.deadline_seconds.value_or(0), "\n", job.settings.dump(), "\n", job.base, "\n");
  }
  return Sha256Hex(text);
}

absl::Status WriteFiles(const JobsRunFlags& flags, const ScheduleRecord& schedule) {
  if (!flags.report.empty()) RETURN_IF_ERROR(WriteFileAtomically(flags.report, ScheduleHtml(schedule)));
  return flags.json.empty() ? absl::OkStatus() : WriteJson(ToJson(schedule), flags.json);
}

absl::Status WriteResults(const JobsRunFlags& flags, ScheduleDriver& driver) {
  const ScheduleRecord& schedule = driver.schedule();
  RETURN_IF_ERROR(WriteFiles(flags, schedule));
  RETURN_IF_ERROR(driver.Finish());
  if (LeaveStdout({flags.report, flags.json})) PrintResult(DescribeResult(schedule));
  const auto failed = std::ranges::count(schedule.jobs, JobState::kFailed, &JobRecord::state);
  if (failed == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(failed, " of ", schedule.jobs.size(), " jobs have failed"));
}

absl::Status Drive(const JobsRunFlags& flags, ScheduleDriver& driver) {
  Cancellation cancellation;
  JobsView view;
  const StopsOnSignal stops([](void* stopped) { static_cast<Cancellation*>(stopped)->Cancel(); },
                            &cancellation,
                            "\nstopping; the same command resumes later; interrupt again to exit at once\n");
  const absl::Status status = driver.Run(cancellation, [&] { view.Update(driver); });
  if (!absl::IsCancelled(status)) return status;
  RETURN_IF_ERROR(WriteFiles(flags, driver.schedule()));
  const auto left = std::ranges::count(driver.schedule().jobs, JobState::kUnfinished, &JobRecord::state);
  return absl::CancelledError(absl::StrCat("stopped with ", left, " of ", driver.jobs().size(),
                                           " jobs unfinished; the same command resumes them"));
}

absl::Status Run(const JobsRunFlags& flags) {
  ASSIGN_OR_RETURN(const JobsFile file, ReadJobs(flags.jobs));
  ASSIGN_OR_RETURN(const SchedulingStrategy* strategy,
                   Named(flags.strategy, file.strategy, "predictive", flags, StrategyNamed));
  ScheduleDriverOptions options = {.strategy = strategy, .kinds = AllJobKinds()};
  LocalHostOptions wanted;
  wanted.building = First(flags.building, file.building, 0);
  wanted.measuring = First(flags.measuring, file.measuring, ThreadsOf(file.jobs));
  ASSIGN_OR_RETURN(wanted.isolation, Named(flags.isolation, file.isolation, "core", flags, IsolationNamed));
  if (!strategy->is_coordinated) wanted.isolation = Isolation::kNone;
  options.jobs_at_once = First(flags.jobs_at_once, file.jobs_at_once, options.jobs_at_once);
  for (const std::string& path : {flags.report, flags.json})
    if (!path.empty() && path != "-") RETURN_IF_ERROR(OutputFile::Check(path));
  ASSIGN_OR_RETURN(const LocalHost host, DescribeLocalHost(wanted));
  RETURN_IF_ERROR(Annotate(CheckJobs(file.jobs, host, AllJobKinds()), flags.jobs.inputs.front()));
  for (const JobSpec& job : file.jobs)
    RETURN_IF_ERROR(Annotate(AllJobKinds().CheckForThisMachine(job), flags.jobs.inputs.front()));

  std::string state = flags.state;
  if (state.empty()) {
    ASSIGN_OR_RETURN(state, DefaultJobStorePath());
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<SqlJobStore> store, SqlJobStore::Open(state, AllJobKinds()));
  ASSIGN_OR_RETURN(ScheduleRecord schedule, store->ResumeOrBegin(KeyOf(file.jobs, host.device.fingerprint),
                                                                 file.jobs, host.device.fingerprint));
  if (!schedule.stages.empty()) PrintNote(absl::StrCat("resuming schedule ", schedule.id));
  RunnerProcesses runners;
  StayOffDevice(host);
  ScheduleDriver driver(std::move(schedule), options, *store, runners);
  driver.AddHost(host);
  RETURN_IF_ERROR(Drive(flags, driver));
  return WriteResults(flags, driver);
}

}  // namespace

void AddJobsRunCommand(CLI::App& jobs, Action& action) {
  CLI::App* command =
      jobs.add_subcommand("run", "Run jobs side by side on this machine, without disturbing measurements");
  auto flags = std::make_shared<JobsRunFlags>();
  constexpr int kMost = 8192;
  constexpr int64_t kMostJobs = 4096;
  AddJobsFlags(*command, flags->jobs);
  command->add_option("--strategy", flags->strategy,
                      absl::StrCat("which stage runs first: ", StrategyNames(), " (default: predictive)"));
  command
      ->add_option("--building", flags->building, "processors that build (default: all that do not measure)")
      ->check(CLI::Range(1, kMost));
  command
      ->add_option("--measuring", flags->measuring,
                   "processors that measure (default: as many as the jobs' threads)")
      ->check(CLI::Range(1, kMost));
  command->add_option(
      "--isolation", flags->isolation,
      "processors that stay idle while something is measured: none, core (default: the hyper-threads of its "
      "cores), cache (all that share a last-level cache with it), device (everything)");
  command->add_option("--at-once", flags->jobs_at_once, "most jobs in memory at a time (default: 16)")
      ->check(CLI::Range(int64_t{1}, kMostJobs));
  command->add_option("--state", flags->state,
                      "the database of jobs (default: $ATTUNE_JOBS, or jobs.db beside the records)");
  AddOutputFlag(*command, "--report", flags->report, "write a page with a Gantt chart here (HTML)");
  command->add_option("--json", flags->json, "write all stages as JSON to this file, or to stdout for -");
  command->callback([flags, &action] {
    RequireOneStdout({flags->report, flags->json});
    action = [flags] { return Run(*flags); };
  });
}

}  // namespace attune
