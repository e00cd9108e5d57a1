// A page about a schedule: what ran where and when, and how well the machine was used.
#ifndef ATTUNE_WORK_REPORT_SCHEDULE_REPORT_H_
#define ATTUNE_WORK_REPORT_SCHEDULE_REPORT_H_

#include <string>

#include "work/store/stage_log.h"

namespace attune {

// A self-contained page. It stays small enough for a browser, however many stages there are.
std::string ScheduleHtml(const ScheduleRecord& record);

}  // namespace attune

#endif  // ATTUNE_WORK_REPORT_SCHEDULE_REPORT_H_
