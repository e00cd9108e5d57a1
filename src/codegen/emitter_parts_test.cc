// The parts of the emitter, each by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/addresses.h"
#include "codegen/indices.h"
#include "codegen/run_kernel.h"
#include "codegen/sharing.h"
#include "codegen/tile_plan.h"
#include "llvm/IR/Module.h"
#include "target/products.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Stmt MatrixLoop(const Var& row, int64_t rows, Stmt body) {
  return MakeFor(row, Expr(int64_t{0}), Expr(rows), LoopKind::kMatrix, std::move(body));
}

TEST(Indices, AreNumbersInMemory) {
  const Buffer b = MakeBuffer("b", DType::kF32, {4, 6});
  const Var i = MakeVar("i"), j = MakeVar("j");
  Bounds bounds;
  bounds.Set(i, {2, 2});
  bounds.Set(j, {0, 5});
  const Affine flat = FlatIndex(b, {Expr(i), Expr(j) + Expr(int64_t{1})}, bounds);
  EXPECT_EQ(flat.constant, 13);
  EXPECT_EQ(flat.Find(i), nullptr);  // it is known
  EXPECT_EQ(flat.Find(j)->coefficient, 1);
  const Interval interval = LoopInterval(For(MakeVar("k"), 7, kSerial, MakeSequence({})), bounds);
  EXPECT_EQ(interval.min, 0);
  EXPECT_EQ(interval.max, 6);
}

// in[x + k] is one element for many pairs of x and k.
TEST(SharedElements, OfTheTapsOfAConvolution) {
  const Buffer in = MakeBuffer("in", DType::kF32, {10}), acc = MakeBuffer("acc", DType::kF32, {8});
  const auto shared = [&](int64_t step) {
    const Var x = MakeVar("x"), k = MakeVar("k");
    const Stmt store = MakeStore(acc, {x}, Load(acc, {x}) + Load(in, {Expr(x) + Expr(k) * step}));
    Bounds bounds;
    SharedElements elements(bounds);
    return elements.BetweenIterations(For(k, 2, kUnroll, For(x, 8, kUnroll, store))).size();
  };
  EXPECT_EQ(shared(1), 1);
  EXPECT_EQ(shared(8), 0);  // no pixel reads what another one reads
}

TEST(SharedElements, ALoopThatMovesTheStoresIsNoReduction) {
  const Buffer in = MakeBuffer("in", DType::kF32, {10}), out = MakeBuffer("out", DType::kF32, {10});
  const Var x = MakeVar("x"), k = MakeVar("k");
  const Stmt store = MakeStore(out, {Expr(x) + Expr(k)}, Load(in, {Expr(x) + Expr(k)}));
  Bounds bounds;
  SharedElements elements(bounds);
  EXPECT_THAT(elements.BetweenIterations(For(k, 2, kUnroll, For(x, 8, kUnroll, store))), IsEmpty());
}

class TilePlannerTest : public ::testing::Test {
 protected:
  // Zeros a tile of sums, or stores it to `out`.
  Stmt Zero() { return Move(acc_, FloatConst(0)); }
  Stmt Store(int64_t columns = 16) {
    const Var v = MakeVar("v");
    return MatrixLoop(row_, 16, For(v, columns, kVector, MakeStore(out_, {row_, v}, Load(acc_, {row_, v}))));
  }
  Stmt Move(const Buffer& to, const Expr& value) {
    const Var v = MakeVar("v");
    return MatrixLoop(row_, 16, For(v, 16, kVector, MakeStore(to, {row_, v}, value)));
  }
  Stmt Multiply() {
    const Var g = MakeVar("g"), v = MakeVar("v"), t = MakeVar("t");
    const Expr left = CastTo(DType::kF32, Load(a_, {row_, Expr(g) * 2 + Expr(t)}));
    const Expr right = CastTo(DType::kF32, Load(b_, {g, v, t}));
    const Stmt store = MakeStore(acc_, {row_, v}, Load(acc_, {row_, v}) + left * right);
    return MatrixLoop(
        row_, 16,
        For(g, 16, kUnroll,
            For(v, 16, kVector, MakeFor(t, Expr(int64_t{0}), Expr(int64_t{2}), LoopKind::kDot, store))));
  }

  const Target target_ = *TargetByName("sapphirerapids");
  const Buffer a_ = MakeBuffer("a", DType::kBF16, {16, 32}), b_ = MakeBuffer("b", DType::kBF16, {16, 16, 2}),
               acc_ = MakeBuffer("acc", DType::kF32, {16, 16}, MemorySpace::kRegister),
               out_ = MakeBuffer("out", DType::kF32, {16, 16});
  const Var row_ = MakeVar("r");
  Bounds bounds_;
  TilePlanner planner_{target_, bounds_};
};

