// The public C++ interface, and so the C interface below it, but for tuning, whose workers tests/package has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/network.h"
#include "attune/compiler.hpp"
#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "target/target.h"
#include "zoo/zoo.h"

namespace attune::compiler {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;

// The code of the error that a call throws; kInternal where it throws none.
template <typename Call>
ErrorCode CodeOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::kInternal;
}

class LibraryTest : public ::testing::Test {
 protected:
  static const Network& Squeezenet() {
    static const Network network = Network::zoo("squeezenet1_1");
    return network;
  }
  static NamedTensors Inputs(uint64_t seed) {
    NamedTensors inputs;
    for (const InputInfo& input : Squeezenet().inputs())
      inputs.push_back(Squeezenet().random_input(input.name, seed));
    return inputs;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(LibraryTest, TensorsShareAndCheckTheirBytes) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  const Tensor tensor({2, 3}, values);
  const Tensor copy = tensor;
  EXPECT_EQ(copy.bytes().data(), tensor.bytes().data());
  EXPECT_EQ(tensor.as<float>()[5], 6);
  EXPECT_EQ(Tensor().bytes().size(), 0);
  EXPECT_EQ(Tensor(ATTUNE_I64, {}).bytes().size(), 8);
  EXPECT_EQ(CodeOf([&] { return tensor.as<double>(); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([&] { return Tensor({7}, values); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([] { return Tensor(ATTUNE_F32, {-1}); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([] { return Tensor(static_cast<attune_dtype>(15), {1}); }), ErrorCode::kInvalid);
}

TEST_F(LibraryTest, StepsThatAreLeftOutAreDone) {
  const NamedTensors inputs = Inputs(1);
  const NamedTensors outputs = Squeezenet().run(inputs, 1);
  ASSERT_EQ(outputs.size(), 1);
  EXPECT_THAT(outputs[0].tensor.shape(), ElementsAre(1, 1000));
  EXPECT_FALSE(Squeezenet().is_compiled());
  const Network compiled = Squeezenet().optimize().compile({.records = "none"});
  EXPECT_TRUE(compiled.is_compiled());
  for (const OutputCheck& check : compiled.verify(inputs)) EXPECT_TRUE(check.ok) << check.criterion;
  EXPECT_GE(compiled.bench(0.01).size(), 3);
  EXPECT_GT(compiled.profile(1).at(0).seconds, 0);
  EXPECT_GT(compiled.sizes().code_bytes, 0);
}

// A program that wants the processor of this thread, to which both are bound meanwhile.
class BusyNeighbour {
 public:
  BusyNeighbour() {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    // It inherits the binding.
    thread_ = std::jthread([](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
      }
    });
  }
  ~BusyNeighbour() {
    thread_.request_stop();
    thread_.join();
    sched_setaffinity(0, sizeof(before_), &before_);
  }

 private:
  cpu_set_t before_ = {};
  std::jthread thread_;
};

TEST_F(LibraryTest, MeasurementsSayThatTheMachineWasBusy) {
  const Network compiled = Squeezenet().compile({.records = "none"});
  std::vector<std::string> notes;
  const auto note = [&](std::string_view text) { notes.emplace_back(text); };
  const BusyNeighbour neighbour;
  compiled.bench(0.2, 1, {}, 0, note);
  compiled.profile(40, 1, {}, 0, note);
  EXPECT_THAT(notes,
              ElementsAre(HasSubstr("the machine is busy: in "), HasSubstr("the machine is busy: in ")));
  compiled.bench(0.2, 1);
}

TEST_F(LibraryTest, ArtifactsAreTheSameInAFileAndInMemory) {
  const Network compiled = Squeezenet().compile({.cpus = {"x86-64-v3"}});
  compiled.save(folder_ / "net.atn");
  const Network loaded = Network::load(folder_ / "net.atn"),
                copy = Network::from_artifact(compiled.artifact());
  EXPECT_EQ(loaded.artifact(), compiled.artifact());
  EXPECT_EQ(copy.artifact(), compiled.artifact());
  EXPECT_THAT(loaded.sizes().cpus, ElementsAre("x86-64-v3"));
  EXPECT_EQ(CodeOf([&] { return loaded.optimize(); }), ErrorCode::kInvalid);
}

TEST_F(LibraryTest, QuantizesBeforeOrAfterOptimizing) {
  const NamedTensors samples[] = {Inputs(1), Inputs(2)};
  const QuantizeOptions options = {.equalizes = false, .corrects_biases = false, .threads = 1};
  const Network before = Squeezenet().quantize(samples, options).optimize();
  const Network after = Squeezenet().optimize().quantize(samples, options);
  EXPECT_TRUE(before.is_quantized() && after.is_quantized());
  const QuantizationResult result = before.quantization();
  EXPECT_GT(result.agreement, 0);
  EXPECT_GT(result.baseline_seconds, 0);
  EXPECT_GT(result.quantized_seconds, 0);
  EXPECT_THAT(result.verdict, HasSubstr(result.is_slower ? "slower than fp32" : "one inference takes"));
  EXPECT_EQ(CodeOf([] { return Squeezenet().quantization(); }), ErrorCode::kInvalid);
  EXPECT_EQ(before.compile({.records = "none"}).artifact(), after.compile({.records = "none"}).artifact());
  after.save_onnx(folder_ / "net8.onnx");
  EXPECT_EQ(Network::load(folder_ / "net8.onnx").inputs().size(), 1);
  EXPECT_EQ(CodeOf([&] { Squeezenet().save_onnx(folder_ / "none.onnx"); }), ErrorCode::kInvalid);
}

// A bitmap of one blue pixel.
constexpr char kBlue[] =
    "BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\0\0";

TEST_F(LibraryTest, PicturesBecomeTheNumbersThatOptionsSay) {
  const std::string path = folder_ / "blue.bmp";
  ASSERT_TRUE(WriteFileAtomically(path, std::string_view(kBlue, sizeof(kBlue))).ok());
  std::vector<std::string> notes;
  const auto note = [&](std::string_view text) { notes.emplace_back(text); };
  const NamedTensor raw = Squeezenet().picture(path, {.note = note});
  EXPECT_EQ(raw.name, "input");
  EXPECT_EQ(raw.tensor.shape(), (Shape{1, 3, 224, 224}));
  EXPECT_EQ(raw.tensor.as<float>().front(), 0);
  EXPECT_EQ(raw.tensor.as<float>().back(), 255);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("blue.bmp: goes into input \"input\" as numbers of 0 to 255")));
  const NamedTensor scaled = Squeezenet().picture(path, {.preprocess = "tf", .input = "input", .note = note});
  EXPECT_EQ(scaled.tensor.as<float>().front(), -1);
  EXPECT_EQ(scaled.tensor.as<float>().back(), 1);
  EXPECT_EQ(Squeezenet().picture(path, {.mean = {0, 0, 255}, .note = note}).tensor.as<float>().back(), 0);
  EXPECT_EQ(notes.size(), 1);
  EXPECT_EQ(CodeOf([&] { return Squeezenet().picture(path, {.input = "no"}); }), ErrorCode::kInvalid);
}

TEST_F(LibraryTest, CallsAreFollowedAndEnded) {
  int reports = 0;
  std::stop_source stop;
  const Control control = {.progress =
                               [&](std::string_view, int64_t, int64_t) {
                                 if (++reports == 3) stop.request_stop();
                               },
                           .stop = stop.get_token()};
  EXPECT_EQ(CodeOf([&] { return Squeezenet().optimize({.control = control}); }), ErrorCode::kCancelled);
  EXPECT_GE(reports, 3);
}

TEST_F(LibraryTest, ExceptionsOfCallbacksEndTheCall) {
  struct Thrown {};
  int reports = 0;
  const Control control = {.progress = [&](std::string_view, int64_t, int64_t) {
    ++reports;
    throw Thrown();
  }};
  EXPECT_THROW(Squeezenet().optimize({.control = control}), Thrown);
  EXPECT_EQ(reports, 1);
  const std::string path = folder_ / "blue.bmp";
  ASSERT_TRUE(WriteFileAtomically(path, std::string_view(kBlue, sizeof(kBlue))).ok());
  EXPECT_THROW(Squeezenet().picture(path, {.note = [](std::string_view) { throw Thrown(); }}), Thrown);
}

TEST_F(LibraryTest, SaysHowItIsCompiled) {
  EXPECT_EQ(Squeezenet().compile_options().threads, 0);
  EXPECT_EQ(Squeezenet().threads(), 1);
  const Network compiled = Squeezenet().compile({.cpus = {"x86-64-v3"}, .threads = 2, .records = "none"});
  const CompileOptions& options = compiled.compile_options();
  EXPECT_THAT(options.cpus, ElementsAre("x86-64-v3"));
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.records, "none");
  EXPECT_FALSE(options.compresses_weights);
  EXPECT_EQ(compiled.threads(), 2);
  EXPECT_THAT(compiled.on(Device::here()).compile_options().cpus, IsEmpty());
}

TEST_F(LibraryTest, NumbersOutOfRangeAreRefused) {
  EXPECT_EQ(CodeOf([] { return Squeezenet().tune({.seconds = -1}); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([] { return Squeezenet().compile({.threads = 1025}); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([] { return Squeezenet().quantize({}, {.percentile = 10}); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([] { return Squeezenet().bench(-1); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([] { return Squeezenet().run(Inputs(1), -1); }), ErrorCode::kInvalid);
  try {
    check(QuantizeOptions{.max_drop = 2});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "max_drop: is 2, and must be from 0 to 1");
  }
}

TEST_F(LibraryTest, NamesThatTheModelDoesNotHaveAreRefused) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "net.onnx", *BuildZooModel("squeezenet1_1")).ok());
  const std::string path = folder_ / "net.onnx";
  const NamedTensor input = Inputs(1)[0];
  const NamedTensors wrong = {{"typo", input.tensor}}, samples[] = {{input, wrong[0]}};
  EXPECT_EQ(CodeOf([&] { return Network::load(path, {.shapes = {{"typo", {1}}}}); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([&] { return Network::load(path, {.values = {{"typo", input.tensor}}}); }),
            ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([&] { return Squeezenet().optimize({.examples = wrong}); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([&] { return Squeezenet().quantize(samples); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([&] { return Squeezenet().bench(0, 1, wrong); }), ErrorCode::kInvalid);
  Squeezenet().compile({.records = "none"}).save(folder_ / "net.atn");
  EXPECT_EQ(CodeOf([&] { return Network::load(folder_ / "net.atn", {.shapes = {{"typo", {1}}}}); }),
            ErrorCode::kInvalid);
}

TEST_F(LibraryTest, DescribesItsOutputs) {
  const std::vector<InputInfo> outputs = Squeezenet().outputs();
  ASSERT_EQ(outputs.size(), 1);
  EXPECT_EQ(outputs[0].text, "f32[1,1000]");
  EXPECT_THAT(Network::zoo_names(), Contains("squeezenet1_1"));
}

TEST_F(LibraryTest, ErrorsNameTheFile) {
  try {
    Network::load(folder_ / "none.onnx");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_TRUE(error.is_missing_file());
    EXPECT_THAT(error.what(), HasSubstr("none.onnx"));
  }
  EXPECT_EQ(CodeOf([] { return Network::zoo("poem"); }), ErrorCode::kNotFound);
  EXPECT_EQ(CodeOf([] { return Squeezenet().run({}); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([] { return Squeezenet().tuning(); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([] { return Squeezenet().compile({.cpus = {"z80"}}); }), ErrorCode::kInvalid);
  EXPECT_EQ(CodeOf([] { return Squeezenet().optimize({.passes = "fly"}); }), ErrorCode::kInvalid);
}

TEST_F(LibraryTest, SaysWhatAFileDeclares) {
  const NamedTensors samples[] = {Inputs(1)};
  Squeezenet().quantize(samples, {.equalizes = false, .threads = 1}).save_onnx(folder_ / "net8.onnx");
  const ModelDeclaration declared = declaration(folder_ / "net8.onnx");
  ASSERT_EQ(declared.inputs.size(), 1);
  EXPECT_EQ(declared.inputs[0].name, "input");
  EXPECT_THAT(declared.inputs[0].dims, ElementsAre("1", "3", "224", "224"));
  ASSERT_EQ(declared.outputs.size(), 1);
  EXPECT_THAT(declared.outputs[0].shape, ElementsAre(1, 1000));
  EXPECT_THAT(declared.about, Contains(Key("producer_name")));
  EXPECT_THAT(declared.files, IsEmpty());
  EXPECT_THAT(declared.unsupported, IsEmpty());
  EXPECT_FALSE(declared.is_compiled);
  EXPECT_EQ(CodeOf([&] { return declaration(folder_ / "none.onnx"); }), ErrorCode::kNotFound);
}

TEST_F(LibraryTest, DeclaringAnArtifactRunsNoneOfItsCode) {
  // Code for another processor cannot be loaded, but described.
  ASSERT_TRUE(WriteFileAtomically(folder_ / "net.onnx", *BuildZooModel("squeezenet1_1")).ok());
  attune::CompileOptions options;
  options.target = *TargetByName("x86-64-v3");
  options.target.required_features.push_back("instructions-of-the-future");
  const attune::Network compiled = attune::Network::Load(folder_ / "net.onnx").Optimize().Compile(options);
  ASSERT_TRUE(compiled.Save(folder_ / "other.atn").status().ok());
  EXPECT_EQ(CodeOf([&] { return Network::load(folder_ / "other.atn"); }), ErrorCode::kInvalid);
  const ModelDeclaration declared = declaration(folder_ / "other.atn");
  ASSERT_EQ(declared.inputs.size(), 1);
  EXPECT_EQ(declared.inputs[0].name, "input");
}

TEST_F(LibraryTest, ANetworkIsForADevice) {
  const Device here = Device::here();
  EXPECT_TRUE(here.is_here());
  EXPECT_FALSE(here.cpu().empty());
  EXPECT_GT(here.processors(), 0);
  const NamedTensors inputs = Inputs(1), outputs = Squeezenet().on(here).run(inputs, 1);
  EXPECT_TRUE(std::ranges::equal(outputs[0].tensor.bytes(), Squeezenet().run(inputs, 1)[0].tensor.bytes()));
}

TEST_F(LibraryTest, WhoHasJoinedNoFleetFindsNoDevice) {
  for (const char* variable : {"ATTUNE_FLEET", "ATTUNE_SERVER"})
    ASSERT_EQ(setenv(variable, folder_.path().c_str(), /*overwrite=*/1), 0);
  EXPECT_EQ(CodeOf([] { return Device::in_fleet("desk"); }), ErrorCode::kNotFound);
}

TEST_F(LibraryTest, RecordsThatAreMissingAreNotCopied) {
  const std::string missing = folder_ / "missing.db", copy = folder_ / "copy.db";
  EXPECT_EQ(CodeOf([&] { return copy_records(missing, copy); }), ErrorCode::kNotFound);
}

TEST_F(LibraryTest, SaysItsVersionBuildAndRecords) {
  EXPECT_FALSE(records_path().empty());
  EXPECT_EQ(version(), attune_version());
  EXPECT_EQ(build_id().size(), 32);
}

}  // namespace
}  // namespace attune::compiler
