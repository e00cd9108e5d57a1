// Models and sessions through the C interface, and through the C++ interface on top of it, with the sample
// artifact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "artifact/testing/sample_artifact.h"
#include "attune/attune.h"
#include "attune/attune.hpp"
#include "runtime/session_for_test.h"

namespace attune {
namespace {

using namespace attune::testing;  // NOLINT: the sample's kernels and tensors
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RuntimeTest, DescribesTheModel) {
  const ModelHandle model = LoadBytes(MakeSampleArtifact().Write());
  ASSERT_EQ(attune_model_num_inputs(model.get()), 1u);
  ASSERT_EQ(attune_model_num_outputs(model.get()), 6u);
  attune_tensor_info info{};
  ASSERT_EQ(attune_model_input(model.get(), 0, &info, nullptr), ATTUNE_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.dtype, ATTUNE_F32);
  EXPECT_THAT(std::span(info.shape, info.rank), ElementsAre(kRows, kColumns));
  EXPECT_EQ(info.bytes, kRows * kColumns * sizeof(float));
  EXPECT_EQ(info.is_dynamic, 0);
  ASSERT_EQ(attune_model_output(model.get(), 2, &info, nullptr), ATTUNE_OK);
  EXPECT_STREQ(info.name, "columns");
  EXPECT_EQ(info.is_dynamic, 1);

  EXPECT_STREQ(attune_model_metadata(model.get(), "model.name"), "sample");
  EXPECT_STREQ(attune_model_metadata(model.get(), "pass_plan"), "fold\ndce\n");
  EXPECT_EQ(attune_model_metadata(model.get(), "colour"), nullptr);

  attune_kernel_info kernel{};
  ASSERT_EQ(attune_model_num_kernels(model.get()), kNumSampleKernels);
  ASSERT_EQ(attune_model_kernel(model.get(), kStep, &kernel, nullptr), ATTUNE_OK);
  EXPECT_STREQ(kernel.name, "step");
  attune_instruction_info instruction{};
  ASSERT_EQ(attune_model_num_instructions(model.get()), 9u);
  ASSERT_EQ(attune_model_instruction(model.get(), 0, &instruction, nullptr), ATTUNE_OK);
  EXPECT_EQ(instruction.kernel, static_cast<int32_t>(kAdd));
  EXPECT_EQ(instruction.is_parallel, 1);
  ASSERT_EQ(attune_model_instruction(model.get(), 4, &instruction, nullptr), ATTUNE_OK);
  EXPECT_EQ(instruction.kernel, -1);
  attune_memory_info memory{};
  ASSERT_EQ(attune_model_memory(model.get(), &memory, nullptr), ATTUNE_OK);
  EXPECT_EQ(memory.scratch_bytes, kColumns * sizeof(float));
  EXPECT_EQ(memory.constant_bytes, kRows * kColumns * sizeof(float));
}

class ThreadsTest : public ::testing::TestWithParam<size_t> {};

TEST_P(ThreadsTest, RunsTheProgramAgainAndAgain) {
  const ModelHandle model = LoadBytes(MakeSampleArtifact().Write());
  const SessionHandle session = NewSession(model, GetParam());
  for (int seed = 0; seed < 50; ++seed) ASSERT_NO_FATAL_FAILURE(RunAndCheck(session.get(), seed));
}

// Includes more threads than rows: some parts are then empty. 0 uses all processors.
INSTANTIATE_TEST_SUITE_P(Counts, ThreadsTest, ::testing::Values(0, 1, 2, 3, 13));

TEST(RuntimeTest, SessionsOfOneModelRunAtOnce) {
  ModelHandle model = LoadBytes(MakeSampleArtifact().Write());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([session = NewSession(model, 1 + t), t] {
      for (int i = 0; i < 100; ++i) ASSERT_NO_FATAL_FAILURE(RunAndCheck(session.get(), 100 * t + i));
    });
  }
  model.reset();  // sessions keep the model alive
  for (std::thread& thread : threads) thread.join();
}

