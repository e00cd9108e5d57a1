#include "service/agreement/imported_facts.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_object.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

constexpr size_t kMostFacts = 512;
constexpr double kImportSeconds = 30;
constexpr std::chrono::milliseconds kImportLook(20);
// Requests that wait for an import each hold a thread that answers requests.
constexpr int kMostWaiting = 4;

// A place among a few, until the end of its scope.
class WaitingPlace {
 public:
  WaitingPlace(std::atomic<int>& taken, int most) : taken_(taken), is_taken_(taken.fetch_add(1) < most) {}
  ~WaitingPlace() { taken_.fetch_sub(1); }
  WaitingPlace(const WaitingPlace&) = delete;
  WaitingPlace& operator=(const WaitingPlace&) = delete;
  bool is_taken() const { return is_taken_; }

 private:
  std::atomic<int>& taken_;
  const bool is_taken_;
};

}  // namespace

absl::StatusOr<KnownModel> ImportedFacts::Import(const std::string& tenant, const ModelSource& source) {
  ASSIGN_OR_RETURN(KnownModel model, models_.Add(tenant, source.files.front().name, source));
  const Stopwatch watch(clock_);
  std::optional<WaitingPlace> place;
  while (model.verdict.state == ModelState::kImporting) {
    if (!place) place.emplace(waiting_, kMostWaiting);
    if (watch.Seconds() > kImportSeconds || !place->is_taken())
      return absl::AbortedError("the model is still being imported; ask again");
    std::this_thread::sleep_for(kImportLook);
    ASSIGN_OR_RETURN(model, models_.Find(tenant, model.id));
  }
  return model;
}

absl::StatusOr<std::shared_ptr<const ModelFacts>> ImportedFacts::Of(const std::string& tenant,
                                                                    const ModelSource& source) {
  const std::string key = absl::StrCat(tenant, "\n", IdOfModel(source));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = facts_.find(key); found != facts_.end()) return found->second;
  }
  ASSIGN_OR_RETURN(const KnownModel model, Import(tenant, source));
  if (model.verdict.state == ModelState::kRefused)
    return absl::UnimplementedError(absl::StrCat("/settings/model: ", model.verdict.error));
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJsonObject<nlohmann::json>(model.verdict.facts));
  ASSIGN_OR_RETURN(ModelFacts facts, ModelFactsOfJson(json));
  auto kept = std::make_shared<const ModelFacts>(std::move(facts));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (facts_.size() >= kMostFacts) facts_.clear();
  facts_[key] = kept;
  return kept;
}

}  // namespace attune
