#include "artifact/testing/open_sample.h"

#include <cstring>
#include <utility>

#include "artifact/open_program.h"
#include "artifact/testing/size_steps.h"
#include "base/checked.h"
#include "base/dtype.h"

namespace attune::testing {
namespace {

void AddNumbers(Program& program) {
  const SizeCode rounded = {Size(0),      Constant(16), kTimes,       Constant(63), kPlus,
                            Constant(64), kOver,        Constant(64), kTimes};
  SizeCode twice = rounded;
  twice.insert(twice.end(), {Constant(2), kTimes});
  program.sizes = {{"rows", 0, kMaxOpenRows}, {"columns", 1, kMaxOpenColumns}};
  program.numbers.resize(kNumOpenNumbers);
  program.numbers[kRowsNumber] = {Size(0)};
  program.numbers[kColumnsNumber] = {Size(1)};
  program.numbers[kXBytes] = {Size(0), Constant(16), kTimes};
  program.numbers[kMatrixBytes] = {Size(1), Size(1), kTimes, Constant(4), kTimes};
  program.numbers[kVectorBytes] = {Size(0), Size(1), kTimes, Constant(4), kTimes};
  program.numbers[kIndexBytes] = {Size(0), Constant(8), kTimes};
  program.numbers[kFourOffset] = rounded;
  program.numbers[kPairBytes] = std::move(twice);
  program.numbers[kEightBytes] = {Constant(8)};
  program.numbers[kOneByte] = {Constant(1)};
  program.numbers[kFlatSize] = {Size(0), Constant(4), kTimes};
}

// Adds a tensor in a block of its own. The life of the block is that of a port, unless it is given.
void AddTensor(Program& program, const char* name, DType dtype, std::vector<int64_t> shape,
               std::vector<int32_t> open_shape, uint32_t bytes, uint32_t first = 0, uint32_t last = 0) {
  TensorInfo& tensor = program.tensors.emplace_back();
  tensor.name = name;
  tensor.dtype = static_cast<uint8_t>(dtype);
  tensor.dim_slots.assign(shape.size(), -1);
  tensor.bytes = shape.empty() ? DTypeSize(dtype) : 0;
  tensor.shape = std::move(shape);
  tensor.open_shape = std::move(open_shape);
  tensor.block = static_cast<int32_t>(program.blocks.size());
  program.blocks.push_back({bytes, first, last, last == 0});
}

void AddTensors(Program& program) {
  constexpr int32_t kRowsOf = kRowsNumber, kColumnsOf = kColumnsNumber;
  AddTensor(program, "x", DType::kF32, {kMaxOpenRows, 4}, {kRowsOf, -1}, kXBytes);
  AddTensor(program, "matrix", DType::kF32, {kMaxOpenColumns, kMaxOpenColumns}, {kColumnsOf, kColumnsOf},
            kMatrixBytes);
  AddTensor(program, "vectors", DType::kF32, {kMaxOpenRows, kMaxOpenColumns}, {kRowsOf, kColumnsOf},
            kVectorBytes);
  AddTensor(program, "indices", DType::kI64, {kMaxOpenRows}, {kRowsOf}, kIndexBytes);
  AddTensor(program, "twice", DType::kF32, {kMaxOpenRows, 4}, {kRowsOf, -1}, kPairBytes, 1, 8);
  TensorInfo four = program.tensors.back();
  four.name = "four";
  four.open_offset = kFourOffset;
  program.tensors.push_back(std::move(four));
  AddTensor(program, "product", DType::kF32, {kMaxOpenRows, kMaxOpenColumns}, {kRowsOf, kColumnsOf},
            kVectorBytes, 4, 9);
  AddTensor(program, "counter", DType::kI64, {}, {}, kEightBytes);
  AddTensor(program, "done", DType::kBool, {}, {}, kOneByte, 6, 7);
  program.tensors.push_back(
      {"limits", static_cast<uint8_t>(DType::kI64), {2, 1}, {-1, -1}, Place::kConstant, 0, 16});
  AddTensor(program, "flat", DType::kF32, {4 * kMaxOpenRows}, {kFlatSize}, kXBytes);
  AddTensor(program, "result", DType::kF32, {kMaxOpenRows, kMaxOpenColumns}, {kRowsOf, kColumnsOf},
            kVectorBytes);
}

Instruction Call(SampleKernel kernel, std::vector<uint32_t> tensors, std::vector<uint32_t> sizes) {
  return {Opcode::kCall, kernel, 0, std::move(tensors), "node", std::move(sizes)};
}

}  // namespace

SampleArtifact MakeOpenSampleArtifact() {
  SampleArtifact sample = MakeSampleArtifact();
  Program program;
  program.graph_summary = "graph @open() {}\n";
  AddNumbers(program);
  AddTensors(program);
  program.inputs = {
      {"x", kOpenX}, {"matrix", kOpenMatrix}, {"vectors", kOpenVectors}, {"indices", kOpenIndices}};
  program.outputs = {{"flat", kOpenFlat}, {"result", kOpenResult}, {"counter", kOpenCounter}};
  program.instructions = {
      {Opcode::kCheckIndices, 0, 0, {kOpenIndices, kOpenLimits}, "gather"},
      Call(kAddOpen, {kOpenX, kOpenX, kOpenTwice}, {kRowsNumber}),
      Call(kAddOpen, {kOpenTwice, kOpenX, kOpenFour}, {kRowsNumber}),
      Call(kAddOpen, {kOpenFour, kOpenX, kOpenFour}, {kRowsNumber}),
      Call(kMultiplyOpen, {kOpenVectors, kOpenMatrix, kOpenProduct}, {kRowsNumber, kColumnsNumber}),
      Call(kStart, {kOpenCounter}, {}),
      Call(kStep, {kOpenCounter, kOpenDone}, {}),
      {Opcode::kBranchIfFalse, 0, 6, {kOpenDone}, "loop"},
      {Opcode::kCopy, 0, 0, {kOpenFour, kOpenFlat}, "reshape"},
      {Opcode::kCopy, 0, 0, {kOpenProduct, kOpenResult}, "copy"},
  };
  sample.program() = std::move(program);
  const int64_t limits[] = {0, kMaxOpenIndex + 1};
  sample.constants.assign(kConstantPadding, std::byte{0});
  std::memcpy(sample.constants.data(), limits, sizeof(limits));
  return sample;
}

SampleArtifact MakeOpenSampleArtifactWithLikelySizes() {
  SampleArtifact sample = MakeOpenSampleArtifact();
  Program likely = sample.program();
  ProgramPlacement placement;
  const int64_t sizes[] = {3, 2};
  if (!OpenProgram(likely, sample.variant().kernels).Place(sizes, &placement).ok()) return sample;
  const int64_t* dims = placement.dims.data();
  for (size_t i = 0; i < likely.tensors.size(); ++i) {
    TensorInfo& tensor = likely.tensors[i];
    for (int64_t& size : tensor.shape) size = *dims++;
    tensor.bytes = static_cast<uint64_t>(*CheckedProduct(tensor.shape)) * ElementSize(tensor.dtype);
    tensor.offset = placement.offsets[i];
    tensor.open_shape.clear();
    tensor.block = tensor.open_offset = -1;
  }
  likely.arena_bytes = placement.arena_bytes;
  likely.sizes.clear();
  likely.numbers.clear();
  likely.blocks.clear();
  // Kernels without open sizes: only those that need none are left.
  likely.instructions = {{Opcode::kCopy, 0, 0, {kOpenX, kOpenFlat}, "reshape"},
                         {Opcode::kCopy, 0, 0, {kOpenVectors, kOpenResult}, "copy"},
                         Call(kStart, {kOpenCounter}, {})};
  sample.variant().programs.insert(sample.variant().programs.begin(), std::move(likely));
  return sample;
}

}  // namespace attune::testing
