#include "artifact/size_code.h"

#include <algorithm>

#include "base/joined.h"

namespace attune {
namespace {

bool Pushes(SizeOpcode op) { return op == SizeOpcode::kConstant || op == SizeOpcode::kSize; }

bool Divides(SizeOpcode op) { return op == SizeOpcode::kFloorDiv || op == SizeOpcode::kMod; }

// Sets `left` to the number that takes the place of `left` and `right`.
SizeFault Apply(SizeOpcode op, int64_t right, int64_t* left) {
  if (Divides(op)) {
    if (right <= 0) return SizeFault::kDivisor;
    const int64_t remainder = *left % right;
    const int64_t rest = remainder < 0 ? remainder + right : remainder;
    *left = op == SizeOpcode::kMod ? rest : *left / right - (remainder < 0 ? 1 : 0);
    return SizeFault::kNone;
  }
  bool overflow = false;
  if (op == SizeOpcode::kAdd) overflow = __builtin_add_overflow(*left, right, left);
  if (op == SizeOpcode::kMul) overflow = __builtin_mul_overflow(*left, right, left);
  if (op == SizeOpcode::kMin) *left = std::min(*left, right);
  if (op == SizeOpcode::kMax) *left = std::max(*left, right);
  return overflow ? SizeFault::kOverflow : SizeFault::kNone;
}

}  // namespace

std::string CheckSizeCode(const SizeCode& code, size_t num_sizes) {
  if (code.size() > kMaxSizeSteps) return Joined({"has more steps than ", kMaxSizeSteps});
  size_t depth = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    const SizeStep& step = code[i];
    if (step.op == SizeOpcode::kSize && (step.value < 0 || static_cast<uint64_t>(step.value) >= num_sizes))
      return "names a size that does not exist";
    if (Pushes(step.op)) {
      if (++depth > kMaxSizeDepth) return "is nested too deeply";
      continue;
    }
    if (step.value != 0) return "has a value where there is none";
    if (depth < 2) return "lacks a number";
    if (Divides(step.op) && code[i - 1].op == SizeOpcode::kConstant && code[i - 1].value <= 0)
      return "divides by a number that is not positive";
    --depth;
  }
  return depth == 1 ? "" : "leaves other than one number";
}

const char* FaultText(SizeFault fault) {
  switch (fault) {
    case SizeFault::kNone:
      break;
    case SizeFault::kOverflow:
      return "is too large";
    case SizeFault::kNegative:
      return "is negative";
    case SizeFault::kDivisor:
      return "divides by a number that is not positive";
  }
  return "";
}

SizeFault Evaluate(const SizeCode& code, std::span<const int64_t> sizes, int64_t* number) {
  int64_t stack[kMaxSizeDepth] = {};
  int64_t* end = stack;
  for (const SizeStep& step : code) {
    if (step.op == SizeOpcode::kConstant) {
      *end++ = step.value;
    } else if (step.op == SizeOpcode::kSize) {
      *end++ = sizes[static_cast<size_t>(step.value)];
    } else {
      --end;
      if (const SizeFault fault = Apply(step.op, *end, end - 1); fault != SizeFault::kNone) return fault;
    }
  }
  if (stack[0] < 0) return SizeFault::kNegative;
  *number = stack[0];
  return SizeFault::kNone;
}

}  // namespace attune
