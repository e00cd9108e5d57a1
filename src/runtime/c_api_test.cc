// The runtime through its C interface, on the sample artifact.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "artifact/testing/sample_artifact.h"
#include "attune/attune.h"
#include "attune/attune.hpp"
#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using namespace attune::testing;  // NOLINT: the sample's kernels and tensors
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct FreeModel {
  void operator()(attune_model* model) const { attune_model_free(model); }
};
using ModelHandle = std::unique_ptr<attune_model, FreeModel>;
struct FreeSession {
  void operator()(attune_session* session) const { attune_session_free(session); }
};
using SessionHandle = std::unique_ptr<attune_session, FreeSession>;

ModelHandle LoadBytes(const std::string& file) {
  attune_model* model = nullptr;
  attune_error error{};
  EXPECT_EQ(attune_load_memory(file.data(), file.size(), nullptr, &model, &error), ATTUNE_OK)
      << error.message;
  return ModelHandle(model);
}

SessionHandle NewSession(const ModelHandle& model, size_t threads = 1) {
  attune_session* session = nullptr;
  attune_error error{};
  EXPECT_EQ(attune_session_create(model.get(), threads, &session, &error), ATTUNE_OK) << error.message;
  return SessionHandle(session);
}

// A file of this test's own, removed at its end.
class TempFile {
 public:
  explicit TempFile(const std::string& content) { Write(content); }

  void Write(const std::string& content) const { std::ofstream(path_, std::ios::binary) << content; }
  const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_ / "model.atn";
};

attune_error LoadError(const std::string& path, const attune_load_options* options = nullptr) {
  attune_model* model = nullptr;
  attune_error error{};
  EXPECT_NE(attune_load(path.c_str(), options, &model, &error), ATTUNE_OK);
  EXPECT_EQ(model, nullptr);
  return error;
}

// x[i, j] = seed + i - 4 for even rows, small otherwise; sums with w[i, j] = j - i have both signs.
void FillInput(attune_session* session, int seed) {
  float* x = static_cast<float*>(attune_session_input(session, 0));
  for (int i = 0; i < kRows * kColumns; ++i) x[i] = static_cast<float>((i * 7 + seed) % 11) - 5.0f;
}

std::vector<float> ExpectedSum(int seed) {
  std::vector<float> sum(kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; ++i) {
    const int row = i / kColumns, column = i % kColumns;
    sum[i] = static_cast<float>((i * 7 + seed) % 11) - 5.0f + static_cast<float>(column - row);
  }
  return sum;
}

struct Floats {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

Floats OutputOf(attune_session* session, size_t index) {
  attune_output output{};
  attune_error error{};
  EXPECT_EQ(attune_session_output(session, index, &output, &error), ATTUNE_OK) << error.message;
  const float* data = static_cast<const float*>(output.data);
  return {{output.shape, output.shape + output.rank}, {data, data + output.bytes / sizeof(float)}};
}

// Runs the session and compares every output with what the kernels are meant to compute.
void RunAndCheck(attune_session* session, int seed) {
  FillInput(session, seed);
  attune_error error{};
  ASSERT_EQ(attune_session_run(session, &error), ATTUNE_OK) << error.message;
  const std::vector<float> sum = ExpectedSum(seed);
  ASSERT_EQ(OutputOf(session, 0).values, sum);

  std::vector<float> rows;
  for (int i = 0; i < kRows; ++i) {
    if (sum[i * kColumns] > 0) rows.insert(rows.end(), &sum[i * kColumns], &sum[i * kColumns] + kColumns);
  }
  const Floats kept_rows = OutputOf(session, 1);
  ASSERT_THAT(kept_rows.shape, ElementsAre(rows.size() / kColumns, kColumns));
  ASSERT_EQ(kept_rows.values, rows);

  std::vector<float> columns;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      if (sum[j] > 0) columns.push_back(sum[i * kColumns + j]);
    }
  }
  for (const size_t output : {2, 4}) {  // made by the kernel, and copied to a wider tensor
    const Floats kept_columns = OutputOf(session, output);
    ASSERT_THAT(kept_columns.shape, ElementsAre(kRows, columns.size() / kRows));
    ASSERT_EQ(kept_columns.values, columns);
  }
  attune_output counter{};
  ASSERT_EQ(attune_session_output(session, 3, &counter, nullptr), ATTUNE_OK);
  ASSERT_EQ(*static_cast<const int64_t*>(counter.data), 5);
  ASSERT_EQ(counter.rank, 0u);
  ASSERT_EQ(OutputOf(session, 5).values, sum);
}

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

