// Transfer samples: records converted to samples that a cost model learns from.
#ifndef ATTUNE_TUNE_COST_MODEL_TRANSFER_SAMPLES_H_
#define ATTUNE_TUNE_COST_MODEL_TRANSFER_SAMPLES_H_

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "target/target.h"
#include "tune/cost_model/cost_model.h"
#include "tune/records/database.h"

namespace attune {

struct TransferOptions {
  RecordFilter which = {};
  std::set<std::string> without = {};  // texts of tasks to leave out
  size_t most_records = 256;           // per task, the newest; >= 1
};

// One entry of samples for the records of each task on one device, with one number of threads and one cache
// mode. Leaves out everything that this program can no longer read, such as tasks of another version. Fails
// if the database does.
absl::StatusOr<std::vector<TaskSamples>> TransferSamplesOf(RecordDatabase& records, const Target& target,
                                                           const TransferOptions& options);

// The same from records that are at hand, of any tasks, oldest first.
std::vector<TaskSamples> SamplesOfRecords(std::span<const Record> records, const Target& target);

// Parses a cost model for the features of this program, to be used as a base.
absl::StatusOr<std::shared_ptr<const TreeEnsemble>> ParseCostModel(std::string_view text);

// The model that is built into this program (./do pretrain). Null if it was trained on other features.
std::shared_ptr<const TreeEnsemble> PretrainedModel();

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_TRANSFER_SAMPLES_H_
