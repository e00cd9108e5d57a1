// The facts of the models of jobs for which promises are requested.
#ifndef ATTUNE_SERVICE_AGREEMENT_IMPORTED_FACTS_H_
#define ATTUNE_SERVICE_AGREEMENT_IMPORTED_FACTS_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "service/models/model_facts.h"
#include "service/models/models.h"

namespace attune {

// Thread safe. The arguments must outlive it.
class ImportedFacts {
 public:
  explicit ImportedFacts(Models& models, const Clock& clock = SystemClock())
      : models_(models), clock_(clock) {}

  // Returns the facts of the tenant's model. Has it imported if it was not, and waits some seconds for that:
  // Aborted if it takes longer, or if too many wait. Unimplemented, with the importer's sentence, if the
  // model is refused; else fails as Models::Add().
  absl::StatusOr<std::shared_ptr<const ModelFacts>> Of(const std::string& tenant, const ModelSource& source);

 private:
  absl::StatusOr<KnownModel> Import(const std::string& tenant, const ModelSource& source);

  Models& models_;
  const Clock& clock_;
  std::atomic<int> waiting_ = 0;  // for imports
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const ModelFacts>> facts_;  // by tenant and model
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_IMPORTED_FACTS_H_
