// Shows jobs of a server.
#ifndef ATTUNE_CLI_SUBMITTED_JOBS_VIEW_H_
#define ATTUNE_CLI_SUBMITTED_JOBS_VIEW_H_

#include <string>
#include <vector>

#include "cli/output.h"
#include "service/wire/jobs.pb.h"

namespace attune {

inline bool IsOver(const jobs_service_proto::Job& job) {
  return job.state() != "waiting" && job.state() != "running";
}

// "build", "build, waits for a runner", "done": what it does, on one line.
std::string DoingText(const jobs_service_proto::Job& job);
// "net is done: 200 of 200 trials"; it must be over.
std::string EndText(const jobs_service_proto::Job& job);

Json JobJson(const jobs_service_proto::Job& job);
Json JobsJson(const std::vector<jobs_service_proto::Job>& jobs);
Json JobDetailJson(const jobs_service_proto::JobDetail& detail);

// A line for each job.
std::string JobsTable(const std::vector<jobs_service_proto::Job>& jobs);
// All that is known of one.
std::string JobDetailText(const jobs_service_proto::JobDetail& detail);
// A line about a stage that has ended.
std::string StageLine(const jobs_service_proto::StageOfJob& stage);
// The result's texts and numbers, a line each.
std::string ResultText(const jobs_service_proto::Job& job);
// The files with these names.
std::string FilesTable(const std::vector<jobs_service_proto::JobFile>& files);

}  // namespace attune

#endif  // ATTUNE_CLI_SUBMITTED_JOBS_VIEW_H_
