// What a cost model learns from records: transfer samples.
#ifndef ATTUNE_TUNE_COST_MODEL_TRANSFER_SAMPLES_H_
#define ATTUNE_TUNE_COST_MODEL_TRANSFER_SAMPLES_H_

#include <memory>
#include <set>
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
  std::set<std::string> without = {};  // texts of tasks that are left out
  size_t most_records = 256;           // of each task, the newest; >= 1
};

// The records of each task on one device, by one number of threads and with one state of caches, as samples.
// What this program cannot read any more, such as tasks of another version, is left out. Fails where the
// database does.
absl::StatusOr<std::vector<TaskSamples>> TransferSamplesOf(RecordDatabase& records, const Target& target,
                                                           const TransferOptions& options);

// A cost model's text of the features that this program has, to be a model's base.
absl::StatusOr<std::shared_ptr<const TreeEnsemble>> ParseCostModel(std::string_view text);

// The model that is part of this program (./do pretrain). Null where it has learned other features.
std::shared_ptr<const TreeEnsemble> PretrainedModel();

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_TRANSFER_SAMPLES_H_
