#include "base/dtype.h"

namespace attune {
namespace {

struct Row {
  std::string_view name;
  int size;
};

constexpr Row kTable[kNumDTypes] = {{"f32", 4}, {"f64", 8}, {"f16", 2}, {"bf16", 2}, {"i8", 1},
                                    {"i16", 2}, {"i32", 4}, {"i64", 8}, {"u8", 1},   {"u16", 2},
                                    {"u32", 4}, {"u64", 8}, {"bool", 1}};

}  // namespace

std::string_view DTypeName(DType dtype) { return kTable[static_cast<int>(dtype)].name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (kTable[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int DTypeSize(DType dtype) { return kTable[static_cast<int>(dtype)].size; }

}  // namespace attune
