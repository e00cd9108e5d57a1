#include "artifact/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "artifact/damaged_files_for_test.h"
#include "artifact/writer.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using testing::kAdd;
using testing::kColsOut;
using testing::kCopied;
using testing::kCounter;
using testing::kDone;
using testing::kFillScratch;
using testing::kKeepColumns;
using testing::kKeepRows;
using testing::kRowsOut;
using testing::kSum;
using testing::kW;
using testing::kX;
using testing::MakeSampleArtifact;
using testing::Parse;
using testing::SampleArtifact;
using testing::WriteUnchecked;

// A manifest, its first variant, and the first program of that variant.
struct Parts {
  Manifest& manifest;
  Variant& variant;
  Program& program;
};

struct Rule {
  const char* message;
  std::function<void(const Parts&)> break_it;
};

// Adds a second program, for inputs of another shape.
Program& AddOther(const Parts& m) {
  Program& other = m.variant.programs.emplace_back(Program(m.program));
  other.tensors[kX].shape[0] -= 1;
  return other;
}

// Adds a valid prepacking of the sample's constant.
Prepacking& AddPrepacking(const Parts& m) {
  m.variant.prepacked_bytes = testing::kRows * testing::kColumns * sizeof(float);
  return m.variant.prepackings.emplace_back(Prepacking{kFillScratch, 0, 0});
}

class ManifestRuleTest : public ::testing::TestWithParam<Rule> {};

TEST_P(ManifestRuleTest, IsEnforcedByReaderAndWriter) {
  SampleArtifact sample = MakeSampleArtifact();
  Manifest broken = sample.manifest;
  Variant& variant = broken.variants.front();
  GetParam().break_it({broken, variant, variant.programs.front()});
  const ArtifactError error = Parse(WriteUnchecked(sample, broken));
  EXPECT_EQ(error.fault, ArtifactFault::kDamaged);
  EXPECT_THAT(error.message, HasSubstr(GetParam().message));
  sample.manifest = broken;
  EXPECT_THAT(WriteArtifact(sample.contents()).status().message(), HasSubstr(GetParam().message));
}

constexpr uint64_t kWBytes = testing::kRows * testing::kColumns * sizeof(float);

// Makes the sample's constants one range of indices with a codebook of `values` values.
void SetIndices(Manifest& manifest, size_t values, ConstantEncoding encoding = ConstantEncoding::kIndices) {
  manifest.constant_ranges = {{encoding, kWBytes, std::vector<uint32_t>(values)}};
}

