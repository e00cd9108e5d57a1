#include "work/store/stage_log.h"

namespace attune {

std::string_view Name(JobState state) {
  switch (state) {
    case JobState::kUnfinished:
      return "unfinished";
    case JobState::kDone:
      return "done";
    case JobState::kFailed:
      return "failed";
    case JobState::kCancelled:
      return "cancelled";
  }
  return "";
}

}  // namespace attune
