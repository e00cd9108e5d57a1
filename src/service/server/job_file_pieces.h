// Takes the files of jobs from runners.
#ifndef ATTUNE_SERVICE_SERVER_JOB_FILE_PIECES_H_
#define ATTUNE_SERVICE_SERVER_JOB_FILE_PIECES_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "fleet/blobs/blob_store.h"
#include "service/wire/jobs.pb.h"

namespace attune {

// Takes a file from its begin, whatever an upload before has left: pieces with their bytes, and others that
// are as in an earlier content of the same owner. `piece` is the first one; `read` gets the next, or returns
// false if there is none. NotFound if there is no such content, DataLoss if all together does not have the
// digest.
absl::Status TakeJobFile(BlobStore& files, const std::string& owner, jobs_service_proto::FilePiece piece,
                         const std::function<bool(jobs_service_proto::FilePiece&)>& read);

}  // namespace attune

#endif  // ATTUNE_SERVICE_SERVER_JOB_FILE_PIECES_H_
