#include "measure/network_program.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/process/sandbox.h"
#include "measure/network_outputs.h"

namespace attune {
namespace {

constexpr size_t kRefusalBytes = 512, kDigestBytes = 64, kMostKernels = 16384;

struct KernelTime {
  char digest[kDigestBytes];
  double seconds;
};

// The child writes this, so the parent does not trust it.
struct Shared {
  char refusal[kRefusalBytes];
  uint64_t num_kernels;
  KernelTime kernels[kMostKernels];
};

}  // namespace

size_t NetworkProgram::shared_bytes() const {
  return sizeof(Shared) + (setup_.has_outputs ? kMostOutputBytes : 0);
}

std::string NetworkProgram::Refusal(const std::byte* shared) const {
  const auto* const text = reinterpret_cast<const Shared*>(shared)->refusal;
  return absl::StrCat("the runtime refuses the network: ", std::string(text, strnlen(text, kRefusalBytes)));
}

SetUpResult NetworkProgram::Refuse(std::string_view reason) {
  std::memcpy(reinterpret_cast<Shared*>(shared_)->refusal, reason.data(),
              std::min(reason.size(), kRefusalBytes));
  return SetUpResult::kRefused;
}

bool NetworkProgram::AddPlace(attune_error* error) {
  Place& place = places_.emplace_back();
  attune_model* model = nullptr;
  if (attune_load_memory(setup_.artifact.data(), setup_.artifact.size(), nullptr, &model, error) != ATTUNE_OK)
    return false;
  place.model.reset(model);
  attune_session* session = nullptr;
  if (attune_session_create(model, static_cast<size_t>(setup_.threads), &session, error) != ATTUNE_OK)
    return false;
  place.session.reset(session);
  std::span<const std::byte> rest = setup_.inputs;
  for (size_t i = 0; i < attune_model_num_inputs(model); ++i) {
    attune_tensor_info input;
    if (attune_model_input(model, i, &input, error) != ATTUNE_OK) return false;
    const std::span<const std::byte> value = rest.first(std::min(rest.size(), input.bytes));
    if (attune_session_set_input(session, i, value.data(), value.size(), error) != ATTUNE_OK) return false;
    rest = rest.subspan(value.size());
  }
  return true;
}

bool NetworkProgram::ListKernels() {
  const attune_model* const model = places_.front().model.get();
  auto* const shared = reinterpret_cast<Shared*>(shared_);
  nanoseconds_.resize(attune_model_num_instructions(model));
  kernel_of_.resize(nanoseconds_.size());
  std::map<std::string, int> index_of;
  for (size_t i = 0; i < nanoseconds_.size(); ++i) {
    attune_instruction_info instruction;
    attune_model_instruction(model, i, &instruction, nullptr);
    attune_kernel_info kernel = {};
    kernel.digest = "";
    if (instruction.kernel >= 0)
      attune_model_kernel(model, static_cast<size_t>(instruction.kernel), &kernel, nullptr);
    const auto [it, is_new] = index_of.try_emplace(kernel.digest, static_cast<int>(index_of.size()));
    if (index_of.size() > kMostKernels) return false;
    kernel_of_[i] = it->second;
    if (is_new) std::strncpy(shared->kernels[it->second].digest, kernel.digest, kDigestBytes);
  }
  shared->num_kernels = index_of.size();
  return true;
}

SetUpResult NetworkProgram::SetUp(std::byte* shared) {
  shared_ = shared;
  attune_error error = {};
  for (int i = 0; i < setup_.places; ++i) {
    if (!AddPlace(&error)) return Refuse(error.message);
  }
  if (!ListKernels()) return Refuse("it has too many kernels to be profiled");
  // Nothing after this needs memory.
  constexpr int64_t kSpareBytes = int64_t{64} << 20;
  ApplyLimits({.cpu_seconds = setup_.cpu_seconds_limit, .address_space_bytes = kSpareBytes});
  return SetUpResult::kReady;
}

int32_t NetworkProgram::Run(int64_t executions) {
  attune_session* const session = places_[moves_ % places_.size()].session.get();
  for (; executions > 0; --executions) {
    if (const attune_code code = attune_session_run(session, nullptr); code != ATTUNE_OK) return code;
  }
  return 0;
}

int32_t NetworkProgram::Profile() {
  if (const int32_t code = Run(1); code != 0) return code;
  attune_session* const session = places_[moves_ % places_.size()].session.get();
  const attune_code code =
      attune_session_run_profiled(session, nanoseconds_.data(), nanoseconds_.size(), nullptr);
  if (code != ATTUNE_OK) return code;
  auto* const shared = reinterpret_cast<Shared*>(shared_);
  for (size_t k = 0; k < shared->num_kernels; ++k) shared->kernels[k].seconds = 0;
  for (size_t i = 0; i < nanoseconds_.size(); ++i) {
    shared->kernels[kernel_of_[i]].seconds += 1e-9 * static_cast<double>(nanoseconds_[i]);
  }
  return 0;
}

int NetworkProgram::Fetch() {
  if (!setup_.has_outputs) return -1;
  const Place& place = places_[moves_ % places_.size()];
  WriteOutputs(place.model.get(), place.session.get(), {shared_ + sizeof(Shared), kMostOutputBytes});
  return -1;
}

absl::StatusOr<std::vector<OutputValue>> NetworkProgram::Outputs(const std::byte* shared) {
  return ReadOutputs({shared + sizeof(Shared), kMostOutputBytes});
}

std::map<std::string, double> NetworkProgram::KernelSeconds(const std::byte* shared) {
  const auto* const from = reinterpret_cast<const Shared*>(shared);
  std::map<std::string, double> seconds;
  for (size_t k = 0; k < std::min<size_t>(from->num_kernels, kMostKernels); ++k) {
    const KernelTime& kernel = from->kernels[k];
    seconds[std::string(kernel.digest, strnlen(kernel.digest, kDigestBytes))] = kernel.seconds;
  }
  return seconds;
}

}  // namespace attune
