#include "codegen/x86/x86.h"

#include <mutex>
#include <string>

#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Support/TargetSelect.h"

namespace attune {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

// Lanes of 32 bits in a vector of AVX-512, and of AVX2.
constexpr int64_t kWhole = 16, kHalf = 8;

// Operands of AVX-512's instructions: the mask of a whole vector of f32, and the rounding.
constexpr uint16_t kAllLanes = 0xFFFF;
constexpr uint32_t kRoundAsSet = 4;

int64_t LanesOf(const Value* vector) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
  return type == nullptr ? 1 : type->getNumElements();
}

llvm::Type* VectorOf(llvm::Type* element, int64_t lanes) {
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

struct DotIntrinsics {
  Intrinsic::ID whole, half;
  bool adds = true;  // to the sum, which is then its first operand
};

DotIntrinsics IntrinsicsOf(const ProductInstruction& instruction) {
  if (instruction.left == DType::kBF16)
    return {Intrinsic::x86_avx512bf16_dpbf16ps_512, Intrinsic::x86_avx512bf16_dpbf16ps_256};
  if (instruction.left == DType::kI16)
    return {Intrinsic::x86_avx512_pmaddw_d_512, Intrinsic::x86_avx2_pmadd_wd, /*adds=*/false};
  if (instruction.right == DType::kU8) return {Intrinsic::not_intrinsic, Intrinsic::x86_avx2_vpdpbuud_256};
  if (instruction.left == DType::kI8) return {Intrinsic::not_intrinsic, Intrinsic::x86_avx2_vpdpbssd_256};
  // AVX-VNNI and AVX-512 have the same intrinsics.
  return {Intrinsic::x86_avx512_vpdpbusd_512, Intrinsic::x86_avx512_vpdpbusd_256};
}

// `groups` as a vector of terms, where the instruction takes terms instead of lanes of 32 bits.
Value* TermsOf(llvm::IRBuilder<>& ir, const ProductInstruction& instruction, Value* groups) {
  const bool is_bf16 = instruction.left == DType::kBF16;
  if (!is_bf16 && instruction.left != DType::kI16) return groups;
  llvm::Type* element = is_bf16 ? ir.getBFloatTy() : ir.getInt16Ty();
  return ir.CreateBitCast(groups, VectorOf(element, instruction.terms * LanesOf(groups)));
}

// A statement of assembly without instructions.
Value* EmptyAssembly(llvm::IRBuilder<>& ir, Value* value, const char* constraint,
                     const std::string& comment) {
  auto* type = llvm::FunctionType::get(value->getType(), {value->getType()}, false);
  llvm::CallInst* copy = ir.CreateCall(
      llvm::InlineAsm::get(type, "# " + comment, constraint, /*hasSideEffects=*/false), {value});
  copy->setDoesNotAccessMemory();
  copy->setDoesNotThrow();
  copy->addFnAttr(llvm::Attribute::WillReturn);
  return copy;
}

class X86Emitter : public TargetEmitter {
 public:
  explicit X86Emitter(const Target& target)
      : target_(target), avx512_(target.Has("avx512f")), bf16_(target.Has("avx512_bf16")) {}

  const char* Triple() const override { return "x86_64-unknown-linux-gnu"; }

  void AddAttributes(llvm::Function& function) const override {
    const std::string width = std::to_string(target_.vector_bits);
    // Both are needed for 512-bit registers: some processors prefer 256 bits by default, and types wider
    // than the least legal width are split.
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
  }

  Value* OpaqueCopy(llvm::IRBuilder<>& ir, Value* value, RegisterClass registers,
                    const std::string& comment) const override {
    if (registers == RegisterClass::kGeneral) return EmptyAssembly(ir, value, "=r,0", comment);
    if (registers == RegisterClass::kVector) return EmptyAssembly(ir, value, "=v,0", comment);
    const int64_t lanes = LanesOf(value);
    if (!avx512_ || (lanes != kWhole && lanes != kHalf)) return value;
    Value* bits = ir.CreateBitCast(value, ir.getIntNTy(static_cast<unsigned>(lanes)));
    return ir.CreateBitCast(EmptyAssembly(ir, bits, "=k,0", comment), value->getType());
  }

  int64_t VectorLanes(int64_t lanes) const override {
    if (lanes == kHalf) return kHalf;
    const int64_t widest = avx512_ ? kWhole : kHalf;
    return lanes % widest == 0 ? widest : 0;
  }

  Value* AddProducts(llvm::IRBuilder<>& ir, const ProductInstruction& instruction, Value* sum, Value* left,
                     Value* right) const override {
    const DotIntrinsics intrinsics = IntrinsicsOf(instruction);
    const Intrinsic::ID id = LanesOf(sum) == kHalf ? intrinsics.half : intrinsics.whole;
    left = TermsOf(ir, instruction, left);
    right = TermsOf(ir, instruction, right);
    if (intrinsics.adds) return ir.CreateIntrinsic(id, {}, {sum, left, right});
    // If the back end can look into sums of integers, it reorders them into shorter dependency chains,
    // which take more registers than there are.
    Value* products = ir.CreateIntrinsic(id, {}, {left, right});
    return OpaqueCopy(ir, ir.CreateAdd(sum, products), RegisterClass::kVector, "sum");
  }

  std::unique_ptr<TileUnit> MakeTileUnit(llvm::IRBuilder<>& ir) const override { return MakeAmx(ir); }

  Value* ToBF16(llvm::IRBuilder<>& ir, Value* f32) const override {
    if (!bf16_ || LanesOf(f32) != kWhole) return nullptr;
    Value* converted = ir.CreateIntrinsic(Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {f32});
    return ir.CreateBitCast(converted, VectorOf(ir.getInt16Ty(), kWhole));
  }

  // NaN becomes the lowest i32.
  Value* ToI32(llvm::IRBuilder<>& ir, Value* f32, bool rounds) const override {
    if (LanesOf(f32) != kWhole) {
      const auto id = rounds ? Intrinsic::x86_avx_cvt_ps2dq_256 : Intrinsic::x86_avx_cvtt_ps2dq_256;
      return ir.CreateIntrinsic(id, {}, {f32});
    }
    const auto id =
        rounds ? Intrinsic::x86_avx512_mask_cvtps2dq_512 : Intrinsic::x86_avx512_mask_cvttps2dq_512;
    Value* none = llvm::Constant::getNullValue(VectorOf(ir.getInt32Ty(), kWhole));
    return ir.CreateIntrinsic(id, {}, {f32, none, ir.getInt16(kAllLanes), ir.getInt32(kRoundAsSet)});
  }

  // VRANGEPS: the sign of the first, the lesser of both magnitudes.
  Value* ClampMagnitude(llvm::IRBuilder<>& ir, Value* f32, double high) const override {
    if (!avx512_ || LanesOf(f32) != kWhole) return nullptr;
    constexpr uint32_t kLesserMagnitude = 2;
    Value* limit = llvm::ConstantFP::get(f32->getType(), high);
    return ir.CreateIntrinsic(
        Intrinsic::x86_avx512_mask_range_ps_512, {},
        {f32, limit, ir.getInt32(kLesserMagnitude), f32, ir.getInt16(kAllLanes), ir.getInt32(kRoundAsSet)});
  }

  Value* LookUp(llvm::IRBuilder<>& ir, Value* bits, std::span<const float, kTableSize> table) const override {
    if (!HasFastPermutes(bits)) return nullptr;
    const auto half = [&](size_t begin) {
      const std::span<const float> values = table.subspan(begin, kWhole);
      return llvm::ConstantDataVector::get(ir.getContext(), llvm::ArrayRef(values.data(), values.size()));
    };
    return ir.CreateIntrinsic(Intrinsic::x86_avx512_vpermi2var_ps_512, {}, {half(0), bits, half(kWhole)});
  }

  Value* Scale(llvm::IRBuilder<>& ir, Value* x, Value* n) const override {
    if (!HasFastPermutes(x)) return nullptr;
    return ir.CreateIntrinsic(Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                              {x, n, x, ir.getInt16(kAllLanes), ir.getInt32(kRoundAsSet)});
  }

  Value* EstimateReciprocal(llvm::IRBuilder<>& ir, Value* x) const override {
    if (!HasFastPermutes(x)) return nullptr;
    return ir.CreateIntrinsic(Intrinsic::x86_avx512_rcp14_ps_512, {}, {x, x, ir.getInt16(kAllLanes)});
  }

 private:
  bool HasFastPermutes(const Value* vector) const {
    return target_.fast_permutes && LanesOf(vector) == kWhole;
  }

  const Target& target_;
  // AVX-512 is all of F, BW, DQ and VL: no target has one of them alone.
  const bool avx512_, bf16_;
};

}  // namespace

std::unique_ptr<const TargetEmitter> MakeX86Emitter(const Target& target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
  return std::make_unique<X86Emitter>(target);
}

}  // namespace attune
