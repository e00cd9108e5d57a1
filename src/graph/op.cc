#include "graph/op.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace attune {
namespace {

AttributeKind KindFromName(std::string_view kind) {
  constexpr std::string_view kNames[] = {"int", "float", "string", "ints", "floats", "dtype", "tensor"};
  for (int i = 0; i < 7; ++i) {
    if (kNames[i] == kind) return static_cast<AttributeKind>(i);
  }
  __builtin_trap();  // a typing error in op_table.inc
}

// "axis:int! keepdims:int=1" as AttributeInfos.
std::vector<AttributeInfo> ParseSpecification(std::string_view specification) {
  std::vector<AttributeInfo> attributes;
  for (std::string_view item : absl::StrSplit(specification, ' ', absl::SkipEmpty())) {
    const size_t colon = item.find(':');
    const std::string_view kind = item.substr(colon + 1);
    const size_t end = kind.find_first_of("!=");
    const size_t equals = kind.find('=');
    attributes.push_back({item.substr(0, colon), KindFromName(kind.substr(0, end)), absl::EndsWith(kind, "!"),
                          equals == std::string_view::npos ? std::string_view() : kind.substr(equals + 1)});
  }
  return attributes;
}

const std::vector<OpInfo>& Table() {
  static const auto* table = new std::vector<OpInfo>{
#define OP(enumerator, name, min_inputs, max_inputs, outputs, category, attributes) \
  {Op::k##enumerator,                                                               \
   name,                                                                            \
   min_inputs,                                                                      \
   max_inputs,                                                                      \
   outputs,                                                                         \
   OpCategory::category,                                                            \
   ParseSpecification(attributes)},
#include "graph/op_table.inc"
#undef OP
  };
  return *table;
}

}  // namespace

const AttributeInfo* OpInfo::FindAttribute(std::string_view attribute) const {
  for (const AttributeInfo& info : attributes) {
    if (info.name == attribute) return &info;
  }
  return nullptr;
}

const OpInfo& GetOpInfo(Op op) { return Table()[static_cast<size_t>(op)]; }

std::span<const OpInfo> AllOps() { return Table(); }

std::optional<Op> ParseOp(std::string_view name) {
  for (const OpInfo& info : Table()) {
    if (info.name == name) return info.op;
  }
  return std::nullopt;
}

}  // namespace attune