// More threads than rows too: some parts are then empty. 0 takes what the machine has.
INSTANTIATE_TEST_SUITE_P(Counts, ThreadsTest, ::testing::Values(0, 1, 2, 3, 13));

TEST(RuntimeTest, SessionsOfOneModelRunAtOnce) {
  ModelHandle model = LoadBytes(MakeSampleArtifact().Write());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([session = NewSession(model, 1 + t), t] {
      for (int i = 0; i < 100; ++i) ASSERT_NO_FATAL_FAILURE(RunAndCheck(session.get(), 100 * t + i));
    });
  }
  model.reset();  // sessions keep what they need
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
    sample.manifest.kernels[kFail].interface.parallel = parallel;
    sample.manifest.program[1] = {Opcode::kCall, kFail, 0, {}, "block3/op"};
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

TEST(RuntimeTest, ADimensionBeyondItsBoundIsAnError) {
  SampleArtifact sample = MakeSampleArtifact();
  // The number of kept columns, taken for the number of rows.
  sample.manifest.tensors[kRowsOut].dim_slots[0] = 1;
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
  sample.manifest.tensors[kCopied].shape[1] = 2;
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
  sample.manifest.arena_bytes = uint64_t{1} << 46;
  const ModelHandle model = LoadBytes(sample.Write());
  attune_session* session = nullptr;
  attune_error error{};
  EXPECT_EQ(attune_session_create(model.get(), 1, &session, &error), ATTUNE_OUT_OF_MEMORY);
  EXPECT_THAT(error.message, HasSubstr("needs 70368744178048 bytes"));
}

TEST(LoadTest, RefusalsNameTheFile) {
  const std::string good = MakeSampleArtifact().Write();
  attune_error error = LoadError("no/such/file.atn");
  EXPECT_EQ(error.code, ATTUNE_CANNOT_READ);
  EXPECT_STREQ(error.message, "no/such/file.atn: cannot be read: No such file or directory");
  EXPECT_EQ(LoadError(TemporaryFolder().path()).code, ATTUNE_CANNOT_READ);

  const TempFile file("");
  EXPECT_EQ(LoadError(file.path()).code, ATTUNE_NOT_ARTIFACT);
  file.Write(good.substr(0, good.size() - 1));
  error = LoadError(file.path());
  EXPECT_EQ(error.code, ATTUNE_DAMAGED);
  EXPECT_THAT(error.message, StartsWith(file.path() + " is cut short: it has"));
  std::string other_version = good;
  other_version[8] = 9;
  file.Write(other_version);
  EXPECT_EQ(LoadError(file.path()).code, ATTUNE_WRONG_VERSION);
}

TEST(LoadTest, DoesNotWaitForAPipe) {
  const TempFile file("");
  unlink(file.path().c_str());
  ASSERT_EQ(mkfifo(file.path().c_str(), 0600), 0);
  EXPECT_THAT(LoadError(file.path()).message, HasSubstr("it is not a regular file"));
}

TEST(LoadTest, RefusesOtherProcessors) {
  SampleArtifact sample = MakeSampleArtifact();
  sample.manifest.target.arch = "riscv64";
  attune_error error = LoadError(TempFile(sample.Write()).path());
  EXPECT_EQ(error.code, ATTUNE_WRONG_TARGET);
  EXPECT_THAT(error.message, HasSubstr("is compiled for riscv64, and this processor is"));

  sample = MakeSampleArtifact();
  sample.manifest.target.features = {"warp_drive", "time\x1b_travel"};
  error = LoadError(TempFile(sample.Write()).path());
  EXPECT_EQ(error.code, ATTUNE_WRONG_TARGET);
  EXPECT_THAT(error.message,
              HasSubstr("needs a processor with warp_drive, time?_travel, which this one lacks"));
}

TEST(LoadTest, LongMessagesAreCutBetweenCharacters) {
  SampleArtifact sample = MakeSampleArtifact();
  sample.manifest.target.features.assign(40, "€€€€€€€€");
  const attune_error error = LoadError(TempFile(sample.Write()).path());
  const std::string message = error.message;
  EXPECT_GT(message.size(), 500u);
  EXPECT_EQ(message.substr(message.rfind("\xE2")).size() % 3, 0u);
}

