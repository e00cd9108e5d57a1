// The instructions that multiply narrow numbers and add the products to wide ones. Strategies arrange
// operands for them, and code generation emits them.
#ifndef ATTUNE_TARGET_PRODUCTS_H_
#define ATTUNE_TARGET_PRODUCTS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"
#include "target/target.h"

namespace attune {

// The terms that an instruction adds up at once are neighbours in memory, of 32 bits together.
inline constexpr int64_t kGroupBytes = 4;

struct ProductInstruction {
  std::string_view feature;  // of the target
  int64_t terms;             // of a group
  DType sum, left, right;    // the operands' elements, in the instruction's order
};

// Instructions that add to each lane of a vector of sums the products of the terms in that lane of two
// vectors.
inline constexpr std::array kDotInstructions = {
    ProductInstruction{"avx512_bf16", 2, DType::kF32, DType::kBF16, DType::kBF16},
    ProductInstruction{"avx512_vnni", 4, DType::kI32, DType::kU8, DType::kI8},
    ProductInstruction{"avx_vnni", 4, DType::kI32, DType::kU8, DType::kI8},
    ProductInstruction{"avx_vnni_int8", 4, DType::kI32, DType::kI8, DType::kI8},
    ProductInstruction{"avx_vnni_int8", 4, DType::kI32, DType::kU8, DType::kU8},
    ProductInstruction{"avx2", 2, DType::kI32, DType::kI16, DType::kI16},  // and an addition
};

// For tiles: sums of at most kTileRows × kTileColumns numbers of 32 bits, a left operand of as many rows of
// at most kTileColumns groups of terms, and a right one of as many rows as the left one has groups, of
// kTileColumns groups each.
inline constexpr int64_t kTileRows = 16, kTileColumns = 16;
inline constexpr int64_t kTileRegisters = 8;
inline constexpr std::array kMatrixInstructions = {
    ProductInstruction{"amx_bf16", 2, DType::kF32, DType::kBF16, DType::kBF16},
    ProductInstruction{"amx_int8", 4, DType::kI32, DType::kU8, DType::kI8},
    ProductInstruction{"amx_int8", 4, DType::kI32, DType::kI8, DType::kI8},
    ProductInstruction{"amx_int8", 4, DType::kI32, DType::kI8, DType::kU8},
    ProductInstruction{"amx_int8", 4, DType::kI32, DType::kU8, DType::kU8},
};

// Whether the target has any of these.
inline bool HasProducts(std::span<const ProductInstruction> instructions, const Target& target) {
  return std::ranges::any_of(
      instructions, [&](const ProductInstruction& instruction) { return target.Has(instruction.feature); });
}

// The target's instruction for these elements, in this order; or null.
inline const ProductInstruction* FindProduct(std::span<const ProductInstruction> instructions,
                                             const Target& target, DType sum, DType left, DType right) {
  for (const ProductInstruction& candidate : instructions) {
    const bool matches = candidate.sum == sum && candidate.left == left && candidate.right == right;
    if (matches && target.Has(candidate.feature)) return &candidate;
  }
  return nullptr;
}

}  // namespace attune

#endif  // ATTUNE_TARGET_PRODUCTS_H_
