// Shows a schedule to people while it runs, and its result.
#ifndef ATTUNE_CLI_JOBS_VIEW_H_
#define ATTUNE_CLI_JOBS_VIEW_H_

#include <cstddef>
#include <string>
#include <vector>

#include "cli/live_text.h"
#include "work/driver/schedule_driver.h"

namespace attune {

// Writes to stderr: on a terminal, a line for each job that is updated in place; otherwise, a line when a job
// ends, and one about all every half minute.
class JobsView {
 public:
  // Something may have changed.
  void Update(const ScheduleDriver& driver);

 private:
  // Tells of jobs that have ended since the last call.
  void TellEnds(const ScheduleDriver& driver);

  LiveText text_;
  std::vector<bool> told_;  // for each job, whether its end was told
  double last_line_ = 0;
};

// A headline and at most `rows` jobs, those that run first, each line at most `width` columns wide.
std::string DescribeLive(const ScheduleDriver& driver, size_t rows, size_t width);

// The outcome: each job, and how resources were used.
std::string DescribeResult(const ScheduleRecord& schedule);

}  // namespace attune

#endif  // ATTUNE_CLI_JOBS_VIEW_H_