TEST(RuntimeTest, SessionsComeAndGoWhileOthersRun) {
  const ModelHandle model = LoadBytes(MakeSampleArtifact().Write());
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&model, t] {
      for (int i = 0; i < 20; ++i) {
        const SessionHandle session = NewSession(model, 1 + (t + i) % 4);
        ASSERT_NO_FATAL_FAILURE(RunAndCheck(session.get(), i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RuntimeTest, WorkersThatSleptRunAgain) {
  const ModelHandle model = LoadBytes(MakeSampleArtifact().Write());
  const SessionHandle session = NewSession(model, 3);
  for (int i = 0; i < 5; ++i) {
    RunAndCheck(session.get(), i);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(RuntimeTest, InputsStayBetweenRuns) {
  const ModelHandle model = LoadBytes(MakeSampleArtifact().Write());
  const SessionHandle session = NewSession(model);
  const std::vector<float> x(kRows * kColumns, 2.0f);
  ASSERT_EQ(attune_session_set_input(session.get(), 0, x.data(), x.size() * sizeof(float), nullptr),
            ATTUNE_OK);
  ASSERT_EQ(attune_session_run(session.get(), nullptr), ATTUNE_OK);
  const std::vector<float> first = OutputOf(session.get(), 0).values;
  EXPECT_EQ(first[1], 3.0f);
  ASSERT_EQ(attune_session_run(session.get(), nullptr), ATTUNE_OK);
  EXPECT_EQ(OutputOf(session.get(), 0).values, first);
}

TEST(RuntimeTest, ProfilesEachInstruction) {
  const ModelHandle model = LoadBytes(MakeSampleArtifact().Write());
  const SessionHandle session = NewSession(model, 2);
  std::vector<uint64_t> nanoseconds(9, 0);
  attune_error error{};
  ASSERT_EQ(attune_session_run_profiled(session.get(), nanoseconds.data(), 9, &error), ATTUNE_OK);
  EXPECT_GT(nanoseconds[0], 0u);
  EXPECT_GT(nanoseconds[5], 0u);
  EXPECT_EQ(attune_session_run_profiled(session.get(), nanoseconds.data(), 8, &error),
            ATTUNE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "the program has 9 instructions, not 8");
}

TEST(RuntimeTest, AKernelThatFailsEndsTheRun) {
  for (const bool parallel : {false, true}) {
    SampleArtifact sample = MakeSampleArtifact();
    sample.variant().kernels[kFail].interface.parallel = parallel;
    sample.program().instructions[1] = {Opcode::kCall, kFail, 0, {}, "block3/op"};
    const ModelHandle model = LoadBytes(sample.Write());
    const SessionHandle session = NewSession(model, 3);
    attune_error error{};
    EXPECT_EQ(attune_session_run(session.get(), &error), ATTUNE_KERNEL_FAILED);
    EXPECT_STREQ(error.message,
                 "the kernel \"fail\" of \"block3/op\" failed with status 7; check the values of the inputs");
    attune_output output{};
    EXPECT_EQ(attune_session_output(session.get(), 0, &output, &error), ATTUNE_INVALID_ARGUMENT);
    EXPECT_THAT(error.message, HasSubstr("has no outputs"));
  }
}

// The counter is 1 to 5, one more in each round of the loop.
SampleArtifact MakeSampleThatIndexes(int64_t size) {
  SampleArtifact sample = MakeSampleArtifact();
  const int64_t bounds[] = {-size, size};
  sample.program().tensors.push_back(
      {"bounds", kDTypeI64, {2, 1}, {-1, -1}, Place::kConstant, sample.constants.size(), sizeof(bounds)});
  const size_t end = sample.constants.size();
  sample.constants.resize(end + kConstantPadding);
  std::memcpy(sample.constants.data() + end, bounds, sizeof(bounds));
  std::vector<Instruction>& program = sample.program().instructions;
  program.insert(program.begin() + 6,
                 {Opcode::kCheckIndices, 0, 0, {kCounter, kNumSampleTensors}, "gather \"table\""});
  return sample;
}

TEST(RuntimeTest, AnIndexOutOfRangeEndsTheRun) {
  for (const size_t threads : {1, 3}) {
    const ModelHandle model = LoadBytes(MakeSampleThatIndexes(4).Write());
    const SessionHandle session = NewSession(model, threads);
    FillInput(session.get(), 1);
    attune_error error{};
    EXPECT_EQ(attune_session_run(session.get(), &error), ATTUNE_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message, "gather \"table\": index 4 is outside an axis of size 4");
    attune_output output{};
    EXPECT_EQ(attune_session_output(session.get(), 0, &output, &error), ATTUNE_INVALID_ARGUMENT);
  }
  const ModelHandle model = LoadBytes(MakeSampleThatIndexes(6).Write());
  EXPECT_EQ(attune_session_run(NewSession(model).get(), nullptr), ATTUNE_OK);
}

TEST(RuntimeTest, ADimensionBeyondItsBoundIsAnError) {
  SampleArtifact sample = MakeSampleArtifact();
  // Use the number of kept columns as the number of rows.
  sample.program().tensors[kRowsOut].dim_slots[0] = 1;
  const ModelHandle model = LoadBytes(sample.Write());
  const SessionHandle session = NewSession(model);
  FillInput(session.get(), 1);
  ASSERT_EQ(attune_session_run(session.get(), nullptr), ATTUNE_OK);
  attune_output output{};
  attune_error error{};
  EXPECT_EQ(attune_session_output(session.get(), 1, &output, &error), ATTUNE_KERNEL_FAILED);
  EXPECT_THAT(error.message, HasSubstr("over its bound of 8"));
}

TEST(RuntimeTest, ACopyThatDoesNotFitIsAnError) {
  SampleArtifact sample = MakeSampleArtifact();
  sample.program().tensors[kCopied].shape[1] = 2;
  const ModelHandle model = LoadBytes(sample.Write());
  const SessionHandle session = NewSession(model);
  FillInput(session.get(), 1);
  attune_error error{};
  EXPECT_EQ(attune_session_run(session.get(), &error), ATTUNE_KERNEL_FAILED);
  EXPECT_THAT(error.message, HasSubstr("which does not fit \"copied\""));
}

TEST(RuntimeTest, RefusesWrongArguments) {
  const ModelHandle model = LoadBytes(MakeSampleArtifact().Write());
  const SessionHandle session = NewSession(model);
  attune_error error{};
  attune_tensor_info info{};
  EXPECT_EQ(attune_model_input(model.get(), 1, &info, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "there is no input 1: the model has 1");
  EXPECT_EQ(attune_session_input(session.get(), 1), nullptr);
  const float x = 0;
  EXPECT_EQ(attune_session_set_input(session.get(), 0, &x, sizeof(x), &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 0 (\"x\") takes 1536 bytes, not 4");
  attune_session* none = nullptr;
  EXPECT_EQ(attune_session_create(model.get(), 5000, &none, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(attune_session_create(nullptr, 1, &none, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  attune_output output{};
  EXPECT_EQ(attune_session_output(session.get(), 0, &output, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(attune_load(nullptr, nullptr, nullptr, nullptr), ATTUNE_INVALID_ARGUMENT);
  EXPECT_STREQ(attune_dtype_name(ATTUNE_BF16), "bf16");
  EXPECT_EQ(attune_dtype_size(ATTUNE_I64), 8u);
  EXPECT_EQ(attune_dtype_size(static_cast<attune_dtype>(13)), 0u);
}

TEST(RuntimeTest, AnArenaBeyondTheMemoryIsRefused) {
  SampleArtifact sample = MakeSampleArtifact();
  sample.program().arena_bytes = uint64_t{1} << 46;
  const ModelHandle model = LoadBytes(sample.Write());
  attune_session* session = nullptr;
  attune_error error{};
  EXPECT_EQ(attune_session_create(model.get(), 1, &session, &error), ATTUNE_OUT_OF_MEMORY);
  EXPECT_THAT(error.message, HasSubstr("needs 70368744178048 bytes"));
}

TEST(CppInterfaceTest, RunsAModel) {
  const std::string file = MakeSampleArtifact().Write();
  const runtime::Model model(std::as_bytes(std::span(file)));
  EXPECT_EQ(model.metadata("model.name"), "sample");
  EXPECT_THAT(model.output(1).shape, ElementsAre(kRows, kColumns));
  EXPECT_TRUE(model.output(1).is_dynamic);
  runtime::Session session(model, 2);
  std::ranges::fill(session.input<float>(0), 1.0f);
  session.run();
  EXPECT_EQ(session.output(0).as<float>()[2], 3.0f);
  EXPECT_EQ(session.output(3).as<int64_t>()[0], 5);
  EXPECT_EQ(session.run_profiled().size(), 9u);
  EXPECT_THROW(session.output(0).as<double>(), std::invalid_argument);
  EXPECT_THROW(runtime::Model("no/such/file"), runtime::Error);
}

}  // namespace
}  // namespace attune
