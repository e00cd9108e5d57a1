// A software model of a matrix unit: functions beside the kernel that do what its instructions do, on tiles
// that lie on the stack.
//
// A product of bf16 sums the even and the odd terms separately, adds the two sums, then adds the tile's
// element. Each multiply-add rounds once, as TDPBF16PS does (Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 2), but denormal numbers are kept, where TDPBF16PS treats them as 0.
#include <array>
#include <functional>
#include <string>

#include "codegen/tile_unit.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace attune {
namespace {

using llvm::Value;

constexpr int64_t kTileBytes = 1024, kRowBytes = 64, kSumBytes = 4;

class TileModel : public TileUnit {
 public:
  TileModel(llvm::IRBuilder<>& ir, llvm::Function* kernel) : ir_(ir), module_(kernel->getParent()) {
    llvm::Type* type = llvm::ArrayType::get(ir_.getInt8Ty(), kTileBytes * kTileRegisters);
    tiles_ =
        new llvm::AllocaInst(type, 0, nullptr, llvm::Align(64), "tiles", kernel->getEntryBlock().begin());
  }

  llvm::Instruction* Configure(const std::vector<TileShape>& shapes) override {
    shapes_ = shapes;
    return nullptr;
  }

  void Zero(int tile) override { ir_.CreateCall(ZeroTile(), {At(tile)}); }
  void Load(int tile, Value* pointer, int64_t stride) override {
    Zero(tile);
    Copy(At(tile), kRowBytes, pointer, stride, Shape(tile));
  }
  void Store(int tile, Value* pointer, int64_t stride) override {
    Copy(pointer, stride, At(tile), kRowBytes, Shape(tile));
  }

  void Multiply(const ProductInstruction& instruction, int sums, int left, int right) override {
    const TileShape shape = Shape(sums);
    ir_.CreateCall(Product(instruction), {At(sums), At(left), At(right), Number(shape.rows),
                                          Number(shape.row_bytes / kSumBytes), Number(Shape(right).rows)});
  }

  void Release() override {}

 private:
  Value* Number(int64_t value) { return ir_.getInt64(static_cast<uint64_t>(value)); }
  Value* At(int tile) {
    return ir_.CreateConstGEP1_64(ir_.getInt8Ty(), tiles_, static_cast<uint64_t>(tile * kTileBytes));
  }
  TileShape Shape(int tile) const { return shapes_[static_cast<size_t>(tile)]; }

  // Row by row.
  void Copy(Value* to, int64_t to_stride, Value* from, int64_t from_stride, const TileShape& shape) {
    ir_.CreateCall(CopyRows(), {to, Number(to_stride), from, Number(from_stride), Number(shape.rows),
                                Number(shape.row_bytes)});
  }

  // The module's function of this name. When it is first asked for, `define` emits its body with the
  // arguments at hand.
  llvm::Function* FunctionOf(const std::string& name, const std::vector<llvm::Type*>& arguments,
                             const std::function<void(llvm::Function*)>& define) {
    if (llvm::Function* known = module_->getFunction(name)) return known;
    auto* type = llvm::FunctionType::get(ir_.getVoidTy(), arguments, false);
    auto* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module_);
    function->addFnAttr(llvm::Attribute::NoInline);
    const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
    ir_.SetInsertPoint(llvm::BasicBlock::Create(module_->getContext(), "", function));
    define(function);
    ir_.CreateRetVoid();
    return function;
  }

  // for (i = 0; i < count; ++i) body(i), at least once.
  void Loop(Value* count, const std::function<void(Value*)>& body) {
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    auto* loop = llvm::BasicBlock::Create(module_->getContext(), "loop", before->getParent());
    auto* done = llvm::BasicBlock::Create(module_->getContext(), "done", before->getParent());
    ir_.CreateBr(loop);
    ir_.SetInsertPoint(loop);
    llvm::PHINode* i = ir_.CreatePHI(ir_.getInt64Ty(), 2);
    i->addIncoming(Number(0), before);
    body(i);
    Value* next = ir_.CreateAdd(i, Number(1));
    i->addIncoming(next, ir_.GetInsertBlock());
    ir_.CreateCondBr(ir_.CreateICmpULT(next, count), loop, done);
    ir_.SetInsertPoint(done);
  }

  Value* Byte(Value* base, Value* offset) { return ir_.CreateGEP(ir_.getInt8Ty(), base, offset); }

  // No memset: there is no library to call it from.
  llvm::Function* ZeroTile() {
    return FunctionOf("tile.zero", {ir_.getPtrTy()}, [&](llvm::Function* function) {
      Loop(Number(kTileBytes / 8), [&](Value* i) {
        ir_.CreateStore(ir_.getInt64(0), ir_.CreateGEP(ir_.getInt64Ty(), function->getArg(0), i));
      });
    });
  }

