// The record of a schedule: the primitives that made it, as data that is saved, searched over and replayed.
#ifndef ATTUNE_TENSOR_SCHEDULE_TRACE_H_
#define ATTUNE_TENSOR_SCHEDULE_TRACE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace attune {

// One step: the primitive's name, the stages, loops and buffers that it names, and its numbers.
struct Primitive {
  std::string op;
  std::vector<std::string> names;
  std::vector<int64_t> numbers = {};
  bool operator==(const Primitive&) const = default;
};

// [{"op": "split", "names": ["conv.w"], "numbers": [6]}, …], one primitive a line.
std::string ToJson(const std::vector<Primitive>& trace);
absl::StatusOr<std::vector<Primitive>> ParseTrace(std::string_view json);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_TRACE_H_
