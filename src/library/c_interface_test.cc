// The part of the C interface that C++ does not show: options by name, results that are taken, wrong
// arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "attune/compiler.h"
#include "library/failure.h"

namespace attune::library {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The message of a call that must fail with this code.
template <typename Call>
std::string MessageOf(attune_code code, const Call& call) {
  attune_failure* failure = nullptr;
  EXPECT_EQ(call(&failure), code);
  EXPECT_EQ(attune_failure_code(failure), code);
  std::string message = attune_failure_message(failure);
  attune_failure_free(failure);
  return message;
}

class OptionsTest : public ::testing::Test {
 protected:
  using Owned = std::unique_ptr<attune_options, void (*)(attune_options*)>;

  static Owned New(attune_step step) {
    attune_options* options = nullptr;
    EXPECT_EQ(attune_options_create(step, &options, nullptr), ATTUNE_OK);
    return {options, attune_options_free};
  }
};

TEST_F(OptionsTest, AreReadAsTheyAreSet) {
  const Owned tuning = New(ATTUNE_STEP_TUNE), quantizing = New(ATTUNE_STEP_QUANTIZE);
  int64_t trials = -1;
  EXPECT_EQ(attune_options_get_int(tuning.get(), "trials", &trials, nullptr), ATTUNE_OK);
  EXPECT_EQ(trials, 0);
  EXPECT_EQ(attune_options_set_int(tuning.get(), "trials", int64_t{1} << 40, nullptr), ATTUNE_OK);
  EXPECT_EQ(attune_options_get_int(tuning.get(), "trials", &trials, nullptr), ATTUNE_OK);
  EXPECT_EQ(trials, int64_t{1} << 40);
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  uint64_t seed = 0;
  EXPECT_EQ(attune_options_set_uint(tuning.get(), "seed", kMost, nullptr), ATTUNE_OK);
  EXPECT_EQ(attune_options_get_uint(tuning.get(), "seed", &seed, nullptr), ATTUNE_OK);
  EXPECT_EQ(seed, kMost);
  double share = 0;
  EXPECT_EQ(attune_options_set_double(quantizing.get(), "max_drop", 0.25, nullptr), ATTUNE_OK);
  EXPECT_EQ(attune_options_get_double(quantizing.get(), "max_drop", &share, nullptr), ATTUNE_OK);
  EXPECT_EQ(share, 0.25);
  int is_mixed = 0;
  EXPECT_EQ(attune_options_set_bool(quantizing.get(), "is_mixed", 1, nullptr), ATTUNE_OK);
  EXPECT_EQ(attune_options_get_bool(quantizing.get(), "is_mixed", &is_mixed, nullptr), ATTUNE_OK);
  EXPECT_EQ(is_mixed, 1);
}

TEST_F(OptionsTest, TextsListsAndChoices) {
  const Owned compiling = New(ATTUNE_STEP_COMPILE), optimizing = New(ATTUNE_STEP_OPTIMIZE),
              picture = New(ATTUNE_STEP_PICTURE);
  const char* const cpus[] = {"x86-64-v3", "x86-64-v4"};
  const attune_texts* texts = nullptr;
  EXPECT_EQ(attune_options_set_texts(compiling.get(), "cpus", cpus, 2, nullptr), ATTUNE_OK);
  ASSERT_EQ(attune_options_get_texts(compiling.get(), "cpus", &texts, nullptr), ATTUNE_OK);
  ASSERT_EQ(texts->count, 2);
  EXPECT_STREQ(texts->items[1], "x86-64-v4");
  attune_texts_free(texts);
  const char* text = nullptr;
  EXPECT_EQ(attune_options_get_text(optimizing.get(), "precision", &text, nullptr), ATTUNE_OK);
  EXPECT_STREQ(text, "fp32");
  EXPECT_EQ(attune_options_set_text(optimizing.get(), "precision", "bf16x3", nullptr), ATTUNE_OK);
  EXPECT_EQ(attune_options_get_text(optimizing.get(), "precision", &text, nullptr), ATTUNE_OK);
  EXPECT_STREQ(text, "bf16x3");
  EXPECT_EQ(attune_options_get_text(optimizing.get(), "passes", &text, nullptr), ATTUNE_OK);
  EXPECT_STREQ(text, "");
  const double mean[] = {1, 2.5, 3};
  EXPECT_EQ(attune_options_set_doubles(picture.get(), "mean", mean, 3, nullptr), ATTUNE_OK);
  EXPECT_EQ(attune_options_get_text(picture.get(), "mean", &text, nullptr), ATTUNE_OK);
  EXPECT_STREQ(text, "1,2.5,3");
}

TEST_F(OptionsTest, AreRefusedWithTheirNames) {
  const Owned compiling = New(ATTUNE_STEP_COMPILE), optimizing = New(ATTUNE_STEP_OPTIMIZE);
  const auto message = [](const auto& call) { return MessageOf(ATTUNE_INVALID_ARGUMENT, call); };
  EXPECT_THAT(message([&](auto** f) { return attune_options_set_int(compiling.get(), "trials", 1, f); }),
              HasSubstr("no option \"trials\"; it has cpus, threads, records"));
  EXPECT_EQ(message([&](auto** f) { return attune_options_set_text(compiling.get(), "threads", "4", f); }),
            "threads: is set and read by the functions whose names end in _int");
  EXPECT_EQ(message([&](auto** f) {
              return attune_options_set_int(compiling.get(), "threads", int64_t{1} << 32, f);
            }),
            "threads: is 4294967296, and must fit in 32 bits");
  EXPECT_EQ(
      message([&](auto** f) { return attune_options_set_text(optimizing.get(), "precision", "int8", f); }),
      "precision: \"int8\" is none of fp32, bf16, bf16x3");
  ASSERT_EQ(attune_options_set_int(compiling.get(), "threads", 1025, nullptr), ATTUNE_OK);
  EXPECT_EQ(message([&](auto** f) { return attune_options_check(compiling.get(), f); }),
            "threads: is 1025, and must be from 1 to 1024, or 0");
}

TEST(CInterfaceTest, ALongMessageIsWhole) {
  const std::string folder = "/nowhere/" + std::string(200, 'x');
  const std::string path = folder + folder + folder + folder + "/model.onnx";
  attune_network* network = nullptr;
  EXPECT_THAT(
      MessageOf(ATTUNE_CANNOT_READ,
                [&](auto** f) { return attune_network_load(path.c_str(), nullptr, nullptr, &network, f); }),
      HasSubstr(path));
  EXPECT_EQ(network, nullptr);
}

TEST(CInterfaceTest, ArgumentsThatAreWrong) {
  const auto message = [](const auto& call) { return MessageOf(ATTUNE_INVALID_ARGUMENT, call); };
  attune_network *network = nullptr, *result = nullptr;
  EXPECT_THAT(message([&](auto** f) { return attune_network_zoo(nullptr, &network, f); }), HasSubstr("NULL"));
  EXPECT_THAT(
      message([&](auto** f) { return attune_network_compile(nullptr, nullptr, nullptr, &network, f); }),
      HasSubstr("NULL"));
  const attune_open_options unset = {};
  EXPECT_THAT(message([&](auto** f) { return attune_network_load("a", &unset, nullptr, &network, f); }),
              HasSubstr("ATTUNE_OPEN_OPTIONS_INIT"));
  ASSERT_EQ(attune_network_zoo("squeezenet1_1", &network, nullptr), ATTUNE_OK);
  const attune_control no_size = {};
  EXPECT_THAT(
      message([&](auto** f) { return attune_network_optimize(network, nullptr, &no_size, &result, f); }),
      HasSubstr("ATTUNE_CONTROL_INIT"));
  attune_options* tuning = nullptr;
  ASSERT_EQ(attune_options_create(ATTUNE_STEP_TUNE, &tuning, nullptr), ATTUNE_OK);
  EXPECT_EQ(message([&](auto** f) { return attune_network_compile(network, tuning, nullptr, &result, f); }),
            "options of the step tune are given to the step compile");
  attune_options_free(tuning);
  // Without a failure, the code alone is returned.
  EXPECT_EQ(attune_network_zoo("poem", &result, nullptr), ATTUNE_NOT_FOUND);
  attune_network_free(network);
}

TEST(CInterfaceTest, AStopIsHeardByACallThatKnowsNoMore) {
  attune_network *network = nullptr, *result = nullptr;
  ASSERT_EQ(attune_network_zoo("squeezenet1_1", &network, nullptr), ATTUNE_OK);
  attune_stop* const stop = attune_stop_create();
  attune_stop_request(stop);
  attune_control control = ATTUNE_CONTROL_INIT;
  control.stop = stop;
  EXPECT_EQ(attune_network_optimize(network, nullptr, &control, &result, nullptr), ATTUNE_CANCELLED);
  // A caller whose header ended before the stop does not have it.
  control.struct_bytes = offsetof(attune_control, stop);
  EXPECT_EQ(attune_network_optimize(network, nullptr, &control, &result, nullptr), ATTUNE_OK);
  attune_stop_free(stop);
  attune_network_free(result);
  attune_network_free(network);
}

TEST(CInterfaceTest, TensorsAreTakenOnce) {
  attune_tensor* tensor = nullptr;
  const int64_t shape[] = {2, 3};
  ASSERT_EQ(attune_tensor_create(ATTUNE_I16, shape, 2, &tensor, nullptr), ATTUNE_OK);
  static_cast<int16_t*>(attune_tensor_data(tensor))[5] = 7;
  const attune_array* const array = attune_tensor_array(tensor);
  EXPECT_EQ(array->bytes, 12);
  EXPECT_EQ(static_cast<const int16_t*>(array->data)[5], 7);
  attune_tensor_free(tensor);

  attune_network* network = nullptr;
  ASSERT_EQ(attune_network_zoo("squeezenet1_1", &network, nullptr), ATTUNE_OK);
  attune_tensor* input = nullptr;
  ASSERT_EQ(attune_network_random_input(network, "input", 1, &input, nullptr), ATTUNE_OK);
  attune_tensors* outputs = nullptr;
  ASSERT_EQ(attune_network_run(network, attune_tensor_array(input), 1, 1, &outputs, nullptr), ATTUNE_OK);
  ASSERT_EQ(attune_tensors_count(outputs), 1);
  const void* const data = attune_tensors_array(outputs, 0)->data;
  attune_tensor* const taken = attune_tensors_take(outputs, 0);
  EXPECT_EQ(attune_tensors_take(outputs, 0), nullptr);
  EXPECT_EQ(attune_tensors_array(outputs, 0), nullptr);
  EXPECT_EQ(attune_tensors_array(outputs, 1), nullptr);
  attune_tensors_free(outputs);
  EXPECT_EQ(attune_tensor_array(taken)->data, data);
  attune_tensor_free(taken);
  attune_tensor_free(input);
  attune_network_free(network);
}

TEST(GuardTest, NoExceptionComesOut) {
  EXPECT_THAT(MessageOf(ATTUNE_INTERNAL,
                        [](auto** f) {
                          return Guard(f, []() -> absl::Status { throw std::runtime_error("a bug"); });
                        }),
              StartsWith("a bug"));
  EXPECT_EQ(MessageOf(ATTUNE_OUT_OF_MEMORY,
                      [](auto** f) { return Guard(f, []() -> absl::Status { throw std::bad_alloc(); }); }),
            "out of memory");
}

}  // namespace
}  // namespace attune::library
