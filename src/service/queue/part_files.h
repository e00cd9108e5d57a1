// The files with which a whole job continues once its parts are over.
#ifndef ATTUNE_SERVICE_QUEUE_PART_FILES_H_
#define ATTUNE_SERVICE_QUEUE_PART_FILES_H_

#include <cstddef>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "fleet/blobs/blob_store.h"
#include "work/store/stage_log.h"

namespace attune {

// Returns the whole job's own inputs, and what its parts have left, each in a folder of its own
// (PartFolder()); the whole job may read the latter from now on. Fails if they are more than a job may have.
absl::StatusOr<std::vector<JobFile>> GatherPartFiles(const JobRecord& whole,
                                                     const std::map<size_t, JobRecord>& parts,
                                                     BlobStore& files);

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_PART_FILES_H_
