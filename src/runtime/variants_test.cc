// Artifacts for several processors and several sets of input shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attune/attune.hpp"
#include "runtime/session_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using testing::kColumns;
using testing::kRows;
using testing::LoadBytes;
using testing::MakeSampleArtifactOfVariants;
using testing::ModelHandle;
using testing::NewSession;
using testing::RunAndCheck;
using testing::SampleArtifact;
using testing::SessionHandle;

std::vector<int64_t> InputShape(const attune_model* model) {
  attune_tensor_info info{};
  EXPECT_EQ(attune_model_input(model, 0, &info, nullptr), ATTUNE_OK);
  return {info.shape, info.shape + info.rank};
}

TEST(VariantsTest, TheFirstThatRunsIsTaken) {
  const ModelHandle model = LoadBytes(MakeSampleArtifactOfVariants().Write());
  EXPECT_STREQ(attune_model_metadata(model.get(), "target.cpu"), "generic");
  EXPECT_STREQ(attune_model_metadata(model.get(), "target.cpus"), "starship,generic");
  EXPECT_STREQ(attune_model_metadata(model.get(), "target.features"), "");
  const SessionHandle session = NewSession(model);
  for (int seed = 0; seed < 3; ++seed) RunAndCheck(session.get(), seed);
}

TEST(VariantsTest, NoneThatRunsIsAnError) {
  SampleArtifact sample = MakeSampleArtifactOfVariants();
  sample.manifest.variants[1].target.features = {"time_travel"};
  const std::string file = sample.Write();
  attune_model* model = nullptr;
  attune_error error{};
  EXPECT_EQ(attune_load_memory(file.data(), file.size(), nullptr, &model, &error), ATTUNE_WRONG_TARGET);
  EXPECT_THAT(error.message, HasSubstr("needs a processor with time_travel"));
}

TEST(VariantsTest, APrepackingThatFailsIsAnError) {
  SampleArtifact sample = MakeSampleArtifactOfVariants();
  Variant& variant = sample.manifest.variants[1];
  variant.kernels[testing::kFail].interface.operands = variant.kernels[testing::kKeepRows].interface.operands;
  variant.prepackings[0].kernel = testing::kFail;
  const std::string file = sample.Write();
  attune_model* model = nullptr;
  attune_error error{};
  EXPECT_EQ(attune_load_memory(file.data(), file.size(), nullptr, &model, &error), ATTUNE_KERNEL_FAILED);
  EXPECT_THAT(error.message, HasSubstr("the kernel \"fail\", which makes weights, failed with status 7"));
}

TEST(VariantsTest, CompressedConstantsArePrepacked) {
  SampleArtifact sample = testing::MakeCompressedSampleArtifact();
  sample.manifest.variants = MakeSampleArtifactOfVariants().manifest.variants;
  const ModelHandle model = LoadBytes(sample.Write());
  RunAndCheck(NewSession(model).get(), 1);
}

TEST(VariantsTest, ShapeSetsAreModels) {
  const ModelHandle model = LoadBytes(MakeSampleArtifactOfVariants().Write());
  ASSERT_EQ(attune_model_num_shape_sets(model.get()), 2u);
  EXPECT_EQ(InputShape(model.get()), (std::vector<int64_t>{kRows, kColumns}));
  EXPECT_EQ(InputShape(attune_model_shape_set(model.get(), 0)), (std::vector<int64_t>{kRows, kColumns}));
  const attune_model* flat = attune_model_shape_set(model.get(), 1);
  EXPECT_EQ(InputShape(flat), (std::vector<int64_t>{kRows * kColumns}));
  EXPECT_EQ(attune_model_num_shape_sets(flat), 1u);
  EXPECT_EQ(attune_model_shape_set(flat, 0), flat);
  EXPECT_EQ(attune_model_shape_set(model.get(), 2), nullptr);
  attune_session* session = nullptr;
  ASSERT_EQ(attune_session_create(flat, 1, &session, nullptr), ATTUNE_OK);
  RunAndCheck(session, 1);
  attune_session_free(session);
}

TEST(VariantsTest, ASessionChangesItsShapes) {
  const ModelHandle model = LoadBytes(MakeSampleArtifactOfVariants().Write());
  const SessionHandle session = NewSession(model, 2);
  const int64_t flat[] = {kRows * kColumns}, other[] = {3, 5};
  const attune_shape shape = {flat, 1}, unknown = {other, 2};
  attune_error error{};
  RunAndCheck(session.get(), 1);
  attune_output output{};
  ASSERT_EQ(attune_session_use_shape_set(session.get(), 0, &error), ATTUNE_OK);  // the same as before
  EXPECT_EQ(attune_session_output(session.get(), 0, &output, nullptr), ATTUNE_OK);
  ASSERT_EQ(attune_session_use_shapes(session.get(), &shape, 1, &error), ATTUNE_OK) << error.message;
  EXPECT_EQ(attune_session_output(session.get(), 0, &output, nullptr), ATTUNE_INVALID_ARGUMENT);
  RunAndCheck(session.get(), 2);
  ASSERT_EQ(attune_session_use_shape_set(session.get(), 0, &error), ATTUNE_OK);
  RunAndCheck(session.get(), 3);

  EXPECT_EQ(attune_session_use_shapes(session.get(), &unknown, 1, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("it takes x=8x48 or x=384"));
  EXPECT_EQ(attune_session_use_shape_set(session.get(), 2, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("there is no shape set 2: the model has 2"));
  EXPECT_EQ(attune_session_use_shapes(session.get(), nullptr, 1, &error), ATTUNE_INVALID_ARGUMENT);
  EXPECT_EQ(attune_session_use_shape_set(nullptr, 0, &error), ATTUNE_INVALID_ARGUMENT);
  RunAndCheck(session.get(), 4);
}

TEST(VariantsTest, InCppToo) {
  const std::string file = MakeSampleArtifactOfVariants().Write();
  const runtime::Model model(std::as_bytes(std::span(file)));
  ASSERT_EQ(model.num_shape_sets(), 2u);
  runtime::Session session(model);
  RunAndCheck(session.get(), 1);
  session.use_shape_set(model, 1);
  EXPECT_EQ(session.input<float>(0).size(), static_cast<size_t>(kRows) * kColumns);
  RunAndCheck(session.get(), 2);
  runtime::Session flat(model.shape_set(1));
  RunAndCheck(flat.get(), 3);
  EXPECT_THROW(model.shape_set(2), std::out_of_range);
  EXPECT_THROW(session.use_shape_set(model, 2), runtime::Error);
}

}  // namespace
}  // namespace attune
