// The record of a schedule: one table of primitives for recording, JSON and replay.
#include <nlohmann/json.hpp>
#include <utility>

#include "base/status.h"
#include "tensor/schedule.h"

namespace attune {

absl::Status Schedule::Apply(const Primitive& primitive) {
  struct Row {
    std::string_view op;
    int names;    // -1: any number
    int numbers;  // likewise
    absl::Status (Schedule::*apply)(const Primitive&);
  };
  static constexpr Row kTable[] = {
      {"split", 1, 1, &Schedule::SplitImpl},
      {"split_overlapping", 1, 1, &Schedule::SplitImpl},
      {"fuse", 3, 0, &Schedule::FuseImpl},
      {"reorder", -1, 0, &Schedule::ReorderImpl},
      {"unroll", 1, 0, &Schedule::MarkImpl},
      {"vectorize", 1, 0, &Schedule::MarkImpl},
      {"parallel", 1, 0, &Schedule::MarkImpl},
      {"dot", 1, 0, &Schedule::MarkImpl},
      {"matrix", 1, 0, &Schedule::MarkImpl},
      {"bind", 2, 0, &Schedule::MarkImpl},
      {"peel", 1, 2, &Schedule::PeelImpl},
      {"inline", 1, 0, &Schedule::InlineImpl},
      {"compute_at", 2, 1, &Schedule::ComputeAtImpl},
      {"compute_within", 2, 1, &Schedule::ComputeAtImpl},
      {"compute_after", 2, 0, &Schedule::ComputeAfterImpl},
      {"cache_write", 1, 0, &Schedule::CacheWriteImpl},
      {"cache_read", 2, 0, &Schedule::CacheReadImpl},
      {"rfactor", 2, 1, &Schedule::RfactorImpl},
      {"prefetch", 2, 0, &Schedule::PrefetchImpl},
      {"prefetch_next_tile", 2, 0, &Schedule::PrefetchImpl},
      {"pack", 2, -1, &Schedule::PackImpl},
      {"overcompute", 1, 0, &Schedule::OvercomputeImpl},
  };
  for (const Row& row : kTable) {
    if (row.op != primitive.op) continue;
    if ((row.names >= 0 && static_cast<int>(primitive.names.size()) != row.names) ||
        (row.numbers >= 0 && static_cast<int>(primitive.numbers.size()) != row.numbers)) {
      return InvalidInput("schedule primitive '", primitive.op, "': wrong number of arguments");
    }
    RETURN_IF_ERROR((this->*row.apply)(primitive));
    trace_.push_back(primitive);
    return absl::OkStatus();
  }
  return InvalidInput("no schedule primitive '", primitive.op, "'");
}

absl::Status Schedule::Split(const std::string& loop, int64_t factor) {
  return Apply({"split", {loop}, {factor}});
}
absl::Status Schedule::SplitOverlapping(const std::string& loop, int64_t factor) {
  return Apply({"split_overlapping", {loop}, {factor}});
}
absl::Status Schedule::Fuse(const std::string& outer, const std::string& inner, const std::string& fused) {
  return Apply({"fuse", {outer, inner, fused}, {}});
}
absl::Status Schedule::Reorder(const std::vector<std::string>& loops) {
  return Apply({"reorder", loops, {}});
}
absl::Status Schedule::Tile(const std::string& y, const std::string& x, int64_t y_factor, int64_t x_factor) {
  RETURN_IF_ERROR(Split(y, y_factor));
  RETURN_IF_ERROR(Split(x, x_factor));
  return Reorder({y + ".o", x + ".o", y + ".i", x + ".i"});
}
absl::Status Schedule::Unroll(const std::string& loop) { return Apply({"unroll", {loop}, {}}); }
absl::Status Schedule::Vectorize(const std::string& loop) { return Apply({"vectorize", {loop}, {}}); }
absl::Status Schedule::Parallel(const std::string& loop) { return Apply({"parallel", {loop}, {}}); }
absl::Status Schedule::Dot(const std::string& loop) { return Apply({"dot", {loop}, {}}); }
absl::Status Schedule::Matrix(const std::string& loop) { return Apply({"matrix", {loop}, {}}); }
absl::Status Schedule::Bind(const std::string& loop, const std::string& hardware_index) {
  return Apply({"bind", {loop, hardware_index}, {}});
}
absl::Status Schedule::Peel(const std::string& loop, int64_t front, int64_t back) {
  return Apply({"peel", {loop}, {front, back}});
}
absl::Status Schedule::Inline(const std::string& stage) { return Apply({"inline", {stage}, {}}); }
absl::Status Schedule::ComputeAt(const std::string& stage, const std::string& loop, MemorySpace space) {
  return Apply({"compute_at", {stage, loop}, {static_cast<int64_t>(space)}});
}
absl::Status Schedule::ComputeWithin(const std::string& stage, const std::string& loop, MemorySpace space) {
  return Apply({"compute_within", {stage, loop}, {static_cast<int64_t>(space)}});
}
absl::Status Schedule::ComputeAfter(const std::string& stage, const std::string& loop) {
  return Apply({"compute_after", {stage, loop}, {}});
}
absl::Status Schedule::CacheWrite(const std::string& stage) { return Apply({"cache_write", {stage}, {}}); }
absl::Status Schedule::CacheRead(const std::string& buffer, const std::string& stage) {
  return Apply({"cache_read", {buffer, stage}, {}});
}
absl::Status Schedule::Rfactor(const std::string& stage, const std::string& loop, int64_t axis) {
  return Apply({"rfactor", {stage, loop}, {axis}});
}
absl::Status Schedule::Pack(const std::string& buffer, const std::string& stage,
                            const std::vector<std::pair<int64_t, int64_t>>& splits,
                            const std::vector<int64_t>& order) {
  Primitive primitive{"pack", {buffer, stage}, {static_cast<int64_t>(splits.size())}};
  for (const auto& [axis, block] : splits) primitive.numbers.insert(primitive.numbers.end(), {axis, block});
  primitive.numbers.insert(primitive.numbers.end(), order.begin(), order.end());
  return Apply(primitive);
}
absl::Status Schedule::Overcompute(const std::string& stage) { return Apply({"overcompute", {stage}, {}}); }
absl::Status Schedule::Prefetch(const std::string& buffer, const std::string& loop) {
  return Apply({"prefetch", {buffer, loop}, {}});
}
absl::Status Schedule::PrefetchNextTile(const std::string& buffer, const std::string& loop) {
  return Apply({"prefetch_next_tile", {buffer, loop}, {}});
}

std::string ToJson(const std::vector<Primitive>& trace) {
  std::string text = "[";
  for (size_t i = 0; i < trace.size(); ++i) {
    nlohmann::ordered_json line;
    line["op"] = trace[i].op;
    line["names"] = trace[i].names;
    line["numbers"] = trace[i].numbers;
    absl::StrAppend(&text, i == 0 ? "\n " : ",\n ", line.dump());
  }
  return text + "\n]\n";
}

absl::StatusOr<std::vector<Primitive>> ParseTrace(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_array()) return InvalidInput("schedule: not a JSON list of primitives");
  std::vector<Primitive> trace;
  for (const auto& item : parsed) {
    if (!item.is_object() || !item.contains("op") || !item["op"].is_string()) {
      return InvalidInput("schedule: primitive ", trace.size(), " has no \"op\"");
    }
    Primitive primitive{item["op"].get<std::string>(), {}, {}};
    for (const auto& name : item.value("names", nlohmann::json::array())) {
      if (!name.is_string())
        return InvalidInput("schedule: primitive ", trace.size(), ": names must be strings");
      primitive.names.push_back(name.get<std::string>());
    }
    for (const auto& number : item.value("numbers", nlohmann::json::array())) {
      if (!number.is_number_integer())
        return InvalidInput("schedule: primitive ", trace.size(), ": numbers must be integers");
      primitive.numbers.push_back(number.get<int64_t>());
    }
    trace.push_back(std::move(primitive));
  }
  return trace;
}

}  // namespace attune
