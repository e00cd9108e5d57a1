// Shows a tuning run to people while it runs, and its result.
#ifndef ATTUNE_CLI_TUNING_VIEW_H_
#define ATTUNE_CLI_TUNING_VIEW_H_

#include <string>
#include <string_view>

#include "api/tuning.h"
#include "cli/live_text.h"

namespace attune {

// Writes to stderr: on a terminal, a few lines that are updated in place; otherwise, a line for each batch
// of trials.
class TuningView {
 public:
  // Called when something happened in the job. `stage` is the one that runs.
  void Update(const TuningJob& job, std::string_view stage);
  // Called when a stage is over.
  void EndStage(const TuningJob& job, std::string_view stage);
  // Prints a line that stays.
  void Note(const std::string& line) { text_.Note(line); }

 private:
  LiveText text_;
};

// The live view's text: the network, then at most `max_tasks` of the tasks that take the most time, each
// line at most `width` columns wide.
std::string DescribeLive(const TuningSummary& summary, std::string_view stage, size_t max_tasks,
                         size_t width);

// The result of the run: the network and each task, before and after.
std::string ResultText(const TuningSummary& summary);

}  // namespace attune

#endif  // ATTUNE_CLI_TUNING_VIEW_H_
