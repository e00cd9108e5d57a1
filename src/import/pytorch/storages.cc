#include "import/pytorch/storages.h"

namespace attune::pytorch {

void Storages::PlaceNew(Binding& binding) {
  binding.storage = next_++;
  binding.tensor = next_++;
}

void Storages::Place(Binding& binding, const Binding& input, Memory memory) {
  PlaceNew(binding);
  const bool converted = input.value == nullptr || input.value->type().dtype != binding.value->type().dtype;
  if (memory == Memory::kNew || converted) return;
  binding.storage = input.storage;
  if (memory == Memory::kSame) binding.tensor = input.tensor;
}

void Storages::PlaceWeight(Binding& binding, const std::string& name) {
  PlaceNew(binding);
  weights_[binding.storage] = name;
}

const std::string* Storages::WeightIn(int64_t storage) const {
  const auto found = weights_.find(storage);
  return found == weights_.end() ? nullptr : &found->second;
}

}  // namespace attune::pytorch
