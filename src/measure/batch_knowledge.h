// The knowledge about later items of a batch from earlier results.
#ifndef ATTUNE_MEASURE_BATCH_KNOWLEDGE_H_
#define ATTUNE_MEASURE_BATCH_KNOWLEDGE_H_

#include <algorithm>
#include <map>
#include <string>

#include "measure/item.h"

namespace attune {

// Not thread safe.
class BatchKnowledge {
 public:
  // The item with the baseline's time and the best ratio to it that the batch has found.
  MeasureItem Apply(MeasureItem item) const {
    const auto known = known_.find(item.baseline);
    if (item.baseline == item.subject) {
      item.baseline.clear();  // it is measured alone
    } else if (known != known_.end()) {
      if (item.baseline_seconds == 0) item.baseline_seconds = known->second.baseline_seconds;
      item.options.best_ratio = std::min(item.options.best_ratio, known->second.best_ratio);
    }
    return item;
  }

  // `item` as it was before Apply().
  void Learn(const MeasureItem& item, const Measurement& measurement) {
    if (!item.is_exclusive() || measurement.outcome != TrialOutcome::kOk || item.baseline.empty()) return;
    Known& known = known_[item.baseline];
    if (item.subject == item.baseline) known.baseline_seconds = measurement.timing.seconds;
    if (measurement.ratio > 0) known.best_ratio = std::min(known.best_ratio, measurement.ratio);
  }

 private:
  struct Known {
    double baseline_seconds = 0;
    double best_ratio = 1;
  };
  std::map<std::string, Known> known_;  // by the digest of a baseline
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_BATCH_KNOWLEDGE_H_
