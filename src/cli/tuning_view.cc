#include "cli/tuning_view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/printable.h"
#include "cli/common/output.h"

namespace attune {
namespace {

std::string MillisecondsText(double seconds) {
  return seconds > 0 ? absl::StrFormat("%.4f", seconds * 1e3) : "–";
}

// The seconds that a task takes in one inference.
double Weight(const TaskSummary& task) {
  return task.uses * std::max(task.best_seconds, task.default_seconds);
}

std::vector<const TaskSummary*> ByWeight(const TuningSummary& summary) {
  std::vector<const TaskSummary*> tasks;
  for (const TaskSummary& task : summary.tasks) tasks.push_back(&task);
  std::ranges::sort(tasks, [](const TaskSummary* a, const TaskSummary* b) {
    return Weight(*a) != Weight(*b) ? Weight(*a) > Weight(*b) : a->digest < b->digest;
  });
  return tasks;
}

std::string Gain(double before, double after) {
  return before > 0 && after > 0 ? absl::StrFormat("%.3f×", before / after) : "–";
}

std::string Headline(const TuningSummary& s, std::string_view stage) {
  double before = 0, after = 0;
  for (const TaskSummary& task : s.tasks) {
    before += task.uses * task.default_seconds;
    after += task.uses * (task.best_seconds > 0 ? task.best_seconds : task.default_seconds);
  }
  return absl::StrCat(s.model, ": ", s.trials, " trials in ", FormatDuration(s.elapsed_seconds),
                      s.seconds_left > 0 ? absl::StrCat(", ", FormatDuration(s.seconds_left), " left") : "",
                      ", the sum of its kernels ", MillisecondsText(before), " → ", MillisecondsText(after),
                      " ms, ", stage);
}

std::string NearnessText(const Nearness& nearness) {
  if (nearness.of_least <= 0) return "";
  const double behind = std::max(1.0, std::ceil(100 * (1 / nearness.of_least - 1)));
  std::string text = absl::StrFormat(", whose kernels run within %.0f %% of the fastest tried", behind);
  if (nearness.of_roofline > 0)
    absl::StrAppendFormat(&text, ", at %.0f %% of the roofline", 100 * nearness.of_roofline);
  return text;
}

}  // namespace

std::string DescribeLive(const TuningSummary& summary, std::string_view stage, size_t max_tasks,
                         size_t width) {
  std::vector<std::vector<std::string>> rows = {
      {"uses", "trials", "ms", "gain", "GFLOP/s", "of peak", "of bound", "hope, µs", "task"}};
  const std::vector<const TaskSummary*> tasks = ByWeight(summary);
  for (size_t i = 0; i < std::min(max_tasks, tasks.size()); ++i) {
    const TaskSummary& t = *tasks[i];
    const double gflops = t.best_seconds > 0 ? t.flops / t.best_seconds * 1e-9 : 0;
    const auto percent = [](double share) {
      return share > 0 ? absl::StrFormat("%.0f %%", 100 * share) : "–";
    };
    rows.push_back({absl::StrCat(t.uses), absl::StrCat(t.trials), MillisecondsText(t.best_seconds),
                    Gain(t.default_seconds, t.best_seconds), absl::StrFormat("%.1f", gflops),
                    percent(summary.peak_gflops > 0 ? gflops / summary.peak_gflops : 0),
                    percent(t.best_seconds > 0 ? t.bound_seconds / t.best_seconds : 0),
                    std::isfinite(t.expected_gain) ? absl::StrFormat("%.1f", t.expected_gain * 1e6) : "?",
                    t.description});
  }
  std::string text = Cut(Headline(summary, stage), width) + "\n";
  const std::string table = FormatTable(rows, {true, true, true, true, true, true, true, true, false});
  for (absl::string_view line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&text, Cut(std::string(line), width), "\n");
  }
  if (tasks.size() > max_tasks) absl::StrAppend(&text, "and ", tasks.size() - max_tasks, " more tasks\n");
  return text;
}

std::string ResultText(const TuningSummary& summary) {
  std::vector<std::vector<std::string>> rows = {
      {"uses", "trials", "before, ms", "after, ms", "gain", "of bound", "task", "config"}};
  for (const TaskSummary* t : ByWeight(summary)) {
    rows.push_back(
        {absl::StrCat(t->uses), absl::StrCat(t->trials), MillisecondsText(t->default_seconds),
         MillisecondsText(t->best_seconds), Gain(t->default_seconds, t->best_seconds),
         t->best_seconds > 0 ? absl::StrFormat("%.0f %%", 100 * t->bound_seconds / t->best_seconds) : "–",
         t->description, t->is_untuned() ? "as untuned" : t->best_config});
  }
  std::string text = FormatTable(rows, {true, true, true, true, true, true, false, false});
  absl::StrAppend(&text, Headline(summary, absl::StrCat("run ", summary.run)), "\n");
  if (summary.untuned_seconds > 0) {
    absl::StrAppendFormat(&text, "one inference, interleaved: %.4f ms untuned, %.4f ms tuned, %s\n",
                          1e3 * summary.untuned_seconds, 1e3 * summary.tuned_seconds,
                          Gain(summary.untuned_seconds, summary.tuned_seconds));
  } else if (std::ranges::all_of(summary.tasks, &TaskSummary::is_untuned)) {
    absl::StrAppend(&text, "nothing faster was found: the tuned network is the untuned one",
                    NearnessText(NearnessOf(summary)), "\n");
  }
  return text;
}

void TuningView::Update(const TuningJob& job, std::string_view stage) {
  if (!text_.is_terminal() || !text_.is_due()) return;
  constexpr size_t kOtherLines = 4;
  const size_t rows = text_.rows() > kOtherLines ? text_.rows() - kOtherLines : 1;
  text_.Draw(DescribeLive(job.Summary(), stage, rows, text_.columns()));
}

void TuningView::EndStage(const TuningJob& job, std::string_view stage) {
  // Only these stages have news.
  const bool is_told = stage == Name(StageKind::kLearn) || stage == Name(StageKind::kConfirmTime) ||
                       stage == Name(StageKind::kNetworkTime);
  if (text_.is_terminal() || !is_told) return;
  std::fprintf(stderr, "%s\n", WithoutControls(Headline(job.Summary(), stage)).c_str());
}

}  // namespace attune
