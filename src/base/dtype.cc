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

double UnitRoundoff(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-11;
    case DType::kBF16:
      return 0x1p-8;
    case DType::kF32:
      return 0x1p-24;
    case DType::kF64:
      return 0x1p-53;
    default:
      return 0;
  }
}

}  // namespace attune
