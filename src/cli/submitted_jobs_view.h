// Shows jobs of a server.
#ifndef ATTUNE_CLI_SUBMITTED_JOBS_VIEW_H_
#define ATTUNE_CLI_SUBMITTED_JOBS_VIEW_H_

#include <string>
#include <vector>

#include "cli/common/output.h"
#include "service/client/remote_job.h"

namespace attune {

// "build", "build, waits for a runner", "done": what it does, on one line.
std::string DoingText(const RemoteJob& job);
// "net is done: 200 of 200 trials"; it must be over.
std::string EndText(const RemoteJob& job);

Json JobsJson(const std::vector<RemoteJob>& jobs);

// A line for each job.
std::string JobsTable(const std::vector<RemoteJob>& jobs);
// All that is known of one; `all_stages`: each stage on a line of its own, instead of a line for all of a
// name.
std::string JobDetailText(const RemoteJobDetail& detail, bool all_stages);
// "accepted", and lines with the promises, what each rests on, and the offers.
std::string PredictionText(const RemotePrediction& prediction);
// A line about a stage that has ended.
std::string StageLine(const RemoteStage& stage);
// The result's texts and numbers, a line each; a last one names the lists and objects in it.
std::string ResultText(const RemoteJobDetail& detail);
// The files with these names.
std::string FilesTable(const std::vector<RemoteFile>& files);

}  // namespace attune

#endif  // ATTUNE_CLI_SUBMITTED_JOBS_VIEW_H_
