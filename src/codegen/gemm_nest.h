// For tests and measurements: a register-tiled matrix product as a loop nest made by hand.
#ifndef ATTUNE_CODEGEN_GEMM_NEST_H_
#define ATTUNE_CODEGEN_GEMM_NEST_H_

#include <cstdint>
#include <utility>

#include "base/checked.h"
#include "tensor/stmt.h"

namespace attune {

// c[m, n] = a[m, k] b[k, n], b packed as [n / (vectors · lanes), k, vectors · lanes]. A tile of `rows` by
// `vectors` vectors of `lanes` f32 is kept in registers while k runs; rows beyond m are computed masked.
inline LoopNest GemmNest(int64_t m, int64_t n, int64_t k, int64_t rows, int64_t vectors, int64_t lanes) {
  const int64_t width = vectors * lanes;
  const Buffer a = MakeBuffer("a", DType::kF32, {m, k});
  const Buffer b = MakeBuffer("b", DType::kF32, {n / width, k, width});
  const Buffer c = MakeBuffer("c", DType::kF32, {m, n});
  const Buffer acc = MakeBuffer("acc", DType::kF32, {rows, width}, MemorySpace::kRegister);
  const Var io = MakeVar("io"), jo = MakeVar("jo"), p = MakeVar("p");

  // Runs body(row, column) for every vector of the tile.
  const auto tile = [&](auto body) {
    const Var r = MakeVar("r"), v = MakeVar("v"), l = MakeVar("l");
    Stmt s = MakeFor(l, 0, lanes, LoopKind::kVectorized, body(Expr(r), Expr(v) * lanes + Expr(l)));
    return MakeFor(r, 0, rows, LoopKind::kUnrolled, MakeFor(v, 0, vectors, LoopKind::kUnrolled, s));
  };
  const auto row = [&](const Expr& r) { return Expr(io) * rows + r; };
  Stmt zero = tile([&](Expr r, Expr j) { return MakeStore(acc, {r, j}, FloatConst(0)); });
  Stmt update = tile([&](Expr r, Expr j) {
    const Expr x = Load(a, {Min(row(r), m - 1), p}), y = Load(b, {jo, p, j});
    return MakeStore(acc, {r, j}, Load(acc, {r, j}) + x * y);
  });
  update = MakeFor(p, 0, k, LoopKind::kSerial, update);
  Stmt write = tile([&](Expr r, Expr j) {
    return MakeIf(row(r) < m, MakeStore(c, {row(r), Expr(jo) * width + j}, Load(acc, {r, j})));
  });
  Stmt body = MakeAllocate(acc, MakeSequence({zero, update, write}));
  body = MakeFor(io, 0, CeilDiv(m, rows), LoopKind::kSerial, body);
  body = MakeFor(jo, 0, n / width, LoopKind::kParallel, body);
  return {.name = "gemm",
          .params = {{a, BufferRole::kInput}, {b, BufferRole::kInput}, {c, BufferRole::kOutput}},
          .dims_buffer = nullptr,
          .roots = {body}};
}

}  // namespace attune

#endif  // ATTUNE_CODEGEN_GEMM_NEST_H_
