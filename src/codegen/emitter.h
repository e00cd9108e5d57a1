// Emits the statements of a loop nest as LLVM IR.
//
// Expressions are emitted uniform (a scalar, equal in all lanes) or, inside a vectorized loop, as vectors
// with one lane an iteration; conditions that differ between lanes become a mask. Addresses are affine in the
// loop variables: each access splits its flat index into terms and a constant, and the pointer for the terms
// is made once, at the outermost place where all of its variables are known, so that the many accesses of an
// unrolled tile differ by constant displacements alone.
#ifndef ATTUNE_CODEGEN_EMITTER_H_
#define ATTUNE_CODEGEN_EMITTER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "codegen/codegen.h"
#include "codegen/target_emitter.h"
#include "codegen/tile_unit.h"
#include "codegen/values.h"
#include "llvm/IR/Module.h"
#include "target/products.h"
#include "tensor/affine.h"
#include "tensor/contraction.h"
#include "tensor/stmt.h"

namespace attune {

inline bool FitsInt32(const Interval& i) { return i.min >= INT32_MIN && i.max <= INT32_MAX; }

class NestEmitter {
 public:
  // The module, nest, target, its emitter and the options must outlive this one.
  NestEmitter(llvm::Module* module, const LoopNest& nest, const Target& target,
              const TargetEmitter& target_emitter, const CodegenOptions& options);

  // Adds the function `symbol` that runs one root statement. After an error the module is unusable.
  absl::Status EmitPhase(const Stmt& root, const std::string& symbol);

  // The largest scratch area of any phase so far.
  int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  // A region of code that is entered through `entry`, a block of its own that ends in a plain branch.
  // What is inserted before that branch is computed once and known throughout the region.
  struct Scope {
    struct Pointer {
      llvm::Value* base;
      std::vector<Affine::Term> terms;
      llvm::Value* value;
    };
    llvm::BasicBlock* entry;
    std::vector<Pointer> pointers;
  };

  // The vectorized loop that is being emitted.
  struct LaneLoop {
    Var var;
    Expr min;
    int64_t lanes;
    llvm::Value* mask = nullptr;  // lanes that take part, or null for all
  };

  // Where the lanes of one load or store find their elements.
  struct Access {
    llvm::Value* pointer;            // of lane 0, or what the offsets count from
    int64_t stride = 0;              // elements from one lane to the next; 0 where all use one
    llvm::Value* offsets = nullptr;  // instead of a stride: a vector of offsets in elements
    bool in_bounds = true;           // for every lane, masked or not
    // Each lane's place in one vector of the buffer, which begins `before` elements before `pointer`. Empty
    // where the lanes are not known to lie in one vector.
    std::vector<int> places = {};
    int64_t before = 0;
    bool varies() const { return stride != 0 || offsets != nullptr; }
  };

  // statements.cc
  void EmitStmt(const Stmt& s);
  void EmitFor(const Stmt& s);
  void EmitSerial(const Stmt& s);
  void EmitUnrolled(const Stmt& s);
  void EmitVectorized(const Stmt& s);
  void EmitParallel(const Stmt& s);
  void EmitLoop(const Var& var, llvm::Value* begin, llvm::Value* end, bool runs, const Stmt& body);
  void EmitIf(const Stmt& s);
  void EmitMaskedIf(const Stmt& s, llvm::Value* condition);
  void EmitBranch(llvm::Value* condition, const Stmt& then_body, const Stmt& else_body);
  void EmitBinding(const Var& var, const Expr& e, const Stmt& body);
  void EmitAllocate(const Stmt& s);
  void EmitWhile(const Stmt& s);
  void EmitPrefetch(const Stmt& s);
  // dot.cc
  void EmitDot(const Stmt& s);
  bool EmitDotInstruction(const Stmt& s);
  llvm::Value* ModelOf(const ProductInstruction& instruction, llvm::Value* sum, llvm::Value* left,
                       llvm::Value* right);

  // matrix.cc
  // One operation on a tile of `sums`, as a matrix loop asks for it.
  struct TileStep {
    enum Kind { kZero, kMultiply, kStore } kind;
    Stmt store;
    Buffer sums;
    std::vector<Expr> sum_indices;
    std::vector<Var> variables;  // of its loops
    int64_t rows, columns, groups;
    int64_t store_stride = 0;  // bytes from row to row, as the others
    // kMultiply
    const ProductInstruction* instruction = nullptr;
    Expr left, right;
    int64_t left_stride = 0, right_stride = 0;
  };
  // The tile registers of one buffer: of sums, and so many for operands.
  struct TilePlan {
    int64_t rows = 0, columns = 0, groups = 0;
    const ProductInstruction* instruction = nullptr;
    int64_t sums = 0, lefts = 1, rights = 1;
  };
  struct OperandSlot {
    int tile;
    Buffer buffer = nullptr;  // whose elements it holds, from `at` on; null: none that are known
    Affine at = {};
  };
  struct Tiles {
    std::unordered_map<int64_t, int> sums;  // by the flat index of a tile's first element
    std::vector<OperandSlot> left, right;   // least recently used first
  };
  std::optional<TileStep> MatchTileStep(const Stmt& matrix);
  bool MatchMove(const Stmt& rows, const Stmt& columns, TileStep* step);
  bool MatchProduct(const Stmt& rows, const Stmt& groups, const Stmt& columns, const Stmt& terms,
                    TileStep* step);
  bool CollectTileSteps(const Stmt& s, const Buffer& buffer, std::vector<Stmt>& unrolled, TilePlan* plan);
  bool AddTileStep(const TileStep& step, const std::vector<Stmt>& unrolled, TilePlan* plan);
  std::optional<TilePlan> PlanTiles(const Stmt& allocate);
  void EmitTiled(const Stmt& allocate, const TilePlan& plan);
  void EmitMatrix(const Stmt& s);
  int OperandTile(std::vector<OperandSlot>& slots, const Expr& element, int64_t stride);
  void ForgetOperands();
  void FinishTiles();

