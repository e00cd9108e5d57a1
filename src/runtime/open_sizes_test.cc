// Sessions of programs with open sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "artifact/damaged_files_for_test.h"
#include "artifact/testing/open_sample.h"
#include "artifact/testing/size_steps.h"
#include "attune/attune.hpp"
#include "base/random.h"
#include "runtime/placement_cache.h"
#include "runtime/session_for_test.h"

namespace attune {
namespace {

using namespace testing;  // NOLINT: the sample's kernels, tensors and numbers
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StrEq;

// The shapes of the sample's inputs at n rows and s columns, which a test may change.
struct OpenShapes {
  OpenShapes(int64_t n, int64_t s) : shapes{{n, 4}, {s, s}, {n, s}, {n}} {}

  attune_code Use(attune_session* session, attune_error* error = nullptr) const {
    std::vector<attune_shape> given;
    for (const std::vector<int64_t>& shape : shapes) given.push_back({shape.data(), shape.size()});
    return attune_session_use_shapes(session, given.data(), given.size(), error);
  }

  std::vector<std::vector<int64_t>> shapes;
};

template <typename T>
T* InputOf(attune_session* session, size_t index) {
  return static_cast<T*>(attune_session_input(session, index));
}

// Fills the inputs, runs the session, which is at n rows and s columns, and compares the outputs.
void RunAndCheckOpen(attune_session* session, int64_t n, int64_t s, Random& random) {
  float* x = InputOf<float>(session, 0);
  float* matrix = InputOf<float>(session, 1);
  float* vectors = InputOf<float>(session, 2);
  int64_t* indices = InputOf<int64_t>(session, 3);
  const auto small = [&] { return static_cast<float>(random.Integer(-4, 4)); };
  std::generate_n(x, 4 * n, small);
  std::generate_n(matrix, s * s, small);
  std::generate_n(vectors, n * s, small);
  std::generate_n(indices, n, [&] { return random.Integer(0, kMaxOpenIndex); });
  std::vector<float> flat(x, x + 4 * n), result(static_cast<size_t>(n * s), 0.0f);
  for (float& value : flat) value *= 4;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < s; ++j) {
      for (int64_t k = 0; k < s; ++k)
        result[static_cast<size_t>(i * s + j)] += vectors[i * s + k] * matrix[k * s + j];
    }
  }
  attune_error error{};
  ASSERT_EQ(attune_session_run(session, &error), ATTUNE_OK) << error.message;
  const Floats found_flat = OutputOf(session, 0), found_result = OutputOf(session, 1);
  ASSERT_THAT(found_flat.shape, ElementsAre(4 * n));
  ASSERT_THAT(found_result.shape, ElementsAre(n, s));
  ASSERT_EQ(found_flat.values, flat);
  ASSERT_EQ(found_result.values, result);
  attune_output counter{};
  ASSERT_EQ(attune_session_output(session, 2, &counter, nullptr), ATTUNE_OK);
  ASSERT_EQ(*static_cast<const int64_t*>(counter.data), 5);
}

class OpenThreadsTest : public ::testing::TestWithParam<size_t> {};