TEST_F(TilePlannerTest, MatchesWhatTheUnitDoes) {
  EXPECT_EQ(planner_.Match(Zero())->kind, TileStep::kZero);
  const auto store = planner_.Match(Store());
  ASSERT_TRUE(store.has_value());
  EXPECT_EQ(store->kind, TileStep::kStore);
  EXPECT_EQ(store->store_stride, 64);
  const auto product = planner_.Match(Multiply());
  ASSERT_TRUE(product.has_value());
  EXPECT_EQ(product->kind, TileStep::kMultiply);
  EXPECT_EQ(product->instruction->feature, "amx_bf16");
  EXPECT_EQ(product->left_stride, 64);
  EXPECT_EQ(product->right_stride, 64);
}

TEST_F(TilePlannerTest, ABufferOfTilesGetsTheRegistersThatAreLeft) {
  const auto plan = planner_.Plan(MakeAllocate(acc_, MakeSequence({Zero(), Multiply(), Store()})));
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->sums, 1);
  EXPECT_EQ(plan->rows, 16);
  EXPECT_EQ(plan->groups, 16);
}

TEST_F(TilePlannerTest, OneAccessThatTheUnitDoesNotKnowIsEnough) {
  EXPECT_FALSE(planner_.Plan(MakeAllocate(acc_, MakeSequence({Zero(), Store()}))));  // no product
  EXPECT_FALSE(planner_.Plan(MakeAllocate(acc_, MakeSequence({Zero(), Multiply(), Store(8)}))));
  const Stmt one = MakeStore(out_, {0, 0}, Load(acc_, {0, 0}));
  EXPECT_FALSE(planner_.Plan(MakeAllocate(acc_, MakeSequence({Zero(), Multiply(), Store(), one}))));
  const Target without = *TargetByName("znver4");
  EXPECT_FALSE(TilePlanner(without, bounds_).Plan(MakeAllocate(acc_, MakeSequence({Zero(), Multiply()}))));
}

// A function with a loop in it, and an IndexEmitter that only knows variables.
class AddressesTest : public ::testing::Test {
 protected:
  class Variables : public IndexEmitter {
   public:
    Variables(ValueBuilder& values, Scopes& scopes) : values_(values), scopes_(scopes) {}
    llvm::Value* EmitAffine(const Affine& a) override {
      llvm::Value* sum = values_.Integer(DType::kI64, a.constant);
      for (const Affine::Term& term : a.terms) {
        llvm::Value* times = values_.Integer(DType::kI64, term.coefficient);
        sum = values_.ir().CreateAdd(sum, values_.ir().CreateMul(scopes_.ValueOf(term.atom->var), times));
      }
      return sum;
    }
    llvm::Value* EmitElsewhere(const Affine& a) override { return EmitAffine(a); }

   private:
    ValueBuilder& values_;
    Scopes& scopes_;
  };

  AddressesTest() {
    llvm::Type* pointer = values_.ir().getPtrTy();
    auto* type = llvm::FunctionType::get(values_.ir().getInt32Ty(),
                                         {pointer, pointer, pointer, values_.ir().getInt64Ty()}, false);
    scopes_.BeginFunction(llvm::Function::Create(type, llvm::Function::ExternalLinkage, "kernel", &module_));
  }

  // Enters a scope that knows the variable.
  void Enter(const Var& var) {
    scopes_.Enter(scopes_.NewBlock("loop"));
    scopes_.Bind(var, scopes_.function()->getArg(3), {0, 7});
  }

  static const llvm::BasicBlock* BlockOf(const llvm::Value* value) {
    return llvm::cast<llvm::Instruction>(value)->getParent();
  }

  const Buffer buffer_ = MakeBuffer("b", DType::kF32, {8, 8});
  const LoopNest nest_{
      .name = "k", .params = {{buffer_, BufferRole::kInput}}, .dims_buffer = {}, .roots = {}};
  const Target target_ = *TargetByName("x86-64-v3");
  const std::unique_ptr<const TargetEmitter> target_emitter_ = *MakeTargetEmitter(target_);
  llvm::LLVMContext context_;
  llvm::Module module_{"k", context_};
  ValueBuilder values_{context_, *target_emitter_};
  Scopes scopes_{values_};
  KernelBuffers buffers_{nest_, {}, values_, scopes_};
  Variables indices_{values_, scopes_};
  Addresses addresses_{values_, scopes_, buffers_, indices_};
};

