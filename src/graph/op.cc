#include "graph/op.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/fatal.h"

namespace attune {
namespace {

AttributeKind KindFromName(std::string_view kind) {
  for (int i = 0; i <= static_cast<int>(AttributeKind::kNumber); ++i) {
    if (AttributeKindName(static_cast<AttributeKind>(i)) == kind) return static_cast<AttributeKind>(i);
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

// The traits of a category's operators, where the table says nothing else.
struct CategoryTraits {
  OpCategory category;
  int anchor_rank;
  int flops;
  Fusing fuses;
  Blocks blocks;
};
constexpr CategoryTraits kCategoryTraits[] = {
    {OpCategory::kData, 0, 1, Fusing::kNothing, Blocks::kNone},
    {OpCategory::kUnary, 0, 1, Fusing::kNothing, Blocks::kJoins},
    {OpCategory::kBinary, 0, 1, Fusing::kNothing, Blocks::kJoins},
    {OpCategory::kTernary, 0, 1, Fusing::kNothing, Blocks::kJoins},
    {OpCategory::kMovement, 1, 0, Fusing::kEpilogue, Blocks::kNone},
    {OpCategory::kIndexed, 1, 1, Fusing::kEpilogue, Blocks::kNone},
    {OpCategory::kReduction, 2, 1, Fusing::kBoth, Blocks::kNone},
    {OpCategory::kScan, 2, 1, Fusing::kNothing, Blocks::kNone},
    {OpCategory::kSort, 2, 1, Fusing::kNothing, Blocks::kNone},
    {OpCategory::kContraction, 4, 1, Fusing::kEpilogue, Blocks::kNone},
    {OpCategory::kQuantized, 1, 1, Fusing::kNothing, Blocks::kNone},
    {OpCategory::kWindow, 3, 1, Fusing::kEpilogue, Blocks::kNone},
    {OpCategory::kNormalization, 3, 1, Fusing::kBoth, Blocks::kNone},
    {OpCategory::kSampling, 3, 1, Fusing::kEpilogue, Blocks::kNone},
    {OpCategory::kDynamic, 1, 1, Fusing::kNothing, Blocks::kNone},
    {OpCategory::kLinearAlgebra, 1, 1, Fusing::kNothing, Blocks::kNone},
    {OpCategory::kControl, 1, 1, Fusing::kNothing, Blocks::kNone},
};
constexpr bool InCategoryOrder() {
  for (size_t i = 0; i < std::size(kCategoryTraits); ++i) {
    if (kCategoryTraits[i].category != static_cast<OpCategory>(i)) return false;
  }
  return std::size(kCategoryTraits) == static_cast<size_t>(OpCategory::kControl) + 1;
}
static_assert(InCategoryOrder(), "one row a category, in the order of OpCategory");

// The index of `text` among `names`; a typing error in op_table.inc is fatal.
int IndexOf(std::string_view text, std::initializer_list<std::string_view> names) {
  const auto* const at = std::ranges::find(names, text);
  if (at == names.end()) Fatal("op_table.inc: no trait is '", std::string(text), "'");
  return static_cast<int>(at - names.begin());
}

int NumberOf(std::string_view text) {
  int number = 0;
  if (!absl::SimpleAtoi(text, &number)) Fatal("op_table.inc: '", std::string(text), "' is not a number");
  return number;
}

// "flops=23 cheap", over the traits of the category.
OpInfo WithTraits(OpInfo info, std::string_view traits) {
  const CategoryTraits& category = kCategoryTraits[static_cast<size_t>(info.category)];
  info.anchor_rank = category.anchor_rank;
  info.flops = category.flops;
  info.fuses = category.fuses;
  info.blocks = category.blocks;
  for (const std::string_view trait : absl::StrSplit(traits, ' ', absl::SkipEmpty())) {
    const size_t equals = trait.find('=');
    const std::string_view name = trait.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : trait.substr(equals + 1);
    if (name == "flops") {
      info.flops = NumberOf(value);
    } else if (name == "reads") {
      info.reads = NumberOf(value);
    } else if (name == "moves") {
      info.moves = value == "all" ? -1 : NumberOf(value);
    } else if (name == "fuses") {
      info.fuses = static_cast<Fusing>(IndexOf(value, {"nothing", "epilogue", "both"}));
    } else if (name == "blocks") {
      info.blocks = static_cast<Blocks>(IndexOf(value, {"none", "makes", "keeps", "joins"}));
    } else if (name == "rounds") {
      info.rounds = static_cast<Rounding>(IndexOf(value, {"none", "once", "function", "add", "sum"}));
    } else {
      bool* const flags[] = {&info.cheap, &info.commutes, &info.jumps};
      *flags[IndexOf(trait, {"cheap", "commutes", "jumps"})] = true;
    }
  }
  return info;
}

const std::vector<OpInfo>& Table() {
  static const auto* table = new std::vector<OpInfo>{
#define OP(enumerator, name, min_inputs, max_inputs, outputs, category, rule, kernel, attributes, traits) \
  WithTraits({Op::k##enumerator, name, min_inputs, max_inputs, outputs, OpCategory::category,             \
              ParseSpecification(attributes)},                                                            \
             traits),
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