TEST_P(OpenThreadsTest, AnySizesInAnyOrder) {
  const ModelHandle model = LoadBytes(MakeOpenSampleArtifact().Write());
  const SessionHandle session = NewSession(model, GetParam());
  Random random(8);
  for (int round = 0; round < 400; ++round) {
    const int64_t n = random.Integer(0, kMaxOpenRows), s = random.Integer(1, kMaxOpenColumns);
    attune_error error{};
    ASSERT_EQ(OpenShapes(n, s).Use(session.get(), &error), ATTUNE_OK) << error.message;
    ASSERT_NO_FATAL_FAILURE(RunAndCheckOpen(session.get(), n, s, random));
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, OpenThreadsTest, ::testing::Values(1, 3));

TEST(OpenSizesTest, ANewSessionHasTheSmallestSizesThatAreNotZero) {
  const ModelHandle model = LoadBytes(MakeOpenSampleArtifact().Write());
  const SessionHandle session = NewSession(model);
  Random random(9);
  RunAndCheckOpen(session.get(), 1, 1, random);
  ASSERT_EQ(OpenShapes(7, 5).Use(session.get()), ATTUNE_OK);
  RunAndCheckOpen(session.get(), 7, 5, random);
  ASSERT_EQ(attune_session_use_shape_set(session.get(), 0, nullptr), ATTUNE_OK);
  RunAndCheckOpen(session.get(), 1, 1, random);
}

TEST(OpenSizesTest, OutputsStayAtTheSameSizesAndAreLostAtOthers) {
  const ModelHandle model = LoadBytes(MakeOpenSampleArtifact().Write());
  const SessionHandle session = NewSession(model);
  Random random(10);
  ASSERT_EQ(OpenShapes(3, 3).Use(session.get()), ATTUNE_OK);
  RunAndCheckOpen(session.get(), 3, 3, random);
  ASSERT_EQ(OpenShapes(3, 3).Use(session.get()), ATTUNE_OK);
  attune_output output{};
  EXPECT_EQ(attune_session_output(session.get(), 0, &output, nullptr), ATTUNE_OK);
  ASSERT_EQ(OpenShapes(2, 3).Use(session.get()), ATTUNE_OK);
  EXPECT_EQ(attune_session_output(session.get(), 0, &output, nullptr), ATTUNE_INVALID_ARGUMENT);
}

TEST(OpenSizesTest, IndicesAreCheckedInTheirActualShape) {
  const ModelHandle model = LoadBytes(MakeOpenSampleArtifact().Write());
  const SessionHandle session = NewSession(model);
  Random random(11);
  ASSERT_EQ(OpenShapes(9, 2).Use(session.get()), ATTUNE_OK);
  RunAndCheckOpen(session.get(), 9, 2, random);
  InputOf<int64_t>(session.get(), 3)[8] = kMaxOpenIndex + 1;
  attune_error error{};
  EXPECT_EQ(attune_session_run(session.get(), &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, StrEq("gather: index 101 is outside an axis of size 101"));
}

TEST(OpenSizesTest, DescriptionsFollowTheSizes) {
  const ModelHandle model = LoadBytes(MakeOpenSampleArtifact().Write());
  attune_tensor_info info{};
  ASSERT_EQ(attune_model_input(model.get(), 2, &info, nullptr), ATTUNE_OK);
  EXPECT_THAT(std::vector(info.shape, info.shape + info.rank), ElementsAre(kMaxOpenRows, kMaxOpenColumns));
  EXPECT_EQ(info.is_dynamic, 1);
  ASSERT_EQ(attune_model_output(model.get(), 2, &info, nullptr), ATTUNE_OK);
  EXPECT_EQ(info.is_dynamic, 0);
  attune_dimension dimension{};
  ASSERT_EQ(attune_model_input_dimension(model.get(), 2, 1, &dimension, nullptr), ATTUNE_OK);
  EXPECT_STREQ(dimension.name, "columns");
  EXPECT_EQ(dimension.min, 1);
  EXPECT_EQ(dimension.max, kMaxOpenColumns);
  EXPECT_EQ(dimension.is_open, 1);
  ASSERT_EQ(attune_model_input_dimension(model.get(), 0, 1, &dimension, nullptr), ATTUNE_OK);
  EXPECT_EQ(dimension.name, nullptr);
  EXPECT_EQ(dimension.min, 4);
  EXPECT_EQ(dimension.max, 4);
  EXPECT_EQ(dimension.is_open, 0);
  ASSERT_EQ(attune_model_output_dimension(model.get(), 0, 0, &dimension, nullptr), ATTUNE_OK);
  EXPECT_EQ(dimension.name, nullptr);  // it is computed
  EXPECT_EQ(dimension.min, 0);
  EXPECT_EQ(dimension.max, 4 * kMaxOpenRows);
  EXPECT_EQ(dimension.is_open, 1);
  attune_error error{};
  EXPECT_EQ(attune_model_input_dimension(model.get(), 0, 2, &dimension, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "there is no dimension 2: the input has 2");

  const SessionHandle session = NewSession(model);
  ASSERT_EQ(OpenShapes(5, 3).Use(session.get()), ATTUNE_OK);
  ASSERT_EQ(attune_session_input_info(session.get(), 2, &info, nullptr), ATTUNE_OK);
  EXPECT_THAT(std::vector(info.shape, info.shape + info.rank), ElementsAre(5, 3));
  EXPECT_EQ(info.bytes, 60u);
  EXPECT_EQ(info.is_dynamic, 0);
  ASSERT_EQ(attune_session_output_info(session.get(), 0, &info, nullptr), ATTUNE_OK);  // before it has run
  EXPECT_THAT(std::vector(info.shape, info.shape + info.rank), ElementsAre(20));
  EXPECT_EQ(attune_session_output_info(session.get(), 3, &info, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(attune_session_num_instructions(session.get()), 10u);
  const std::array<float, 20> x = {};
  EXPECT_EQ(attune_session_set_input(session.get(), 0, x.data(), 80, nullptr), ATTUNE_OK);
  EXPECT_EQ(attune_session_set_input(session.get(), 0, x.data(), 64, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 0 (\"x\") takes 80 bytes, not 64");
}

TEST(OpenSizesTest, ShapesThatDoNotFitAreNamed) {
  const ModelHandle model = LoadBytes(MakeOpenSampleArtifact().Write());
  const SessionHandle session = NewSession(model);
  Random random(12);
  const auto refusal = [&](OpenShapes shapes) {
    attune_error error{};
    EXPECT_EQ(shapes.Use(session.get(), &error), ATTUNE_INVALID_ARGUMENT);
    return std::string(error.message);
  };
  EXPECT_EQ(refusal({65, 1}), "input \"x\" has 65 in dimension 0 (rows), which is open from 0 to 64");
  EXPECT_EQ(refusal({-1, 1}), "input \"x\" has -1 in dimension 0 (rows), which is open from 0 to 64");
  EXPECT_EQ(refusal({1, 0}), "input \"matrix\" has 0 in dimension 0 (columns), which is open from 1 to 32");
  OpenShapes other(5, 3);
  other.shapes[2] = {5, 4};
  EXPECT_EQ(refusal(other),
            "input \"vectors\" has 4 in dimension 1 (columns), which is 3 by a dimension before it");
  other.shapes[2] = {5, 3, 1};
  EXPECT_EQ(refusal(other), "input \"vectors\" takes 2 dimensions, not 3");
  other.shapes[2] = {5, 3};
  other.shapes[0] = {5, 5};
  EXPECT_EQ(refusal(other), "input \"x\" has 5 in dimension 1, which must be 4");
  other.shapes.pop_back();
  EXPECT_EQ(refusal(other), "the model has 4 inputs, and there are 3 shapes");
  RunAndCheckOpen(session.get(), 1, 1, random);  // the session is as before
}

TEST(OpenSizesTest, ADimensionThatIsComputedMustFit) {
  SampleArtifact sample = MakeOpenSampleArtifact();
  Program& program = sample.program();
  program.numbers.push_back({Size(1), Constant(1), kPlus});
  program.tensors.push_back(program.tensors[kOpenIndices]);
  program.tensors.back().open_shape = {static_cast<int32_t>(kNumOpenNumbers)};
  program.tensors.back().block = static_cast<int32_t>(program.blocks.size());
  program.numbers.push_back({Size(1), Constant(1), kPlus, Constant(8), kTimes});
  program.blocks.push_back({kNumOpenNumbers + 1, 0, 0, true});
  program.inputs.insert(program.inputs.begin(), {"wide", kNumOpenTensors});
  const ModelHandle model = LoadBytes(sample.Write());
  const SessionHandle session = NewSession(model);
  OpenShapes shapes(5, 3);
  shapes.shapes.insert(shapes.shapes.begin(), {4});
  EXPECT_EQ(shapes.Use(session.get()), ATTUNE_OK);
  shapes.shapes[0] = {5};
  attune_error error{};
  EXPECT_EQ(shapes.Use(session.get(), &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input \"wide\" has 5 in dimension 0, which must be 4 at rows=5 columns=3");
}

TEST(OpenSizesTest, LikelySizesHaveAProgramOfTheirOwn) {
  const ModelHandle model = LoadBytes(MakeOpenSampleArtifactWithLikelySizes().Write());
  ASSERT_EQ(attune_model_num_shape_sets(model.get()), 2u);
  const SessionHandle session = NewSession(model);
  Random random(13);
  EXPECT_EQ(attune_session_num_instructions(session.get()), 3u);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(OpenShapes(4, 2).Use(session.get()), ATTUNE_OK);
    EXPECT_EQ(attune_session_num_instructions(session.get()), 10u);
    RunAndCheckOpen(session.get(), 4, 2, random);
    ASSERT_EQ(OpenShapes(3, 2).Use(session.get()), ATTUNE_OK);
    EXPECT_EQ(attune_session_num_instructions(session.get()), 3u);
    std::fill_n(InputOf<float>(session.get(), 0), 12, 2.5f);
    ASSERT_EQ(attune_session_run(session.get(), nullptr), ATTUNE_OK);
    EXPECT_EQ(OutputOf(session.get(), 0).values, std::vector<float>(12, 2.5f));
    ASSERT_EQ(OpenShapes(60, 32).Use(session.get()), ATTUNE_OK);  // more memory than before
    RunAndCheckOpen(session.get(), 60, 32, random);
  }
  attune_error error{};
  EXPECT_EQ(OpenShapes(65, 2).Use(session.get(), &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("it takes x=3x4 matrix=2x2 vectors=3x2 indices=3 or x=rows:0..64x4 "
                                       "matrix=columns:1..32xcolumns:1..32 vectors=rows:0..64xcolumns:1..32 "
                                       "indices=rows:0..64"));
}

TEST(OpenSizesTest, MemoryHasABound) {
  const ModelHandle model = LoadBytes(MakeOpenSampleArtifact().Write());
  const SessionHandle session = NewSession(model);
  Random random(14);
  ASSERT_EQ(OpenShapes(10, 10).Use(session.get()), ATTUNE_OK);
  RunAndCheckOpen(session.get(), 10, 10, random);
  ASSERT_EQ(attune_session_set_max_memory(session.get(), 8000, nullptr), ATTUNE_OK);
  attune_error error{};
  EXPECT_EQ(OpenShapes(64, 32).Use(session.get(), &error), ATTUNE_OUT_OF_MEMORY);
  EXPECT_THAT(error.message, ::testing::MatchesRegex(
                                 "the session needs [0-9]+ bytes of memory at rows=64 columns=32, over its "
                                 "bound of 8000; use smaller inputs or fewer threads, or raise the bound by "
                                 "attune_session_set_max_memory"));
  attune_output output{};
  EXPECT_EQ(attune_session_output(session.get(), 0, &output, nullptr), ATTUNE_OK);  // as before
  RunAndCheckOpen(session.get(), 10, 10, random);
  ASSERT_EQ(OpenShapes(3, 3).Use(session.get()), ATTUNE_OK);
  RunAndCheckOpen(session.get(), 3, 3, random);
  ASSERT_EQ(attune_session_set_max_memory(session.get(), 0, nullptr), ATTUNE_OK);
  ASSERT_EQ(OpenShapes(64, 32).Use(session.get()), ATTUNE_OK);
  RunAndCheckOpen(session.get(), 64, 32, random);
  // The memory beyond a bound is given back, also at sizes that are known.
  ASSERT_EQ(attune_session_set_max_memory(session.get(), 8000, nullptr), ATTUNE_OK);
  ASSERT_EQ(OpenShapes(10, 10).Use(session.get()), ATTUNE_OK);
  RunAndCheckOpen(session.get(), 10, 10, random);
  EXPECT_EQ(attune_session_set_max_memory(nullptr, 0, &error), ATTUNE_INVALID_ARGUMENT);
}

TEST(OpenSizesTest, SizesThatAskForTooMuchAreRefused) {
  SampleArtifact sample = MakeOpenSampleArtifact();
  // 16n and, from 60 rows on, 2^41 more.
  sample.program().numbers[kXBytes] = {
      Size(0), Constant(16), kTimes, Size(0), Constant(60), kOver, Constant(int64_t{1} << 41), kTimes, kPlus};
  const ModelHandle model = LoadBytes(sample.Write());
  const SessionHandle session = NewSession(model);
  attune_error error{};
  EXPECT_EQ(OpenShapes(60, 2).Use(session.get(), &error), ATTUNE_OUT_OF_MEMORY);
  EXPECT_STREQ(
      error.message,
      "the model cannot run at rows=60 columns=2: block 0 asks for more than 2^40 bytes; use smaller "
      "inputs");
  ASSERT_EQ(OpenShapes(30, 2).Use(session.get(), &error), ATTUNE_OK) << error.message;
  Random random(15);
  RunAndCheckOpen(session.get(), 30, 2, random);
}

TEST(OpenSizesTest, AProgramThatBreaksItsRulesAtSomeSizesIsRefusedThere) {
  SampleArtifact sample = MakeOpenSampleArtifact();
  sample.program().tensors[kOpenX].shape[0] = 6;
  const ModelHandle model = LoadBytes(sample.Write());
  const SessionHandle session = NewSession(model);
  attune_error error{};
  EXPECT_EQ(OpenShapes(7, 2).Use(session.get(), &error), ATTUNE_DAMAGED);
  EXPECT_STREQ(
      error.message,
      "the model is damaged: at rows=7 columns=2, tensor \"x\" has 7 in dimension 0, over its bound of "
      "6; copy it again or compile it again");
  Random random(16);
  RunAndCheckOpen(session.get(), 1, 1, random);
}

TEST(PlacementCacheTest, EvictsTheLeastRecentlyUsed) {
  PlacementCache cache;
  const auto keep = [&](int64_t size) {
    cache.spare().sizes = {size};
    return cache.KeepSpare();
  };
  const auto find = [&](int64_t size) { return cache.Find(std::array{size}); };
  constexpr auto kMost = static_cast<int64_t>(PlacementCache::kMaxEntries);
  const ProgramPlacement* first = keep(0);
  for (int64_t size = 1; size < kMost; ++size) keep(size);
  EXPECT_EQ(find(0), first);
  keep(kMost);
  EXPECT_EQ(find(0), first);
  EXPECT_EQ(find(1), nullptr);
  EXPECT_NE(find(2), nullptr);
  EXPECT_NE(find(kMost), nullptr);
}

// No manifest makes the kernels access invalid memory, as long as the kernels belong to the code.
TEST(OpenSizesTest, ManifestsWithRightChecksumsRunWithoutHarm) {
  const SampleArtifact sample = MakeOpenSampleArtifact();
  const std::string file = sample.Write();
  ArtifactView view;
  ASSERT_TRUE(ParseArtifact(Bytes(file), &view).ok());
  const std::vector<Instruction> program = view.manifest.variants[0].programs[0].instructions;
  const auto manifest_end = static_cast<size_t>(view.code.data() - Bytes(file).data());
  Random random(17);
  int ran = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string flipped = file;
    for (int flips = 1 + static_cast<int>(random.Next() % 3); flips > 0; --flips) {
      const size_t at = random.Next() % manifest_end;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random.Next() % 8)));
    }
    RepairChecksums(flipped, /*repair_kernels=*/false);
    if (!ParseArtifact(Bytes(flipped), &view).ok()) continue;
    // A changed loop may have a way out and never take it.
    const auto same_way = [](const Instruction& a, const Instruction& b) {
      return a.opcode == b.opcode && a.target == b.target;
    };
    const Variant& variant = view.manifest.variants[0];
    if (!std::ranges::equal(variant.programs[0].instructions, program, same_way)) continue;
    if (variant.scratch_bytes + variant.prepacked_bytes > (1 << 24)) continue;
    try {
      const runtime::Model model(Bytes(flipped));
      runtime::Session session(model);
      session.set_max_memory(1 << 24);
      for (const auto& [n, s] : {std::pair{1, 1}, {0, 3}, {13, 32}, {64, 7}}) {
        try {
          session.use_shapes(OpenShapes(n, s).shapes);
          session.run();
          for (size_t output = 0; output < model.num_outputs(); ++output) session.output(output);
          ++ran;
        } catch (const runtime::Error& error) {
          EXPECT_NE(std::string(error.what()), "");
        }
      }
    } catch (const runtime::Error& error) {
      EXPECT_THAT(error.code(), ::testing::AnyOf(ATTUNE_DAMAGED, ATTUNE_OUT_OF_MEMORY, ATTUNE_WRONG_TARGET))
          << error.what();
    }
  }
  EXPECT_GT(ran, 1000);
}

TEST(OpenSizesTest, InCppToo) {
  const std::string file = MakeOpenSampleArtifact().Write();
  const runtime::Model model(Bytes(file));
  EXPECT_TRUE(model.input(0).is_dynamic);
  EXPECT_STREQ(model.input_dimension(0, 0).name, "rows");
  EXPECT_EQ(model.output_dimension(1, 1).max, kMaxOpenColumns);
  runtime::Session session(model);
  session.use_shapes(OpenShapes(5, 3).shapes);
  EXPECT_EQ(session.input<float>(2).size(), 15u);
  EXPECT_EQ(session.input_bytes(3).size(), 40u);
  EXPECT_THAT(session.input_info(2).shape, ElementsAre(5, 3));
  EXPECT_THAT(session.output_info(0).shape, ElementsAre(20));
  Random random(18);
  RunAndCheckOpen(session.get(), 5, 3, random);
  EXPECT_EQ(session.run_profiled().size(), 10u);
  session.use_shape_set(0);
  EXPECT_EQ(session.input<float>(2).size(), 1u);
  EXPECT_THROW(session.use_shapes(OpenShapes(65, 1).shapes), runtime::Error);
}

}  // namespace
}  // namespace attune
