#include "measure/network_outputs.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace attune {
namespace {

constexpr uint64_t kTooLarge = UINT64_MAX;
constexpr uint64_t kMostOutputs = 4096, kMostRank = 64;

// Takes memory from its beginning, and none once there is too little.
template <typename Byte>
class Cursor {
 public:
  explicit Cursor(std::span<Byte> memory) : rest_(memory) {}

  std::span<Byte> Take(uint64_t bytes) {
    is_over_ |= bytes > rest_.size();
    if (is_over_) return {};
    const std::span<Byte> taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }
  bool is_over() const { return is_over_; }

 private:
  std::span<Byte> rest_;
  bool is_over_ = false;
};

void Write(Cursor<std::byte>& to, const void* from, size_t bytes) {
  const std::span<std::byte> taken = to.Take(bytes);
  if (!taken.empty()) std::memcpy(taken.data(), from, taken.size());
}

uint64_t ReadNumber(Cursor<const std::byte>& from) {
  uint64_t value = 0;
  const std::span<const std::byte> taken = from.Take(sizeof(value));
  if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof(value));
  return value;
}

}  // namespace

void WriteOutputs(const attune_model* model, attune_session* session, std::span<std::byte> memory) {
  Cursor<std::byte> to(memory);
  const uint64_t count = attune_model_num_outputs(model);
  Write(to, &count, sizeof(count));
  for (uint64_t i = 0; i < count; ++i) {
    attune_output output;
    attune_session_output(session, i, &output, nullptr);
    const uint64_t rank = output.rank, bytes = output.bytes;
    Write(to, &rank, sizeof(rank));
    Write(to, output.shape, rank * sizeof(int64_t));
    Write(to, &bytes, sizeof(bytes));
    Write(to, output.data, bytes);
  }
  if (to.is_over()) std::memcpy(memory.data(), &kTooLarge, sizeof(kTooLarge));
}

absl::StatusOr<std::vector<OutputValue>> ReadOutputs(std::span<const std::byte> memory) {
  Cursor<const std::byte> from(memory);
  const uint64_t count = ReadNumber(from);
  if (count == kTooLarge)
    return absl::ResourceExhaustedError(
        absl::StrCat("the outputs have more than ", kMostOutputBytes >> 20, " MiB"));
  const absl::Status damaged = absl::DataLossError("the process that runs the network wrote damaged outputs");
  if (from.is_over() || count > kMostOutputs) return damaged;
  std::vector<OutputValue> outputs;
  for (uint64_t i = 0; i < count; ++i) {
    OutputValue output;
    const uint64_t rank = ReadNumber(from);
    if (rank > kMostRank) return damaged;
    for (uint64_t k = 0; k < rank; ++k) output.shape.push_back(static_cast<int64_t>(ReadNumber(from)));
    const std::span<const std::byte> bytes = from.Take(ReadNumber(from));
    if (from.is_over()) return damaged;
    output.bytes.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace attune
