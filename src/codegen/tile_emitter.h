// Emits the instructions of a matrix unit, and knows what its registers hold.
#ifndef ATTUNE_CODEGEN_TILE_EMITTER_H_
#define ATTUNE_CODEGEN_TILE_EMITTER_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "codegen/expressions.h"
#include "codegen/scopes.h"
#include "codegen/tile_plan.h"
#include "codegen/tile_unit.h"
#include "codegen/values.h"
#include "target/target.h"

namespace attune {

class TileEmitter {
 public:
  // All must outlive this.
  TileEmitter(const Target& target, ValueBuilder& values, Scopes& scopes, ExpressionEmitter& expressions)
      : target_(target), values_(values), ir_(values.ir()), scopes_(scopes), expressions_(expressions) {}

  // From here to End() the buffer lies in tile registers, which are configured for it.
  void Begin(const Buffer& buffer, const TilePlan& plan);
  void End(const Buffer& buffer) { tiles_.erase(buffer.get()); }
  // Whether any buffer lies in tile registers, and whether this one does.
  bool is_active() const { return !tiles_.empty(); }
  bool Holds(const Buffer& buffer) const { return tiles_.contains(buffer.get()); }

  // Emits a step on a buffer in tile registers.
  void Emit(const TileStep& step);
  // Must be called when memory or the values of variables change: the registers' operands may be outdated.
  void ForgetOperands();
  // Ends a function. If one configuration is enough, it happens once, in the function's first scope.
  void Finish();

 private:
  struct OperandSlot {
    int tile;
    Buffer buffer = nullptr;  // the buffer whose elements it holds, from `at` on; null: none known
    Affine at = {};
  };
  struct Tiles {
    std::unordered_map<int64_t, int> sums;  // by the flat index of a tile's first element
    std::vector<OperandSlot> left, right;   // least recently used first
  };
  struct Configuration {
    llvm::Instruction* instruction;
    std::vector<TileShape> shapes;
  };

  int OperandTile(std::vector<OperandSlot>& slots, const Expr& element, int64_t stride);

  const Target& target_;
  ValueBuilder& values_;
  llvm::IRBuilder<>& ir_;
  Scopes& scopes_;
  ExpressionEmitter& expressions_;
  std::unique_ptr<TileUnit> unit_;  // once a function needs it
  std::unordered_map<const BufferNode*, Tiles> tiles_;
  std::vector<Configuration> configurations_;  // of the function
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_TILE_EMITTER_H_
