#include "opt/passes.h"

#include <algorithm>

namespace attune {

std::span<const PassInfo> PassTable() {
  static const auto* table = [] {
    auto* rows = new std::vector<PassInfo>{
#define PASS(function, name, reason, ...) {name, function##Pass, reason, {__VA_ARGS__}},
#include "opt/pass_table.inc"
#undef PASS
    };
    for (PassInfo& row : *rows)
      row.parameters = std::ranges::find(*rows, row.name, &PassInfo::name)->parameters;
    return rows;
  }();
  return *table;
}

const PassInfo* FindPass(std::string_view name) {
  for (const PassInfo& info : PassTable()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace attune