  llvm::Function* CopyRows() {
    llvm::Type *pointer = ir_.getPtrTy(), *number = ir_.getInt64Ty();
    return FunctionOf(
        "tile.copy", {pointer, number, pointer, number, number, number}, [&](llvm::Function* function) {
          const auto argument = [&](unsigned i) { return function->getArg(i); };
          Loop(argument(4), [&](Value* row) {
            Value* to = Byte(argument(0), ir_.CreateMul(row, argument(1)));
            Value* from = Byte(argument(2), ir_.CreateMul(row, argument(3)));
            Loop(argument(5), [&](Value* byte) {
              ir_.CreateStore(ir_.CreateLoad(ir_.getInt8Ty(), Byte(from, byte)), Byte(to, byte));
            });
          });
        });
  }

  // The term as a number of the sum's type.
  Value* Term(DType dtype, Value* row, Value* index) {
    if (dtype == DType::kBF16) {
      Value* bits = ir_.CreateLoad(ir_.getInt16Ty(), ir_.CreateGEP(ir_.getInt16Ty(), row, index));
      Value* wide = ir_.CreateShl(ir_.CreateZExt(bits, ir_.getInt32Ty()), uint64_t{16});
      return ir_.CreateBitCast(wide, ir_.getFloatTy());
    }
    Value* byte = ir_.CreateLoad(ir_.getInt8Ty(), Byte(row, index));
    return dtype == DType::kI8 ? ir_.CreateSExt(byte, ir_.getInt32Ty())
                               : ir_.CreateZExt(byte, ir_.getInt32Ty());
  }

  Value* MultiplyAdd(Value* a, Value* b, Value* sum) {
    if (!sum->getType()->isFloatTy()) return ir_.CreateAdd(ir_.CreateMul(a, b), sum);
    return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {a, b, sum});
  }

  // (sums, left, right, rows, columns, groups)
  llvm::Function* Product(const ProductInstruction& instruction) {
    llvm::Type *pointer = ir_.getPtrTy(), *number = ir_.getInt64Ty();
    const std::string name = "tile.product." + std::string(DTypeName(instruction.left)) + "." +
                             std::string(DTypeName(instruction.right));
    return FunctionOf(
        name, {pointer, pointer, pointer, number, number, number}, [&](llvm::Function* function) {
          Loop(function->getArg(3), [&](Value* row) {
            Loop(function->getArg(4), [&](Value* column) { SumOf(instruction, function, row, column); });
          });
        });
  }

  void SumOf(const ProductInstruction& instruction, llvm::Function* function, Value* row, Value* column) {
    const auto terms = static_cast<size_t>(instruction.terms);
    llvm::Type* type = instruction.sum == DType::kF32 ? ir_.getFloatTy() : ir_.getInt32Ty();
    Value* row_offset = ir_.CreateMul(row, Number(kRowBytes));
    Value* left = Byte(function->getArg(1), row_offset);
    std::vector<Value*> partial(terms);  // one sum for each term of a group
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    auto* loop = llvm::BasicBlock::Create(module_->getContext(), "groups", function);
    auto* done = llvm::BasicBlock::Create(module_->getContext(), "done", function);
    ir_.CreateBr(loop);
    ir_.SetInsertPoint(loop);
    llvm::PHINode* group = ir_.CreatePHI(ir_.getInt64Ty(), 2);
    group->addIncoming(Number(0), before);
    std::vector<llvm::PHINode*> sums(terms);
    for (llvm::PHINode*& sum : sums) {
      sum = ir_.CreatePHI(type, 2);
      sum->addIncoming(llvm::Constant::getNullValue(type), before);
    }
    Value* right = Byte(function->getArg(2), ir_.CreateMul(group, Number(kRowBytes)));
    for (size_t t = 0; t < terms; ++t) {
      const auto index = [&](Value* first) {
        return ir_.CreateAdd(ir_.CreateMul(first, Number(instruction.terms)),
                             Number(static_cast<int64_t>(t)));
      };
      Value* a = Term(instruction.left, left, index(group));
      Value* b = Term(instruction.right, right, index(column));
      partial[t] = MultiplyAdd(a, b, sums[t]);
    }
    Value* next = ir_.CreateAdd(group, Number(1));
    group->addIncoming(next, loop);
    for (size_t t = 0; t < terms; ++t) sums[t]->addIncoming(partial[t], loop);
    ir_.CreateCondBr(ir_.CreateICmpULT(next, function->getArg(5)), loop, done);
    ir_.SetInsertPoint(done);

    const auto add = [&](Value* a, Value* b) {
      return type->isFloatTy() ? ir_.CreateFAdd(a, b) : ir_.CreateAdd(a, b);
    };
    Value* total = partial[0];
    for (size_t t = 1; t < terms; ++t) total = add(total, partial[t]);
    Value* place =
        Byte(function->getArg(0), ir_.CreateAdd(row_offset, ir_.CreateMul(column, Number(kSumBytes))));
    ir_.CreateStore(add(ir_.CreateLoad(type, place), total), place);
  }

  llvm::IRBuilder<>& ir_;
  llvm::Module* module_;
  Value* tiles_;
  std::vector<TileShape> shapes_;
};

}  // namespace

std::unique_ptr<TileUnit> MakeTileModel(llvm::IRBuilder<>& ir, llvm::Function* function) {
  return std::make_unique<TileModel>(ir, function);
}

}  // namespace attune