  // sharing.cc
  const std::vector<const BufferNode*>& BuffersSharedBetweenIterations(const Stmt& loop);
  bool SharesElements(const Affine& flat, const std::vector<Stmt>& loops) const;
  llvm::Value* Separate(const BufferNode* buffer, llvm::Value* pointer, size_t depth);

  // stores.cc
  void EmitStore(const Stmt& s);
  bool EmitReduction(const Stmt& s, const Access& access);
  bool EmitInterleaved(const Stmt& loop);
  void EmitUniformStore(const Stmt& s, const Access& access);
  llvm::BasicBlock* EnterIfAnyLane();
  void LeaveTo(llvm::BasicBlock* done);

  // expressions.cc
  llvm::Value* EmitExpr(const Expr& e);
  llvm::Value* EmitVariable(const Expr& e);
  llvm::Value* EmitOp(const Expr& e);
  llvm::Value* EmitIndexDivision(const Expr& e);
  llvm::Value* EmitLaneComparison(const Expr& e);
  llvm::Value* EmitAffine(const Affine& a);
  bool DependsOnLane(const Expr& e) const;

  // memory.cc
  Affine FlatIndex(const Buffer& buffer, const std::vector<Expr>& indices) const;
  void FindPlaces(const Buffer& buffer, const Affine& uniform, Access& access) const;
  Access Locate(const Buffer& buffer, const std::vector<Expr>& indices);
  llvm::Value* PointerFor(const Buffer& buffer, const Affine& a);
  llvm::Value* ClampedPointer(const Buffer& buffer, const Affine& flat);
  llvm::Value* BasePointer(const Buffer& buffer);
  llvm::Value* Offset(llvm::Value* pointer, llvm::Value* elements, DType dtype);
  llvm::Value* LoadFrom(const Buffer& buffer, const Access& access);
  llvm::Value* LoadStrided(const Buffer& buffer, const Access& access);
  llvm::Value* LoadLanes(const Buffer& buffer, const Access& access);
  llvm::Value* LoadTerms(const Expr& element, int64_t lanes);
  void StoreTo(const Buffer& buffer, const Access& access, llvm::Value* value);
  llvm::Value* MaskOfUpdate(llvm::Value* mask, const llvm::Value* accumulator);
  void StoreLanes(const Buffer& buffer, const Access& access, llvm::Value* value);
  void StoreDense(const Buffer& buffer, llvm::Value* pointer, llvm::Value* elements);
  llvm::Value* LanePointers(const Access& access, DType dtype);
  template <typename Instruction>
  Instruction* Tag(const Buffer& buffer, Instruction* access);
  void MakeAliasScopes();

  // Scopes. Enter starts a region at a new block; the builder then stands after its entry.
  void Enter(llvm::BasicBlock* entry);
  void Leave();
  llvm::BasicBlock* NewBlock(const char* name);
  size_t DepthOf(const Expr& atom) const;
  // Binds a variable to a value for the current scope.
  void Bind(const Var& var, llvm::Value* value, Interval interval);
  void Unbind(const Var& var);
  Interval LoopInterval(const Stmt& s) const;
  void Fail(absl::Status status) { values_.Fail(ir_.getInt1Ty(), std::move(status)); }

  llvm::Module* module_;
  const LoopNest& nest_;
  const Target& target_;
  const TargetEmitter& target_emitter_;
  const CodegenOptions& options_;
  ValueBuilder values_;
  llvm::IRBuilder<>& ir_;

  Bounds bounds_;
  struct Binding {
    llvm::Value* value;
    size_t depth;  // of the scope that it is known in
  };
  std::unordered_map<const VarNode*, Binding> bindings_;
  std::unordered_map<const BufferNode*, llvm::Value*> bases_;
  // The sets of memory that an access belongs to and that it does not overlap with.
  struct AliasScopes {
    llvm::MDNode* own;
    llvm::MDNode* others;
  };
  std::unordered_map<const BufferNode*, AliasScopes> alias_scopes_;
  AliasScopes scratch_alias_{};

  llvm::Function* function_ = nullptr;
  std::vector<Scope> scopes_;
  std::optional<LaneLoop> lanes_;
  // Values of the statement that is being emitted. The expressions are kept alive: many are made in passing,
  // and another node at the same address would be taken for them.
  struct Emitted {
    Expr expr;
    llvm::Value* value;
  };
  using Memo = std::unordered_map<const ExprNode*, Emitted>;
  Memo memo_;
  Contraction contraction_;
  // Of unrolled loops, see sharing.cc; and the iterations of such loops that are being emitted.
  std::unordered_map<const StmtNode*, std::vector<const BufferNode*>> shared_buffers_;
  struct Separation {
    size_t depth;  // of the iteration's scope
    const std::vector<const BufferNode*>* buffers;
  };
  std::vector<Separation> separations_;
  int opaque_copies_ = 0;
  std::map<std::pair<const llvm::Value*, int64_t>, int> updates_;  // of elements in registers, under masks
  // The buffers in tile registers of the function that is being emitted, and where these were configured.
  std::unique_ptr<TileUnit> tile_unit_;
  std::unordered_map<const BufferNode*, Tiles> tiles_;
  struct Configuration {
    llvm::Instruction* instruction;
    std::vector<TileShape> shapes;
  };
  std::vector<Configuration> configurations_;
  int64_t scratch_top_ = 0;
  int64_t scratch_bytes_ = 0;
  int64_t emitted_ = 0;  // statements, against endless unrolling
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_EMITTER_H_
