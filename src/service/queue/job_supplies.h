// The supplies of a job, which a machine gets with it.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_SUPPLIES_H_
#define ATTUNE_SERVICE_QUEUE_JOB_SUPPLIES_H_

#include <string>
#include <vector>

#include "work/job/job_spec.h"

namespace attune {

// A process on a machine needs these before its job can be opened.
struct JobSupplies {
  JobSpec spec = {};
  std::vector<JobFile> files = {};
  std::string files_owner = {};  // by which the store of job files has them
  std::string credentials = {};  // fleet/identity/credentials.h
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_SUPPLIES_H_
