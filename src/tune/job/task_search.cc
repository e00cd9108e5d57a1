#include "tune/job/task_search.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status.h"

namespace attune {

absl::StatusOr<std::unique_ptr<TaskSearch>> TaskSearch::Create(TuningTask task, const Target& target,
                                                               const TuningOptions& options, uint64_t seed,
                                                               Slice slice) {
  const SearchStrategyInfo* search = FindSearchStrategy(options.search);
  if (search == nullptr) return InvalidInput("there is no search strategy \"", options.search, "\"");
  auto owned = std::make_unique<const TuningTask>(std::move(task));  // the space refers to it
  ASSIGN_OR_RETURN(ConfigSpace space, ConfigSpace::Create(*owned, target, options.builders));
  return std::unique_ptr<TaskSearch>(
      new TaskSearch(std::move(owned), std::move(space), options, slice,
                     search->create({.seed = seed, .epsilon = options.random_share})));
}

TaskSearch::TaskSearch(std::unique_ptr<const TuningTask> task, ConfigSpace space,
                       const TuningOptions& options, Slice slice, std::unique_ptr<SearchStrategy> search)
    : task_(std::move(task)),
      space_(std::move(space)),
      slice_(slice),
      sliced_(space_, slice),
      features_(space_, options.threads, options.builders),
      search_(std::move(search)) {
  if (!options.use_defaults) space_.HideDefaults();
}

std::vector<Candidate> TaskSearch::Fitting(std::span<const Candidate> others) {
  std::vector<Candidate> fitting;
  for (const Candidate& other : others) {
    const std::optional<Candidate> here = space_.Nearest(other);
    if (here.has_value() && std::ranges::find(fitting, *here) == fitting.end()) fitting.push_back(*here);
  }
  return fitting;
}

std::optional<Candidate> TaskSearch::BestOf(std::span<const Candidate> others, const CostModel* model) {
  std::vector<Candidate> fitting = Fitting(others);
  std::erase_if(fitting, [&](const Candidate& candidate) {
    return candidate == space_.Default() || !slice_.Has(candidate);
  });
  if (fitting.empty()) return std::nullopt;
  const std::vector<float> scores = Scores(fitting, model);
  if (scores.empty()) return fitting.front();
  return fitting[static_cast<size_t>(std::ranges::max_element(scores) - scores.begin())];
}

std::vector<Candidate> TaskSearch::Propose(int batch, const CostModel* model) {
  SearchState state{.space = &sliced_};
  if (model != nullptr && model->is_trained()) {
    state.score = [this, model](std::span<const Candidate> candidates) { return Scores(candidates, model); };
  }
  return search_->Propose(batch, state);
}

void TaskSearch::Observe(std::span<const Trial> trials) {
  search_->Observe(trials);
  observed_.insert(observed_.end(), trials.begin(), trials.end());
}

size_t TaskSearch::EndBatch() {
  const std::vector<Trial> batch = std::exchange(batch_, {});
  Observe(batch);
  features_.KeepOnly(observed_);
  space_.Forget();
  return batch.size();
}

}  // namespace attune
