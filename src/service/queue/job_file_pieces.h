// Takes the files of jobs from runners.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_FILE_PIECES_H_
#define ATTUNE_SERVICE_QUEUE_JOB_FILE_PIECES_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "fleet/blobs/blob_store.h"
#include "service/wire/jobs.pb.h"

namespace attune {

// Takes a file from its start, whatever an upload before has left: pieces with their bytes, and others that
// are as in an earlier content of the same owner. `piece` is the first one; `read` gets the next, or returns
// false if there is none. `admit` is told how many bytes the file has with the next ones, before they are
// kept; its error refuses the file, of which nothing stays then; null: everything is taken. NotFound if there
// is no such content, DataLoss if all together does not have the digest.
absl::Status TakeJobFile(BlobStore& files, const std::string& owner, jobs_service_proto::FilePiece piece,
                         const std::function<bool(jobs_service_proto::FilePiece&)>& read,
                         const std::function<absl::Status(int64_t bytes)>& admit = nullptr);

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_FILE_PIECES_H_
