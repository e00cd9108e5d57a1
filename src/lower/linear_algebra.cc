// Determinants, by Gaussian elimination with partial pivoting, in f64.
#include <algorithm>

#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {

absl::Status DefineDet(Definition& definition, const Node& node) {
  const Value *x = node.input(0), *y = node.output();
  const std::string name = definition.StageName(node);
  const Shape batches = y->type().shape();
  const int64_t n = x->type().dims.back().size;
  const Buffer matrix = MakeBuffer(name + ".matrix", DType::kF64,
                                   {std::max<int64_t>(n, 1), std::max<int64_t>(n, 1)}, MemorySpace::kScratch);
  const Cell pivot(name + ".pivot", DType::kI64), det(name + ".det", DType::kF64),
      held(name + ".held", DType::kF64);
  const Expr one(int64_t{1});
  const auto from = [&](const std::string& step, const Expr& begin,
                        const std::function<Stmt(const Expr&)>& body) {
    const Var var = MakeVar(absl::StrCat(name, ".", step));
    return MakeFor(var, begin, Expr(n) - begin, LoopKind::kSerial, body(Expr(var)));
  };
  const auto element = [&](const Expr& row, const Expr& column) {
    return Load(matrix, {Clamp(row, 0, std::max<int64_t>(n - 1, 0)), column});
  };
  const auto size = [&](const Expr& row, const Expr& column) {
    return Apply(MathOp::kAbs, element(row, column));
  };

  // Swaps the row with the largest element of column k into row k, and eliminates the column below it.
  const auto eliminate = [&](const Expr& k) {
    const Stmt search = from("search", k + one, [&](const Expr& i) {
      return MakeIf(size(i, k) > size(pivot.Get(), k), pivot.Set(i));
    });
    const Stmt swap = from("swap", k, [&](const Expr& j) {
      return MakeSequence({held.Set(element(k, j)), MakeStore(matrix, {k, j}, element(pivot.Get(), j)),
                           MakeStore(matrix, {Clamp(pivot.Get(), 0, n - 1), j}, held.Get())});
    });
    const Stmt reduce = from("row", k + one, [&](const Expr& i) {
      const Stmt factor = held.Set(element(i, k) / element(k, k));
      return MakeSequence({factor, from("column", k, [&](const Expr& j) {
                             return MakeStore(matrix, {i, j}, element(i, j) - held.Get() * element(k, j));
                           })});
    });
    const Stmt below = MakeIf(NotEqual(element(k, k), FloatConst(0, DType::kF64)), reduce);
    return MakeSequence({pivot.Set(k), search,
                         MakeIf(NotEqual(pivot.Get(), k), MakeSequence({swap, det.Set(-det.Get())})),
                         det.Set(det.Get() * element(k, k)), below});
  };
  std::vector<std::string> names;
  for (size_t d = 0; d < batches.size(); ++d) names.push_back(absl::StrCat(name, ".d", d));
  const Stmt body = MakeLoops(names, batches, [&](const Indices& batch) {
    const Stmt copy = MakeLoops({name + ".i", name + ".j"}, {n, n}, [&](const Indices& at) {
      Indices from_x = batch;
      from_x.insert(from_x.end(), at.begin(), at.end());
      return MakeStore(matrix, at, CastTo(DType::kF64, definition.Read(x, from_x)));
    });
    const Stmt store = MakeStore(definition.BufferOf(y), batch, CastTo(y->type().dtype, det.Get()));
    return MakeSequence(
        {copy, det.Set(FloatConst(1, DType::kF64)), from("k", Expr(int64_t{0}), eliminate), store});
  });
  definition.DefineImperative(node, "", {y},
                              WithBuffers({matrix, pivot.buffer, det.buffer, held.buffer}, body));
  return absl::OkStatus();
}

}  // namespace attune
