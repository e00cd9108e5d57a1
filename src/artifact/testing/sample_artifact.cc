#include "artifact/testing/sample_artifact.h"

#include <cstring>
#include <optional>
#include <utility>

#include "artifact/checksum.h"
#include "artifact/compress.h"
#include "artifact/encode.h"
#include "artifact/testing/sample_kernels.h"
#include "artifact/testing/size_steps.h"
#include "artifact/writer.h"
#include "base/checked.h"
#include "base/dtype.h"

namespace attune::testing {
namespace {

#if defined(__x86_64__)
constexpr char kArch[] = "x86_64";
#else
constexpr char kArch[] = "aarch64";
#endif

// Allocates the tensors one after another.
class TensorTable {
 public:
  explicit TensorTable(Program& program) : program_(program) {}

  void Add(const char* name, DType dtype, std::vector<int64_t> shape, std::vector<int32_t> slots,
           Place place = Place::kArena) {
    TensorInfo tensor{name, static_cast<uint8_t>(dtype), shape, std::move(slots), place, 0, 0};
    tensor.bytes = *CheckedProduct(shape) * DTypeSize(dtype);
    if (place == Place::kArena) {
      tensor.offset = program_.arena_bytes;
      program_.arena_bytes += RoundUp(tensor.bytes, kTensorAlignment);
    }
    program_.tensors.push_back(std::move(tensor));
  }

