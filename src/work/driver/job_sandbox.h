// Confines the process of a job that compiles models of strangers.
//
// Problem: the process parses and compiles what its owner was sent, and starts processes that build kernels,
// so that it cannot live without programs and libraries; an attacker who takes it over must reach neither
// other jobs nor the machine. Idea: Landlock holds for it and for all that it starts. It reads the system's
// programs and libraries, changes its own folder and the leases of processors, and connects to one port, that
// of the server by which it measures. Price: UDP and other machines at the same port are not forbidden, and
// the credentials of this one job are in it.
#ifndef ATTUNE_WORK_DRIVER_JOB_SANDBOX_H_
#define ATTUNE_WORK_DRIVER_JOB_SANDBOX_H_

#include "absl/status/status.h"
#include "work/job/job_spec.h"

namespace attune {

// From now on, this thread, and threads and processes that it starts, can do what the job in this place
// needs, and nothing else. Call it before the first thread is started that the job's data might take over.
// Logs which fences the system lacks; the others hold then. Fails if it lacks the one that keeps jobs from
// each other's files, or another thread runs, where the place must be confined.
absl::Status ConfineJob(const JobPlace& place, int port);

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_JOB_SANDBOX_H_