TEST_F(AddressesTest, PointersAreMadeOnceInTheOutermostScopeThatKnowsThem) {
  const Var i = MakeVar("i"), j = MakeVar("j");
  Enter(i);
  const llvm::BasicBlock* outer = scopes_.EndOfEntry(1)->getParent();
  Enter(j);
  const Access row = addresses_.Locate(buffer_, {Expr(i), Expr(int64_t{0})});
  EXPECT_EQ(BlockOf(row.pointer), outer);
  EXPECT_TRUE(row.in_bounds);
  EXPECT_FALSE(row.varies());
  const Access again = addresses_.Locate(buffer_, {Expr(i), Expr(int64_t{0})});
  EXPECT_EQ(again.pointer, row.pointer);
  const Access element = addresses_.Locate(buffer_, {Expr(i), Expr(j)});
  EXPECT_EQ(BlockOf(element.pointer), scopes_.EndOfEntry(2)->getParent());
  EXPECT_FALSE(addresses_.Locate(buffer_, {Expr(i) + Expr(int64_t{1}), Expr(j)}).in_bounds);
}

TEST_F(AddressesTest, AnIterationHidesThePointersThatItShares) {
  const Var i = MakeVar("i");
  Enter(i);
  const llvm::Value* plain = addresses_.Locate(buffer_, {Expr(i), Expr(int64_t{0})}).pointer;
  const std::vector<const BufferNode*> shared = {buffer_.get()};
  scopes_.Enter(scopes_.NewBlock("iteration"));
  addresses_.BeginIteration(shared);
  const llvm::Value* hidden = addresses_.Locate(buffer_, {Expr(i), Expr(int64_t{0})}).pointer;
  EXPECT_NE(hidden, plain);
  EXPECT_EQ(addresses_.Locate(buffer_, {Expr(i), Expr(int64_t{0})}).pointer, hidden);
  addresses_.EndIteration();
  scopes_.Leave();
  EXPECT_EQ(addresses_.Locate(buffer_, {Expr(i), Expr(int64_t{0})}).pointer, plain);
}

TEST_F(AddressesTest, LanesAreAStrideApart) {
  const Var lane = MakeVar("l");
  scopes_.BeginLanes({lane, Expr(int64_t{0}), 8});
  scopes_.Bind(lane, values_.Broadcast(scopes_.function()->getArg(3), 8), {0, 7});
  EXPECT_TRUE(scopes_.DependsOnLane(Expr(lane) + Expr(int64_t{1})));
  EXPECT_EQ(addresses_.Locate(buffer_, {Expr(int64_t{3}), Expr(lane)}).stride, 1);
  EXPECT_EQ(addresses_.Locate(buffer_, {Expr(lane), Expr(int64_t{3})}).stride, 8);
  EXPECT_FALSE(addresses_.Locate(buffer_, {Expr(int64_t{3}), Expr(int64_t{3})}).varies());
  scopes_.Unbind(lane);
  scopes_.EndLanes();
  EXPECT_EQ(scopes_.lanes(), nullptr);
}

TEST_F(AddressesTest, ABufferThatNobodyKnowsIsAnError) {
  addresses_.Locate(MakeBuffer("other", DType::kF32, {1}), {Expr(int64_t{0})});
  EXPECT_EQ(values_.status().message(), "buffer other is not known in kernel k");
}

TEST(Scopes, AValueIsKnownWhereItsVariablesAre) {
  llvm::LLVMContext context;
  llvm::Module module("k", context);
  const Target target = *TargetByName("x86-64-v3");
  const auto target_emitter = *MakeTargetEmitter(target);
  ValueBuilder values(context, *target_emitter);
  Scopes scopes(values);
  auto* type = llvm::FunctionType::get(values.ir().getInt32Ty(), {}, false);
  scopes.BeginFunction(llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", &module));
  const Var i = MakeVar("i"), j = MakeVar("j");
  std::vector<size_t> depths;
  scopes.Enter(scopes.NewBlock("a"));
  scopes.Bind(i, values.Integer(DType::kI64, 1), {1, 1});
  scopes.Enter(scopes.NewBlock("b"));
  scopes.Bind(j, values.Integer(DType::kI64, 2), {2, 2});
  for (const Expr& e : {Expr(int64_t{5}), Expr(i), Expr(i) + Expr(j)}) depths.push_back(scopes.DepthOf(e));
  EXPECT_THAT(depths, ElementsAre(0, 1, 2));
  EXPECT_EQ(scopes.bounds().Of(j).max, 2);
  scopes.Unbind(j);
  EXPECT_EQ(scopes.ValueOf(j), nullptr);
  scopes.Leave();
  EXPECT_EQ(scopes.depth(), 1);
}

}  // namespace
}  // namespace attune
