#include "tune/job/trial_log.h"

#include "base/status.h"
#include "compile/compile.h"
#include "lower/strategy.h"

namespace attune {

absl::Status TrialLog::Keep(const TuningTask& task, const Candidate& candidate, const TrialNote& note) {
  const Record record = {.task = task.text,
                         .flops = task.flops,
                         .strategy = candidate.strategy,
                         .strategy_version = FindStrategy(candidate.strategy)->version,
                         .config = candidate.config,
                         .device = run_.device,
                         .threads = run_.threads,
                         .outcome = note.outcome,
                         .timing = note.timing,
                         .reason = note.reason,
                         .run = run_.id,
                         .trial = next_number_++,
                         .search = std::string(note.search),
                         .compiler_version = std::string(kCompilerVersion),
                         .code_digest = note.code_digest,
                         .cache = options_.cache,
                         .time_ms = tools_.clock->WallMillis(),
                         .build_seconds = note.build_seconds,
                         .measure_seconds = note.measure_seconds};
  if (note.outcome == TrialOutcome::kRetry) {
    NoteUnmeasured(note.reason);
  } else {
    RETURN_IF_ERROR(tools_.records->Add(record).status());
    has_kept_ = true;
  }
  nlohmann::json fields = {{"task", task.digest},
                           {"candidate", ToString(record.strategy, record.config)},
                           {"outcome", Name(record.outcome)},
                           {"trial", record.trial},
                           {"trial_seconds", record.timing.seconds}};
  if (!record.reason.empty()) fields["reason"] = record.reason;
  return Log("trial", std::move(fields));
}

}  // namespace attune
