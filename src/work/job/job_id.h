// Ids of jobs on a server.
//
// Problem: an owner's jobs are to have short ids that tell nothing of how busy others are, and everything
// within the server knows a job by its id alone. Idea: each owner's jobs are numbered by themselves, "net-3",
// and the server knows them by that and the owner, "net-3@ann". Owners see and give the short form; jobs from
// before have no other one.
#ifndef ATTUNE_WORK_JOB_JOB_ID_H_
#define ATTUNE_WORK_JOB_JOB_ID_H_

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace attune {

inline constexpr char kOwnerMark[] = "@";  // neither names of jobs nor owners have it

// Returns the id by which the server knows the job; the same if it has no owner.
inline std::string StoredJobId(std::string_view own, std::string_view owner) {
  return owner.empty() ? std::string(own) : absl::StrCat(own, kOwnerMark, owner);
}

// Returns the id by which the owner knows the job.
inline std::string OwnJobId(std::string_view stored, std::string_view owner) {
  return std::string(absl::StripSuffix(stored, absl::StrCat(kOwnerMark, owner)));
}

}  // namespace attune

#endif  // ATTUNE_WORK_JOB_JOB_ID_H_
