#include "tune/job/tuning_context.h"

#include <utility>

#include "base/processors.h"
#include "tune/job/budget.h"

namespace attune {

TuningContext::TuningContext(const TuningOptions& options_in, TuningRun run_in, Target target_in,
                             const TuningTools& tools_in)
    : options(options_in), run(std::move(run_in)), target(std::move(target_in)), tools(tools_in) {
  if (options.builders <= 0) options.builders = Processors();
  if (options.part.is_part()) options.seconds /= options.part.count;
  // The limits were those of its parts.
  if (options.part.combines()) options.trials = options.trials_per_task = 0, options.seconds = 0;
}

double TuningContext::SpentSeconds() const {
  return earlier_seconds + times.total() + (runs_stage ? tools.clock->Now() - stage_begin : 0);
}

bool TuningContext::IsLate() const {
  return options.seconds > 0 && SpentSeconds() + kNetworkSeconds >= options.seconds;
}

BestConfigs TuningContext::Best() const {
  BestConfigs best;
  for (const auto& task : tasks) {
    if (task->times().is_tuned()) best[task->task().text] = *task->times().best();
  }
  return best;
}

std::optional<nlohmann::json> TuningContext::Recorded(const std::string& event,
                                                      const std::string& key) const {
  return tools.recording == nullptr ? std::nullopt : tools.recording->Next(event, key);
}

double TuningContext::NetworkSeconds() const {
  std::vector<TaskProgress> progress;
  for (const auto& task : tasks) {
    TaskProgress now = task->progress();
    if (task->times().best().has_value()) now.best = {task->times().best_seconds()};
    progress.push_back(std::move(now));
  }
  return InferenceSeconds(progress);
}

}  // namespace attune