 private:
  Program& program_;
};

void AddTensors(Program& program) {
  TensorTable table(program);
  table.Add("x", DType::kF32, {kRows, kColumns}, {-1, -1});
  table.Add("w", DType::kF32, {kRows, kColumns}, {-1, -1}, Place::kConstant);
  table.Add("sum", DType::kF32, {kRows, kColumns}, {-1, -1});
  table.Add("rows", DType::kF32, {kRows, kColumns}, {0, -1});
  table.Add("columns", DType::kF32, {kRows, kColumns}, {-1, 1});
  table.Add("counter", DType::kI64, {}, {});
  table.Add("done", DType::kBool, {}, {});
  table.Add("copied", DType::kF32, {kRows, 2 * kColumns}, {-1, 2});
  table.Add("through", DType::kF32, {kRows, kColumns}, {-1, -1});
  program.num_dims = 3;
}

OperandInfo Operand(DType dtype, uint64_t elements, bool is_written) {
  return {static_cast<uint8_t>(dtype), is_written, elements * DTypeSize(dtype), {}};
}

// An operand of as many bytes as the product of a size of the call, `bytes` and, if it is given, another
// size.
OperandInfo OpenOperand(int64_t size, int64_t bytes, bool is_written, int64_t other = -1) {
  OperandInfo operand = Operand(DType::kF32, 0, is_written);
  operand.open_bytes = {Size(size), Constant(bytes), kTimes};
  if (other >= 0) operand.open_bytes.insert(operand.open_bytes.end(), {Size(other), kTimes});
  return operand;
}

KernelInterface InterfaceOf(SampleKernel kernel) {
  const OperandInfo in = Operand(DType::kF32, kRows * kColumns, false);
  const OperandInfo out = Operand(DType::kF32, kRows * kColumns, true);
  const OperandInfo counter = Operand(DType::kI64, 1, true), done = Operand(DType::kBool, 1, true);
  const OperandInfo rows = OpenOperand(0, 16, false), new_rows = OpenOperand(0, 16, true);
  const OperandInfo matrix = OpenOperand(1, 4, false, 1), vectors = OpenOperand(0, 4, false, 1);
  const OperandInfo product = OpenOperand(0, 4, true, 1);
  const std::vector<OperandInfo> operands[kNumSampleKernels] = {{in, in, out},
                                                                {in, out},
                                                                {in, out},
                                                                {counter},
                                                                {counter, done},
                                                                {},
                                                                {in, out},
                                                                {rows, rows, new_rows},
                                                                {vectors, matrix, product}};
  KernelInterface interface;
  interface.code_offset = reinterpret_cast<const std::byte*>(SampleKernels()[kernel]) - SampleCode().data();
  interface.scratch_bytes = kernel == kFillScratch ? kColumns * sizeof(float) : 0;
  interface.num_dims = kernel == kKeepRows ? 1 : kernel == kKeepColumns ? 2 : 0;
  interface.parallel = kernel == kAdd || kernel >= kFillScratch;
  interface.operands = operands[kernel];
  if (kernel == kAdd || kernel == kAddOpen) interface.operands[2].in_place_of = {0};
  interface.num_sizes = kernel == kAddOpen ? 1 : kernel == kMultiplyOpen ? 2 : 0;
  if (kernel == kMultiplyOpen) interface.open_scratch = {Size(1), Constant(4), kTimes};
  return interface;
}

void AddKernels(Variant& variant) {
  const char* const names[kNumSampleKernels] = {"add",          "keep_rows", "keep_columns",
                                                "start",        "step",      "fail",
                                                "fill_scratch", "add_open",  "multiply_open"};
  for (uint32_t i = 0; i < kNumSampleKernels; ++i) {
    KernelInfo kernel;
    kernel.name = names[i];
    kernel.op = names[i];
    kernel.strategy = "scalar";
    kernel.digest = std::string(16, static_cast<char>('0' + i));
    kernel.interface = InterfaceOf(static_cast<SampleKernel>(i));
    kernel.flops = kRows * kColumns;
    kernel.bytes_read = kernel.bytes_written = kRows * kColumns * sizeof(float);
    variant.kernels.push_back(std::move(kernel));
  }
}

// nullopt if the manifest does not lie inside the file or cannot be decoded.
std::optional<Manifest> ManifestOf(std::span<const std::byte> file, const format::Header& header) {
  const format::Section& section = header.manifest;
  if (section.offset > file.size() || section.bytes > file.size() - section.offset) return std::nullopt;
  format::Decoder decoder(file.subspan(section.offset, section.bytes), header.version);
  Manifest manifest;
  decoder(manifest);
  return decoder.failed() ? std::nullopt : std::optional(std::move(manifest));
}

Instruction Call(SampleKernel kernel, std::vector<uint32_t> tensors) {
  return {Opcode::kCall, kernel, 0, std::move(tensors), "node"};
}

}  // namespace

std::string SampleArtifact::Write() const { return WriteArtifact(contents()).value(); }

SampleArtifact MakeSampleArtifact() {
  SampleArtifact sample;
  Manifest& manifest = sample.manifest;
  manifest.provenance = {"sample", std::string(64, 'a'), "0.1.0", "fold\ndce\n", ""};
  Variant& variant = manifest.variants.emplace_back();
  variant.target = {kArch, "generic", {}};
  variant.scratch_bytes = kColumns * sizeof(float);
  AddKernels(variant);
  Program& program = variant.programs.emplace_back();
  program.graph_summary = "graph @sample() {}\n";
  AddTensors(program);
  program.inputs = {{"x", kX}};
  program.outputs = {{"sum", kSum},         {"rows", kRowsOut},  {"columns", kColsOut},
                     {"counter", kCounter}, {"copied", kCopied}, {"through", kThrough}};
  program.instructions = {
      Call(kAdd, {kX, kW, kSum}),
      Call(kKeepRows, {kSum, kRowsOut}),
      Call(kKeepColumns, {kSum, kColsOut}),
      Call(kStart, {kCounter}),
      {Opcode::kJump, 0, 5, {}, ""},
      Call(kStep, {kCounter, kDone}),
      {Opcode::kBranchIfFalse, 0, 5, {kDone}, "loop"},
      {Opcode::kCopy, 0, 0, {kColsOut, kCopied}, "copy"},
      Call(kFillScratch, {kSum, kThrough}),
  };
  sample.code.assign(SampleCode().begin(), SampleCode().end());
  sample.constants.resize(RoundUp(kRows * kColumns * sizeof(float), kConstantPadding));
  for (int i = 0; i < kRows * kColumns; ++i) {
    const int row = i / kColumns, column = i % kColumns;
    const auto w = static_cast<float>(column - row);
    std::memcpy(sample.constants.data() + i * sizeof(float), &w, sizeof(float));
  }
  return sample;
}

SampleArtifact MakeCompressedSampleArtifact() {
  SampleArtifact sample = MakeSampleArtifact();
  const uint64_t sizes[] = {sample.program().tensors[kW].bytes};
  CompressedConstants compressed = CompressConstants(sample.constants, sizes);
  sample.manifest.constant_ranges = std::move(compressed.ranges);
  sample.constants = std::move(compressed.section);
  return sample;
}

SampleArtifact MakeSampleArtifactOfVariants() {
  SampleArtifact sample = MakeSampleArtifact();
  Variant& variant = sample.variant();
  TensorInfo& w = sample.program().tensors[kW];
  w.place = Place::kPrepacked;
  variant.prepacked_bytes = w.bytes;
  variant.prepackings = {{kFillScratch, 0, 0}};
  Program other = sample.program();
  other.tensors[kX].shape = {kRows * kColumns};
  other.tensors[kX].dim_slots = {-1};
  variant.programs.push_back(std::move(other));
  Variant better = variant;
  better.target = {kArch, "starship", {"warp_drive"}};
  sample.manifest.variants.insert(sample.manifest.variants.begin(), std::move(better));
  return sample;
}

void RepairChecksums(std::string& file, bool repair_kernels) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
  if (bytes.size() < format::kHeaderBytes) return;
  format::Header header;
  format::Decoder decoder(bytes.first(format::kHeaderBytes));
  decoder(header);
  for (format::Section* section : {&header.manifest, &header.code, &header.constants}) {
    if (section->offset > bytes.size() || section->bytes > bytes.size() - section->offset) continue;
    section->checksum = Xxh64(bytes.subspan(section->offset, section->bytes));
  }
  if (const std::optional<Manifest> manifest = ManifestOf(bytes, header); repair_kernels && manifest)
    header.kernels_checksum = format::KernelsChecksum(*manifest, header.code.checksum, header.version);
  for (int pass = 0; pass < 2; ++pass) {  // the second writes the checksum that the first computes
    format::Encoder encoder;
    encoder(header);
    std::memcpy(file.data(), encoder.bytes().data(), encoder.bytes().size());
    header.header_checksum = Xxh64(bytes.first(format::kHeaderChecksumOffset));
  }
}

}  // namespace attune::testing