INSTANTIATE_TEST_SUITE_P(
    All, ManifestRuleTest,
    ::testing::Values(
        Rule{"asks for too much memory", [](const Parts& m) { m.program.arena_bytes = uint64_t{1} << 60; }},
        Rule{"asks for too much memory", [](const Parts& m) { m.variant.scratch_bytes = ~uint64_t{0}; }},
        Rule{"asks for too much memory", [](const Parts& m) { m.variant.prepacked_bytes = ~uint64_t{0}; }},
        Rule{"has code for no processor", [](const Parts& m) { m.manifest.variants.clear(); }},
        Rule{"has a variant without a program", [](const Parts& m) { m.variant.programs.clear(); }},
        Rule{"two programs for inputs of the same shapes",
             [](const Parts& m) { m.variant.programs.push_back(Program(m.program)); }},
        Rule{"programs have different inputs or outputs", [](const Parts& m) { AddOther(m).outputs.pop_back(); }},
        Rule{"programs have different inputs or outputs",
             [](const Parts& m) { AddOther(m).inputs[0].name = "y"; }},
        Rule{"tensor \"through\" lies outside its place",
             [](const Parts& m) { AddOther(m).arena_bytes -= 1; }},
        Rule{"prepacking 0 calls a kernel that does not exist",
             [](const Parts& m) { AddPrepacking(m).kernel = 99; }},
        Rule{"prepacking 0 calls \"add\", which does not make one tensor of another",
             [](const Parts& m) { AddPrepacking(m).kernel = kAdd; }},
        Rule{"prepacking 0 calls \"keep_rows\", which does not make one tensor of another",
             [](const Parts& m) { AddPrepacking(m).kernel = kKeepRows; }},
        Rule{"to read outside the constants", [](const Parts& m) { AddPrepacking(m).constant_offset = 64; }},
        Rule{"to read outside the constants", [](const Parts& m) { AddPrepacking(m).constant_offset = ~uint64_t{63}; }},
        Rule{"to read outside the constants",
             [](const Parts& m) {
               AddPrepacking(m);
               m.variant.kernels[kFillScratch].interface.operands[0].bytes += 128;
             }},
        Rule{"to write outside the prepacked weights",
             [](const Parts& m) { AddPrepacking(m).prepacked_offset = 32; }},
        Rule{"to write outside the prepacked weights",
             [](const Parts& m) {
               AddPrepacking(m);
               m.variant.prepacked_bytes -= 1;
             }},
        Rule{"tensor \"w\" lies outside its place",
             [](const Parts& m) { m.program.tensors[kW].place = Place::kPrepacked; }},
        Rule{"tensor \"w\" is a constant of dynamic shape",
             [](const Parts& m) {
               m.program.tensors[kW].place = Place::kPrepacked;
               m.program.tensors[kW].dim_slots[0] = 0;
             }},
        Rule{"instruction 0 calls \"add\" to write a constant",
             [](const Parts& m) {
               AddPrepacking(m);
               m.program.tensors[kSum].place = Place::kPrepacked;
               m.program.tensors[kSum].offset = 0;
               m.program.outputs.erase(m.program.outputs.begin());
             }},
        Rule{"asks for too much memory",
             [](const Parts& m) {
               m.manifest.constant_ranges.assign(3, {ConstantEncoding::kRaw, uint64_t{1} << 45, {}});
             }},
        Rule{"range 0 of the constants has an impossible size",
             [](const Parts& m) { m.manifest.constant_ranges = {{ConstantEncoding::kRaw, kWBytes - 64, {}}}; }},
        Rule{"range 1 of the constants has an impossible size",
             [](const Parts& m) {
               m.manifest.constant_ranges = {{ConstantEncoding::kRaw, kWBytes, {}},
                                    {ConstantEncoding::kF16, ~uint64_t{127}, {}}};
             }},
        Rule{"its constants take 1408 bytes by their ranges and have 1536",
             [](const Parts& m) { m.manifest.constant_ranges = {{ConstantEncoding::kRaw, kWBytes - 128, {}}}; }},
        Rule{"its constants take 768 bytes by their ranges and have 1536",
             [](const Parts& m) { m.manifest.constant_ranges = {{ConstantEncoding::kF16, kWBytes, {}}}; }},
        Rule{"its constants take 128 bytes by their ranges", [](const Parts& m) { SetIndices(m.manifest, 2); }},
        Rule{"its constants take 384 bytes by their ranges", [](const Parts& m) { SetIndices(m.manifest, 256); }},
        Rule{"a codebook of 0 values", [](const Parts& m) { SetIndices(m.manifest, 0); }},
        Rule{"a codebook of 1 values", [](const Parts& m) { SetIndices(m.manifest, 1); }},
        Rule{"a codebook of 55 values", [](const Parts& m) { SetIndices(m.manifest, 55); }},
        Rule{"a codebook of 512 values", [](const Parts& m) { SetIndices(m.manifest, 512); }},
        Rule{"a codebook of 48 values",
             [](const Parts& m) { SetIndices(m.manifest, 48, ConstantEncoding::kByteIndices); }},
        Rule{"a codebook of 512 values",
             [](const Parts& m) { SetIndices(m.manifest, 512, ConstantEncoding::kByteIndices); }},
        Rule{"a codebook whose value 256 is not a byte",
             [](const Parts& m) {
               SetIndices(m.manifest, 16, ConstantEncoding::kByteIndices);
               m.manifest.constant_ranges[0].codebook[3] = 256;
             }},
        Rule{"its constants take 768 bytes by their ranges and have 1536",
             [](const Parts& m) { SetIndices(m.manifest, 16, ConstantEncoding::kByteIndices); }},
        Rule{"a codebook without indices",
             [](const Parts& m) { m.manifest.constant_ranges = {{ConstantEncoding::kRaw, kWBytes, {1, 2}}}; }},
        Rule{"more dim slots than dimensions", [](const Parts& m) { m.program.num_dims = 1000; }},
        Rule{"tensor \"x\" has an unknown dtype", [](const Parts& m) { m.program.tensors[kX].dtype = 13; }},
        Rule{"not one dim slot a dimension", [](const Parts& m) { m.program.tensors[kX].dim_slots.pop_back(); }},
        Rule{"a dim slot that does not exist", [](const Parts& m) { m.program.tensors[kRowsOut].dim_slots[0] = 3; }},
        Rule{"a dim slot that does not exist", [](const Parts& m) { m.program.tensors[kRowsOut].dim_slots[0] = -2; }},
        Rule{"a constant of dynamic shape", [](const Parts& m) { m.program.tensors[kW].dim_slots[0] = 0; }},
        Rule{"has too many dimensions",
             [](const Parts& m) {
               m.program.tensors[kX].shape.assign(65, 1);
               m.program.tensors[kX].dim_slots.assign(65, -1);
             }},
        Rule{"negative or too large shape", [](const Parts& m) { m.program.tensors[kX].shape[0] = -1; }},
        Rule{"negative or too large shape",
             [](const Parts& m) { m.program.tensors[kX].shape = {int64_t{1} << 62, int64_t{1} << 62}; }},
        Rule{"fewer bytes than its shape needs", [](const Parts& m) { m.program.tensors[kX].bytes -= 1; }},
        Rule{"tensor \"x\" is not aligned", [](const Parts& m) { m.program.tensors[kX].offset += 32; }},
        Rule{"lies outside its place", [](const Parts& m) { m.program.tensors[kX].offset = m.program.arena_bytes; }},
        Rule{"lies outside its place", [](const Parts& m) { m.program.tensors[kX].offset = ~uint64_t{63}; }},
        Rule{"lies outside its place", [](const Parts& m) { m.program.tensors[kW].offset = 128; }},
        Rule{"input \"x\" is not a tensor", [](const Parts& m) { m.program.inputs[0].tensor = 99; }},
        Rule{"input \"x\" is not in the arena", [](const Parts& m) { m.program.inputs[0].tensor = kW; }},
        Rule{"input \"x\" has a dynamic shape", [](const Parts& m) { m.program.inputs[0].tensor = kRowsOut; }},
        Rule{"the ports \"x\" and \"again\" share memory",
             [](const Parts& m) { m.program.inputs.push_back({"again", kX}); }},
        Rule{"output \"sum\" is not a tensor", [](const Parts& m) { m.program.outputs[0].tensor = 99; }},
        Rule{"output \"sum\" is not in the arena", [](const Parts& m) { m.program.outputs[0].tensor = kW; }},
        Rule{"the ports \"columns\" and \"again\" share memory",
             [](const Parts& m) { m.program.outputs.push_back({"again", kColsOut}); }},
        Rule{"the ports \"x\" and \"rows\" share memory",
             [](const Parts& m) { m.program.tensors[kRowsOut].offset = m.program.tensors[kX].offset + 64; }},
        Rule{"kernel \"add\" does not start inside the code",
             [](const Parts& m) { m.variant.kernels[0].interface.code_offset = 1 << 20; }},
        Rule{"kernel \"fill_scratch\" needs more scratch than there is",
             [](const Parts& m) { m.variant.scratch_bytes -= 1; }},
        Rule{"instruction 2 calls \"keep_columns\", which writes dim slots that do not exist",
             [](const Parts& m) { m.variant.kernels[kKeepColumns].interface.num_dims = 4; }},
        Rule{"kernel \"add\" has an operand of an unknown dtype",
             [](const Parts& m) { m.variant.kernels[kAdd].interface.operands[1].dtype = 13; }},
        Rule{"kernel \"add\" computes in place of more than it has",
             [](const Parts& m) { m.variant.kernels[kAdd].interface.operands[2].in_place_of.assign(4, 0); }},
        Rule{"kernel \"add\" computes in place of a value that is not an input",
             [](const Parts& m) { m.variant.kernels[kAdd].interface.operands[2].in_place_of = {3}; }},
        Rule{"kernel \"add\" computes in place of a value that is not an input",
             [](const Parts& m) { m.variant.kernels[kAdd].interface.operands[2].in_place_of = {2}; }},
        Rule{"kernel \"add\" computes in place of a value that is not an input",
             [](const Parts& m) { m.variant.kernels[kAdd].interface.operands[1].in_place_of = {0}; }},
        Rule{"instruction 0 calls \"add\" with 0 tensors, and it takes 3",
             [](const Parts& m) { m.program.instructions[0].tensors.clear(); }},
        Rule{"instruction 0 calls \"add\" with 4 tensors, and it takes 3",
             [](const Parts& m) { m.program.instructions[0].tensors.push_back(kX); }},
        Rule{"instruction 3 calls \"keep_rows\" with 1 tensors, and it takes 2",
             [](const Parts& m) { m.program.instructions[3].kernel = kKeepRows; }},
        Rule{"instruction 0 calls \"add\" with a tensor of another dtype",
             [](const Parts& m) { m.program.instructions[0].tensors[0] = kDone; }},
        Rule{"instruction 0 calls \"add\" with a tensor that is too small",
             [](const Parts& m) { m.variant.kernels[kAdd].interface.operands[0].bytes += 1; }},
        Rule{"instruction 0 calls \"add\" to write a constant",
             [](const Parts& m) { m.program.instructions[0].tensors[2] = kW; }},
        Rule{"instruction 0 calls \"add\" to write memory that it also uses",
             [](const Parts& m) { m.program.instructions[0].tensors = {kX, kX, kX}; }},
        Rule{"instruction 0 calls \"add\" to write memory that it also uses",
             [](const Parts& m) { m.program.instructions[0].tensors = {kW, kX, kX}; }},
        Rule{"instruction 1 calls \"keep_rows\" to write memory that it also uses",
             [](const Parts& m) { m.program.instructions[1].tensors = {kSum, kSum}; }},
        Rule{"instruction 5 calls \"step\" to write memory that it also uses",
             [](const Parts& m) { m.program.tensors[kDone].offset = m.program.tensors[kCounter].offset; }},
        Rule{"instruction 0 leads into a loop that never ends", [](const Parts& m) { m.program.instructions[4].target = 4; }},
        Rule{"instruction 0 leads into a loop that never ends",
             [](const Parts& m) { m.program.instructions[8] = {Opcode::kJump, 0, 7, {}, ""}; }},
        Rule{"instruction 7 copies a tensor onto itself",
             [](const Parts& m) { m.program.instructions[7].tensors = {kCopied, kCopied}; }},
        Rule{"instruction 0 uses a tensor that does not exist",
             [](const Parts& m) { m.program.instructions[0].tensors[0] = 99; }},
        Rule{"instruction 0 calls a kernel that does not exist",
             [](const Parts& m) { m.program.instructions[0].kernel = 99; }},
        Rule{"instruction 4 jumps with tensors", [](const Parts& m) { m.program.instructions[4].tensors = {kX}; }},
        Rule{"instruction 4 jumps outside the program", [](const Parts& m) { m.program.instructions[4].target = 99; }},
        Rule{"branches on other than one tensor", [](const Parts& m) { m.program.instructions[6].tensors.clear(); }},
        Rule{"branches on other than a bool", [](const Parts& m) { m.program.instructions[6].tensors = {kX}; }},
        Rule{"copies other than one tensor", [](const Parts& m) { m.program.instructions[7].tensors.pop_back(); }},
        Rule{"copies to a constant", [](const Parts& m) { m.program.instructions[7].tensors = {kX, kW}; }},
        Rule{"copies between two dtypes", [](const Parts& m) { m.program.instructions[7].tensors = {kX, kCounter}; }},
        Rule{"checks other than one tensor of indices",
             [](const Parts& m) { m.program.instructions[7] = {Opcode::kCheckIndices, 0, 0, {kCounter}, ""}; }},
        Rule{"checks values that are not indices",
             [](const Parts& m) { m.program.instructions[7] = {Opcode::kCheckIndices, 0, 0, {kX, kW}, ""}; }},
        Rule{"checks indices without bounds",
             [](const Parts& m) { m.program.instructions[7] = {Opcode::kCheckIndices, 0, 0, {kCounter, kW}, ""}; }},
        Rule{"checks indices without bounds",
             [](const Parts& m) { m.program.instructions[7] = {Opcode::kCheckIndices, 0, 0, {kCounter, kCounter}, ""}; }},
        Rule{"checks indices of another number of axes",
             [](const Parts& m) {
               m.program.tensors[kW].dtype = kDTypeI64;
               m.program.tensors[kW].shape = {2, 2};
               m.program.instructions[0] = {Opcode::kCheckIndices, 0, 0, {kCounter, kW}, ""};
             }},
        Rule{"copies between two shapes", [](const Parts& m) {
               m.program.tensors[kX].shape = {3};
               m.program.tensors[kX].dim_slots = {-1};
               m.program.instructions[7].tensors = {kX, kSum};
             }}));

}  // namespace
}  // namespace attune
