#include "opt/passes.h"

namespace attune {

std::span<const PassInfo> PassTable() {
  static const auto* table = new std::vector<PassInfo>{
      {"dead_code", DeadCodePass, "Nothing is spent on what no output needs.", {}},
      {"fold_constants",
       FoldConstantsPass,
       "Values that depend on no input are computed now.",
       {{"max_bytes", 16 << 20, "largest result"},
        {"max_growth_bytes", 64 << 10, "how much larger than its inputs a result may be"},
        {"max_macs", 1 << 30, "most multiply-adds of a contraction"}}},
      {"dead_code", DeadCodePass, "Fusion must not see uses by dead nodes.", {}},
      {"fuse",
       FusePass,
       "Last: lowering takes groups, and no other pass looks into them.",
       {{"epilogues", 1, "0: contractions and other anchors stand alone"},
        {"prologues", 1, "0: elementwise producers stay outside of reductions and data movement"},
        {"max_nodes", 64, "most nodes of a group"},
        {"max_inputs", 16, "most inputs of a group that has more than one node"}}},
  };
  return *table;
}

const PassInfo* FindPass(std::string_view name) {
  for (const PassInfo& info : PassTable()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace attune
