// Facts about a model's file that promises are made from: what is computed, and the least time that it takes.
#ifndef ATTUNE_SERVICE_MODELS_MODEL_FACTS_H_
#define ATTUNE_SERVICE_MODELS_MODEL_FACTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/network.h"
#include "device/peaks.h"
#include "device/roofline.h"
#include "nlohmann/json.hpp"
#include "target/target.h"

namespace attune {

// An input or output of a network.
struct TensorFacts {
  std::string name = {};
  std::string type = {};  // "f32[1,3,224,224]"

  bool operator==(const TensorFacts&) const = default;
};

// A task (tune/task/task.h), whose records have its digest as their key, with a device and threads.
struct TaskFacts {
  std::string digest = {};
  std::string description = {};  // DescribeTask()
  std::string anchor = {};       // the operator that dominates: "conv", "matmul"; empty: none does
  int uses = 0;                  // in the network
  int sure_uses = 0;             // that no branch skips
  Work work = {};                // of one execution: LeastWork()
};

struct ModelFacts {
  // GraphDigest(): the same for the same network under other names.
  std::string network = {};
  std::string interface = {};                          // Network::Interface()
  std::vector<TensorFacts> inputs = {}, outputs = {};  // in the model's order
  double weight_bytes = 0;                             // of all constants, as imported
  std::string target = {};                             // that the tasks are for
  std::vector<TaskFacts> tasks = {};

  // The seconds below which no kernels can bring one inference: the sum of BoundOf() its tasks, by the number
  // of times that each runs for certain.
  double BoundSeconds(const Peaks& peaks, const CacheSizes& caches, int threads) const;

  // The same network quantized at its best: all products of 8-bit integers, and a quarter of the bytes.
  ModelFacts Quantized() const;
};

// Optimizes an imported model as a tuning job does, which takes seconds. It does so in this process: a
// stranger's model belongs into one that may crash. Fails if the model is bad, or is an artifact.
absl::StatusOr<ModelFacts> FactsOfModel(const Network& model, const Target& target);

nlohmann::json ToJson(const ModelFacts& facts);
// Reads what ToJson() has written, of any origin: numbers are finite and not negative, and strings and lists
// are bounded. The error names the field.
absl::StatusOr<ModelFacts> ModelFactsOfJson(const nlohmann::json& json);

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_MODEL_FACTS_H_
