#include "sweep/sweep_driver.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"
#include "sweep/results_table.h"
#include "sweep/sweep_value.h"

namespace attune {

std::vector<std::string> SweepArguments(const SweepFolder& folder, const UsedOptions& used,
                                        const SweepRun& run, size_t command, const std::string& base) {
  const SweepPlan& plan = folder.plan();
  const std::string& name = plan.commands[command];
  const bool has_artifact = plan.Has("tune") || plan.Has("compile");
  const auto own = [&](const char* flag, const char* file) {
    return absl::StrCat("--", flag, "=", folder.FileOf(run, file));
  };
  const std::filesystem::path given = SweepValueText(run.values[plan.IndexOf(kModelOption)]);
  std::string model = (std::filesystem::path(base) / given).lexically_normal().string();
  if (plan.Has("quantize") && name != "quantize") model = folder.FileOf(run, "model.onnx");
  if (name == "bench" && has_artifact) model = folder.FileOf(run, "network.atn");

  std::vector<std::string> arguments = {name, std::move(model)};
  for (const UsedOption& option : used[command]) {
    const std::vector<std::string> more = ArgumentsOf(option.option, run.values[option.index]);
    arguments.insert(arguments.end(), more.begin(), more.end());
  }
  if (name == "quantize") {
    arguments.push_back(own("output", "model.onnx"));
    arguments.push_back(own("plan", "plan.json"));
  } else if (name != "bench" || !has_artifact) {
    // Where nothing is tuned, only a database that the file names has anything that belongs to the sweep.
    const bool has_records =
        plan.Has("tune") || (plan.records != kOwnRecords && plan.records != kSharedRecords);
    arguments.push_back(absl::StrCat("--records=", has_records ? folder.RecordsOf(run) : "none"));
  }
  if (name == "tune") {
    arguments.push_back(own("events", "events.jsonl"));
    arguments.push_back(own("report", "tune.html"));
  }
  if (name == "compile" || (name == "tune" && !plan.Has("compile")))
    arguments.push_back(own("output", "network.atn"));
  arguments.push_back(absl::StrCat("--json=", folder.ResultOf(run, name)));
  return arguments;
}

SweepDriver::SweepDriver(const SweepFolder& folder, const UsedOptions& used, std::string base,
                         bool retries_failed)
    : folder_(folder), used_(used), base_(std::move(base)), retries_failed_(retries_failed) {
  for (const SweepRun& run : folder.plan().runs) {
    SweepResult& result = results_.emplace_back(ReadSweepResult(folder, run));
    if (retries_failed && result.state == SweepRunState::kFailed) result.state = SweepRunState::kUnfinished;
  }
}

size_t SweepDriver::NumUnfinished() const {
  return static_cast<size_t>(std::ranges::count(results_, SweepRunState::kUnfinished, &SweepResult::state));
}

size_t SweepDriver::NumFailed() const {
  return static_cast<size_t>(std::ranges::count(results_, SweepRunState::kFailed, &SweepResult::state));
}

absl::Status SweepDriver::WriteTable() const {
  return WriteFileAtomically(folder_.ResultsPath(), ResultsCsv(folder_.plan(), results_));
}

absl::Status SweepDriver::RunOne(size_t index, SweepProgram& program, SweepObserver& observer,
                                 const Cancellation& cancellation) {
  const SweepPlan& plan = folder_.plan();
  const SweepRun& run = plan.runs[index];
  if (retries_failed_) RETURN_IF_ERROR(folder_.ForgetFailure(run));
  while (const std::optional<size_t> next = folder_.NextCommand(run)) {
    if (cancellation.is_cancelled()) return absl::CancelledError("stopped");
    const std::string& command = plan.commands[*next];
    RETURN_IF_ERROR(folder_.Prepare(run, command));
    observer.OnCommand(index, command);
    absl::Status status = program.Run(SweepArguments(folder_, used_, run, *next, base_),
                                      folder_.FileOf(run, "log.txt"), cancellation);
    if (absl::IsCancelled(status)) return status;
    if (status.ok() && !folder_.IsDone(run, command))
      status = absl::InternalError("has ended without a result");
    if (status.ok()) continue;
    return folder_.Fail(run, {command, std::string(status.message())});
  }
  return absl::OkStatus();
}

absl::Status SweepDriver::Run(SweepProgram& program, SweepObserver& observer,
                              const Cancellation& cancellation) {
  RETURN_IF_ERROR(WriteTable());
  for (size_t index = 0; index < results_.size(); ++index) {
    if (results_[index].state != SweepRunState::kUnfinished) continue;
    RETURN_IF_ERROR(RunOne(index, program, observer, cancellation));
    results_[index] = ReadSweepResult(folder_, folder_.plan().runs[index]);
    RETURN_IF_ERROR(WriteTable());
    observer.OnRunEnd(index, results_[index]);
  }
  return absl::OkStatus();
}

}  // namespace attune