TEST(LoadTest, TheExpectedDigestIsHeldTo) {
  const std::string file = MakeSampleArtifact().Write();
  const TempFile temp(file);
  const std::string& path = temp.path();
  attune_load_options options = ATTUNE_LOAD_OPTIONS_INIT;
  const std::string digest = Sha256Hex(file);
  options.expected_sha256 = digest.c_str();
  attune_model* model = nullptr;
  attune_error error{};
  ASSERT_EQ(attune_load(path.c_str(), &options, &model, &error), ATTUNE_OK) << error.message;
  const SessionHandle session = NewSession(ModelHandle(model));
  RunAndCheck(session.get(), 3);

  const std::string wrong(64, '0');
  options.expected_sha256 = wrong.c_str();
  EXPECT_EQ(LoadError(path, &options).code, ATTUNE_NOT_TRUSTED);
  options.expected_sha256 = "abc";
  EXPECT_EQ(LoadError(path, &options).code, ATTUNE_INVALID_ARGUMENT);
  options = {};
  EXPECT_EQ(LoadError(path, &options).code, ATTUNE_INVALID_ARGUMENT);
}

TEST(LoadTest, DamagedConstantsAreFoundWhenAsked) {
  std::string file = MakeSampleArtifact().Write();
  file[file.size() - kReadAhead - 1] ^= 1;
  const TempFile temp(file);
  const ModelHandle model = LoadBytes(file);
  attune_error error{};
  EXPECT_EQ(attune_model_verify(model.get(), &error), ATTUNE_DAMAGED);
  EXPECT_THAT(error.message, HasSubstr("constants do not match"));
  attune_load_options options = ATTUNE_LOAD_OPTIONS_INIT;
  options.verify_constants = 1;
  EXPECT_EQ(LoadError(temp.path(), &options).code, ATTUNE_DAMAGED);
  EXPECT_EQ(attune_model_verify(LoadBytes(MakeSampleArtifact().Write()).get(), nullptr), ATTUNE_OK);
}

TEST(LoadTest, CompressedConstantsAreExpandedOnce) {
  const TempFile file(MakeCompressedSampleArtifact().Write());
  attune_model* loaded = nullptr;
  attune_error error{};
  ASSERT_EQ(attune_load(file.path().c_str(), nullptr, &loaded, &error), ATTUNE_OK) << error.message;
  const ModelHandle model(loaded);
  attune_memory_info memory{};
  ASSERT_EQ(attune_model_memory(model.get(), &memory, nullptr), ATTUNE_OK);
  EXPECT_EQ(memory.constant_bytes, kRows * kColumns * sizeof(float));
  EXPECT_EQ(attune_model_verify(model.get(), nullptr), ATTUNE_OK);
  const SessionHandle first = NewSession(model), second = NewSession(model, 3);
  for (int seed = 0; seed < 3; ++seed) {
    RunAndCheck(first.get(), seed);
    RunAndCheck(second.get(), seed);
  }
}

// Unlike mapped ones without being asked, as they are read anyway.
TEST(LoadTest, DamagedCompressedConstantsAreFound) {
  SampleArtifact sample = MakeCompressedSampleArtifact();
  std::string file = sample.Write();
  file[file.size() - kReadAhead - sample.constants.size()] ^= 1;
  const attune_error error = LoadError(TempFile(file).path());
  EXPECT_EQ(error.code, ATTUNE_DAMAGED);
  EXPECT_THAT(error.message, HasSubstr("constants do not match"));
}

// The number that a file of /proc/self has after a name.
int64_t OfThisProcess(const std::string& file, const std::string& name) {
  std::ifstream lines("/proc/self/" + file);
  std::string word;
  while (lines >> word && word != name) continue;
  int64_t number = -1;
  lines >> number;
  EXPECT_GE(number, 0) << file << " has no " << name;
  return number;
}

// Neither do their pages enter the memory of this process, nor is what they hold copied through a buffer.
TEST(LoadTest, LargeWeightsAreMappedAndNotRead) {
  constexpr int64_t kWeightBytes = 100 << 20;
  SampleArtifact sample = MakeSampleArtifact();
  sample.constants.resize(kWeightBytes);
  const TempFile file(sample.Write());
  const int64_t resident_kib = OfThisProcess("status", "VmRSS:");
  const int64_t read_bytes = OfThisProcess("io", "rchar:");
  attune_model* model = nullptr;
  ASSERT_EQ(attune_load(file.path().c_str(), nullptr, &model, nullptr), ATTUNE_OK);
  EXPECT_LT((OfThisProcess("status", "VmRSS:") - resident_kib) * 1024, kWeightBytes / 10);
  EXPECT_LT(OfThisProcess("io", "rchar:") - read_bytes, kWeightBytes / 10);
  attune_model_free(model);
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
