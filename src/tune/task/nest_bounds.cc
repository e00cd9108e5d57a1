#include "tune/task/nest_bounds.h"

#include <algorithm>

#include "base/checked.h"
#include "tensor/registers.h"

namespace attune {
namespace {

// Sizes saturate, since a config may contain any numbers.
constexpr int64_t kMost = int64_t{1} << 40;

int64_t Times(int64_t a, int64_t b) { return b != 0 && a > kMost / b ? kMost : a * b; }

class Measurer {
 public:
  explicit Measurer(const Target& target) : vector_bytes_(target.vector_bits / 8) {}

  // Visits `s`, which unrolling repeats `copies` times.
  void Visit(const Stmt& s, int64_t copies) {
    if (s == nullptr) return;
    switch (s->kind) {
      case StmtKind::kStore:
        bounds_.statements = std::min(kMost, bounds_.statements + copies);
        return;
      case StmtKind::kFor: {
        const bool repeats = s->loop == LoopKind::kUnrolled && s->extent->kind == ExprKind::kInt;
        return Visit(s->body, repeats ? Times(copies, s->extent->int_value) : copies);
      }
      case StmtKind::kAllocate:
        return VisitAllocation(s, copies);
      case StmtKind::kSequence:
        for (const Stmt& child : s->children) Visit(child, copies);
        return;
      default:
        Visit(s->body, copies);
        Visit(s->else_body, copies);
    }
  }

  const NestBounds& bounds() const { return bounds_; }

 private:
  void VisitAllocation(const Stmt& s, int64_t copies) {
    const Buffer& buffer = s->buffer;
    const int64_t bytes = Times(buffer->num_elements(), DTypeSize(buffer->dtype));
    const bool in_registers = buffer->space == MemorySpace::kRegister;
    const int64_t vectors = in_registers && !IsOfTiles(*s) ? CeilDiv(bytes, vector_bytes_) : 0;
    const int64_t scratch = in_registers ? 0 : bytes;
    live_vectors_ += vectors;
    live_scratch_ += scratch;
    bounds_.register_vectors = std::max(bounds_.register_vectors, live_vectors_);
    bounds_.scratch_bytes = std::max(bounds_.scratch_bytes, live_scratch_);
    Visit(s->body, copies);
    live_vectors_ -= vectors;
    live_scratch_ -= scratch;
  }

  int64_t vector_bytes_;
  int64_t live_vectors_ = 0, live_scratch_ = 0;
  NestBounds bounds_;
};

}  // namespace

NestBounds BoundsOf(const LoopNest& nest, const Target& target) {
  Measurer measurer(target);
  for (const Stmt& root : nest.roots) measurer.Visit(root, 1);
  return measurer.bounds();
}

}  // namespace attune
