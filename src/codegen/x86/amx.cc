// AMX: eight tile registers of 16 rows of 64 bytes, and products of them. Intel 64 and IA-32 Architectures
// Software Developer's Manual, volume 1, chapter 18.
//
// Registers are chosen here, by number, and not by LLVM: it would spill and configure them as it sees fit.
#include <array>
#include <bit>
#include <utility>

#include "codegen/x86/x86.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "target/tile_configuration.h"

namespace attune {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

Intrinsic::ID ProductOf(const ProductInstruction& instruction) {
  if (instruction.left == DType::kBF16) return Intrinsic::x86_tdpbf16ps;
  const bool left_signed = instruction.left == DType::kI8, right_signed = instruction.right == DType::kI8;
  if (left_signed) return right_signed ? Intrinsic::x86_tdpbssd : Intrinsic::x86_tdpbsud;
  return right_signed ? Intrinsic::x86_tdpbusd : Intrinsic::x86_tdpbuud;
}

class Amx : public TileUnit {
 public:
  explicit Amx(llvm::IRBuilder<>& ir) : ir_(ir) {}

  llvm::Instruction* Configure(const std::vector<TileShape>& shapes) override {
    TileConfiguration tiles;
    for (size_t i = 0; i < shapes.size(); ++i) {
      tiles.row_bytes[i] = static_cast<uint16_t>(shapes[i].row_bytes);
      tiles.rows[i] = static_cast<uint8_t>(shapes[i].rows);
    }
    const auto bytes = std::bit_cast<std::array<uint8_t, sizeof(tiles)>>(tiles);
    llvm::Constant* data = llvm::ConstantDataArray::get(ir_.getContext(), bytes);
    llvm::Module* module = ir_.GetInsertBlock()->getModule();
    auto* configuration = new llvm::GlobalVariable(*module, data->getType(), /*isConstant=*/true,
                                                   llvm::GlobalValue::PrivateLinkage, data, "tiles");
    configuration->setAlignment(llvm::Align(64));
    configuration->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return ir_.CreateIntrinsic(Intrinsic::x86_ldtilecfg, {}, {configuration});
  }
  void Zero(int tile) override { ir_.CreateIntrinsic(Intrinsic::x86_tilezero, {}, {Number(tile)}); }
  void Load(int tile, Value* pointer, int64_t stride) override {
    ir_.CreateIntrinsic(Intrinsic::x86_tileloadd64, {}, {Number(tile), pointer, Stride(stride)});
  }
  void Store(int tile, Value* pointer, int64_t stride) override {
    ir_.CreateIntrinsic(Intrinsic::x86_tilestored64, {}, {Number(tile), pointer, Stride(stride)});
  }
  void Multiply(const ProductInstruction& instruction, int sums, int left, int right) override {
    ir_.CreateIntrinsic(ProductOf(instruction), {}, {Number(sums), Number(left), Number(right)});
  }
  void Release() override { ir_.CreateIntrinsic(Intrinsic::x86_tilerelease, {}, {}); }

 private:
  Value* Number(int tile) { return ir_.getInt8(static_cast<uint8_t>(tile)); }
  Value* Stride(int64_t bytes) { return ir_.getInt64(static_cast<uint64_t>(bytes)); }

  llvm::IRBuilder<>& ir_;
};

}  // namespace

std::unique_ptr<TileUnit> MakeAmx(llvm::IRBuilder<>& ir) { return std::make_unique<Amx>(ir); }

}  // namespace attune
