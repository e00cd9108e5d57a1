// Commands that succeed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "io/npy.h"
#include "io/read_npy_for_test.h"
#include "models.h"
#include "nlohmann/json.hpp"
#include "run_attune.h"

namespace attune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CliTest : public ::testing::Test {
 protected:
  CliTest() {
    const float x[] = {1, -2, 3, -4};
    EXPECT_TRUE(WriteNpy(input_, Tensor::FromFloats(x, {1, 4})).ok());
  }

  // The command's outcome; the command must succeed.
  static Outcome Do(const std::vector<std::string>& arguments) {
    Outcome outcome = RunAttune(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, AnyOf("", HasSubstr("the machine is busy")));
    return outcome;
  }

  // The JSON that a command which measures has printed; a note tells if other programs have disturbed it.
  static json Measured(const std::vector<std::string>& arguments) {
    const Outcome outcome = RunAttune(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    json measured = json::parse(outcome.out);
    constexpr double kDisturbed = 0.1;
    if (measured["waited_share"].get<double>() < kDisturbed) {
      EXPECT_EQ(outcome.err, "");
    } else {
      EXPECT_THAT(outcome.err, HasSubstr("note: the machine is busy"));
    }
    return measured;
  }

  TemporaryFolder folder_;
  const std::string model_ = folder_.Write("scores.onnx", ScoresModel());
  const std::string artifact_ = folder_ / "scores.atn";
  const std::string input_ = folder_ / "x.npy";
};

TEST_F(CliTest, HelpAndVersionGoToStdout) {
  EXPECT_THAT(Do({"--help"}).out, HasSubstr("compile"));
  EXPECT_THAT(Do({"run", "--help"}).out, HasSubstr("--input"));
  EXPECT_THAT(Do({"--version"}).out, HasSubstr("attune "));
}

TEST_F(CliTest, HelpSaysWhereAnArtifactWillDo) {
  for (const char* command : {"run", "bench", "profile", "inspect"})
    EXPECT_THAT(Do({command, "--help"}).out, HasSubstr("or an artifact that attune compile made")) << command;
  for (const char* command : {"verify", "compile", "tune"})
    EXPECT_THAT(Do({command, "--help"}).out, Not(HasSubstr("or an artifact that attune compile made")))
        << command;
}

TEST_F(CliTest, HelpHasTheOptionsOfTheTable) {
  EXPECT_THAT(Do({"compile", "--help"}).out, AllOf(HasSubstr("--unchecked-indices"), HasSubstr("x86-64-v3"),
                                                   HasSubstr("(default: this machine)")));
  EXPECT_THAT(
      Do({"tune", "--help"}).out,
      AllOf(HasSubstr("--trials-per-task"), HasSubstr("in [1 - 1000000000]"), HasSubstr("--no-layouts"),
            HasSubstr("how to search: annealing, "), HasSubstr("(default: 32)")));
  EXPECT_THAT(Do({"quantize", "--help"}).out, AllOf(HasSubstr("--max-drop"), HasSubstr("(default: 99.99)")));
}

TEST_F(CliTest, EachCommandTakesTheLevelOfTheLog) {
  EXPECT_THAT(Do({"records", "list", "--help"}).out, HasSubstr("--log-level"));
  Do({"--log-level", "off", "inspect", model_, "--log-level", "warning"});
  EXPECT_THAT(Do({"--log-level", "off", "server", "--help"}).out, HasSubstr("Serve a fleet"));
  EXPECT_EQ(RunAttune({"inspect", model_}, {.environment = {{"ATTUNE_LOG_LEVEL", "error"}}}).exit_code, 0);
  const Outcome debug = RunAttune({"compile", model_, "-o", artifact_, "--log-level", "debug"});
  EXPECT_THAT(debug.err, HasSubstr(" debug: pass applied pass=fuse seconds="));
  EXPECT_THAT(debug.err, HasSubstr(" debug: compiled model=scores.onnx kernels="));
  const Outcome wrong = RunAttune({"inspect", model_}, {.environment = {{"ATTUNE_LOG_LEVEL", "loud"}}});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("ATTUNE_LOG_LEVEL: 'loud' is not a level"));
}

TEST_F(CliTest, CompilesAndRuns) {
  EXPECT_THAT(Do({"compile", model_, "-o", artifact_}).out, HasSubstr("kernels"));
  for (const std::string& what : {model_, artifact_}) {
    const std::string outputs = folder_ / "outputs";
    const Outcome run = Do({"run", what, "--input", "x=" + input_, "--output", outputs, "--top", "2"});
    EXPECT_THAT(run.out, HasSubstr("scores f32[1,4]: from 0 to 4.5"));
    const absl::StatusOr<Tensor> scores = ReadNpy(outputs + "/scores.npy");
    ASSERT_TRUE(scores.ok()) << scores.status();
    EXPECT_THAT(scores->as<float>(), ElementsAre(1.5f, 0.0f, 4.5f, 0.0f));
  }
}

TEST_F(CliTest, NamesTheTopClasses) {
  const std::string labels = folder_.Write("labels.txt", "cat\ndog\nbird\nfish\n");
  const Outcome run = Do({"run", model_, "--input", input_, "--labels", labels, "--top", "2", "--json", "-"});
  const json output = json::parse(run.out)["outputs"][0];
  EXPECT_EQ(output["name"], "scores");
  EXPECT_EQ(output["shape"], json({1, 4}));
  EXPECT_EQ(output["values"], json({1.5, 0.0, 4.5, 0.0}));
  ASSERT_EQ(output["top"].size(), 2);
  EXPECT_EQ(output["top"][0]["label"], "bird");
  EXPECT_EQ(output["top"][1]["label"], "cat");
}

TEST_F(CliTest, TakesRawBytesAndRandomNumbers) {
  const float x[] = {1, 1, 1, 1};
  const std::string raw = folder_.Write("x.bin", std::string(reinterpret_cast<const char*>(x), sizeof(x)));
  const Outcome run = Do({"run", model_, "--input", raw, "--json", "-"});
  EXPECT_EQ(json::parse(run.out)["outputs"][0]["values"], json({1.5, 2.0, 2.5, 3.0}));
  const auto random = [&](const std::string& seed) {
    return Do({"run", model_, "--input", "x=random:" + seed, "--json", "-"}).out;
  };
  EXPECT_EQ(random("1"), random("1"));
  EXPECT_NE(random("1"), random("2"));
}

TEST_F(CliTest, TakesOpenDimensionsFromShapesAndInputs) {
  const std::string open = folder_.Write("open.onnx", ScoresModel({"N", "4"}));
  const Outcome from_input = Do({"run", open, "--input", input_, "--json", "-"});
  EXPECT_EQ(json::parse(from_input.out)["outputs"][0]["shape"], json({1, 4}));
  const Outcome from_shape = Do({"run", open, "--shape", "x=3x4", "--input", "x=random:0", "--json", "-"});
  EXPECT_EQ(json::parse(from_shape.out)["outputs"][0]["shape"], json({3, 4}));
}

// Every command that compiles makes the same decision, from what its inputs show.
TEST_F(CliTest, BF16SaysWhichLayersErr) {
  const std::string products = folder_.Write("products.onnx", ProductsModel());
  const auto with_inputs = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {products, "--precision", "bf16", "--input", "x=" + input_});
    return RunAttune(arguments);
  };
  const Outcome compiled = with_inputs({"compile", "-o", artifact_});
  if (compiled.err.find("has no avx512_bf16") != std::string::npos) GTEST_SKIP() << compiled.err;
  EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
  constexpr std::string_view kLayers = "1 of 2 layers; in f32 by their error: node_difference (";
  EXPECT_THAT(compiled.out, HasSubstr(kLayers));
  EXPECT_THAT(compiled.out, HasSubstr("output \"difference\" differs by 0 of its root mean square"));
  for (const char* command : {"run", "verify"}) {
    const Outcome outcome = with_inputs({command, "--json", "-"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.err, HasSubstr(kLayers));
    const json bf16 = json::parse(outcome.out)["bf16"];
    EXPECT_EQ(bf16["layers"][0]["precision"], "bf16");
    EXPECT_LT(bf16["layers"][0]["error"], 0.01);
    EXPECT_EQ(bf16["layers"][1]["precision"], "fp32");
    EXPECT_GT(bf16["layers"][1]["error"], 0.9);
    EXPECT_EQ(bf16["outputs"][1]["name"], "difference");
  }
}

TEST_F(CliTest, BF16x3IsCheckedByABoundOfItsOwn) {
  const std::string convolutions = folder_.Write("convolutions.onnx", ConvolutionsModel());
  const Outcome refused =
      RunAttune({"compile", convolutions, "--precision", "bf16x3", "--cpu", "x86-64-v3", "-o", artifact_});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("not supported: precision bf16x3: x86-64-v3 has no amx_bf16"));
  const Outcome compiled =
      Do({"compile", convolutions, "--precision", "bf16x3", "--cpu", "sapphirerapids", "-o", artifact_});
  EXPECT_THAT(compiled.out, HasSubstr("bf16x3    "));
  const Outcome verified = RunAttune({"verify", convolutions, "--precision", "bf16x3", "--json", "-"});
  if (verified.err.find("has no amx_bf16") != std::string::npos) GTEST_SKIP() << verified.err;
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  const json report = json::parse(verified.out);
  EXPECT_LT(report["outputs"][0]["rms_error"], 1e-4 * report["outputs"][0]["rms_expected"].get<double>());
  for (const json& layer : report["bf16x3"]["layers"]) EXPECT_TRUE(layer["error"].is_null());
}

// The numbers are the same, whether or not a model of integers is written in between.
TEST_F(CliTest, QuantizesBySamples) {
  const std::string model = folder_.Write("convolutions.onnx", ConvolutionsModel());
  const std::string data = folder_ / "data", quantized = folder_ / "quantized.onnx";
  std::filesystem::create_directory(data);
  std::vector<float> numbers(16 * 14 * 14);
  for (int sample = 0; sample < 8; ++sample) {
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = std::sin(static_cast<float>(i * i % 997) + static_cast<float>(sample));
    const Tensor x = Tensor::FromFloats(numbers, {1, 16, 14, 14});
    ASSERT_TRUE(WriteNpy(absl::StrCat(data, "/", sample, ".npy"), x).ok());
  }
  const std::string one = data + "/0.npy", outputs = folder_ / "outputs", others = folder_ / "others";
  const Outcome compiled =
      Do({"compile", model, "--precision", "int8", "--data", data, "-o", artifact_, "--json", folder_ / "c"});
  EXPECT_THAT(compiled.out, HasSubstr("2 of 2 layers quantized"));
  Do({"run", artifact_, "--input", one, "--output", outputs});
  const json report =
      json::parse(Do({"quantize", model, "--data", data, "-o", quantized, "--json", "-"}).out);
  EXPECT_EQ(report["held_back_samples"], 2);
  EXPECT_EQ(report["shares_of_multiply_adds"]["int8"], 1);
  for (const json& layer : report["layers"]) EXPECT_GT(layer["seconds"]["f32"], 0);
  Do({"run", quantized, "--input", one, "--output", others});
  const absl::StatusOr<Tensor> at_once = ReadNpy(outputs + "/y.npy"), by_file = ReadNpy(others + "/y.npy");
  ASSERT_TRUE(at_once.ok() && by_file.ok()) << at_once.status() << by_file.status();
  EXPECT_TRUE(at_once->Identical(*by_file));
  Do({"compile", model, "--precision", "auto", "--data", data, "--max-drop", "0.1%", "-o", artifact_});
}

TEST_F(CliTest, BenchGivesEveryLatency) {
  Do({"compile", model_, "-o", artifact_});
  for (const std::string& what : {model_, artifact_}) {
    const json result = Measured({"bench", what, "--threads", "1", "--seconds", "0.01", "--json", "-"});
    const json latencies = result["latency_ms"];
    EXPECT_GT(result["wall_seconds"], 0);
    EXPECT_GE(result["processor_seconds"], 0);
    EXPECT_GE(result["waited_share"], 0);
    EXPECT_GE(latencies.size(), 3);
    for (const json& latency : latencies) EXPECT_GT(latency.get<double>(), 0);
  }
}

TEST_F(CliTest, VerifyReportsEachOutput) {
  EXPECT_THAT(Do({"verify", model_}).out, HasSubstr("ok   scores: "));
  const json report = json::parse(Do({"verify", model_, "--json", "-"}).out);
  EXPECT_EQ(report["ok"], true);
  EXPECT_EQ(report["outputs"][0]["elements"], 4);
}

TEST_F(CliTest, ProfileHasARowAKernel) {
  EXPECT_THAT(RunAttune({"profile", model_, "--threads", "1"}).out, HasSubstr("GFLOP/s"));
  const json profile = Measured({"profile", model_, "--threads", "1", "--json", "-"});
  ASSERT_GE(profile["kernels"].size(), 1);
  EXPECT_GT(profile["kernels"][0]["ms"].get<double>(), 0);
  EXPECT_GT(profile["wall_seconds"], 0);
  EXPECT_GE(profile["processor_seconds"], 0);
}

TEST_F(CliTest, InspectShowsGraphMemoryAndKernels) {
  const std::string text = Do({"inspect", model_}).out;
  for (const char* part : {"scores.onnx", "graph @", "Memory plan", "Kernels"})
    EXPECT_THAT(text, HasSubstr(part));
  Do({"compile", model_, "-o", artifact_});
  json of_model = json::parse(Do({"inspect", model_, "--json", "-"}).out);
  EXPECT_EQ(of_model["contractions"], json::array());
  of_model.erase("contractions");
  EXPECT_EQ(json::parse(Do({"inspect", artifact_, "--json", "-"}).out), of_model);
}

TEST_F(CliTest, SlowContractionsAreSaid) {
  const std::string model = folder_.Write("slow.onnx", SlowProductModel());
  const std::string reason = "gemm: neither floats nor i32";
  EXPECT_THAT(
      Do({"compile", model, "-o", artifact_}).out,
      HasSubstr(
          "  slow      1 of 2 contractions use the plain loops, 75.0 % of the multiply-adds: node_long (" +
          reason + ")\n"));
  Do({"compile", model, "-o", artifact_, "--json", folder_ / "c"});
  std::ifstream file(folder_ / "c");
  const json slow = json::parse(file)["slow_contractions"];
  EXPECT_EQ(slow["count"], 1);
  EXPECT_EQ(slow["of"], 2);
  EXPECT_EQ(slow["list"][0]["reason"], reason);

  const json inspected = json::parse(Do({"inspect", model, "--contractions", "--json", "-"}).out);
  EXPECT_EQ(inspected["contractions"],
            json::parse(Do({"inspect", model, "--json", "-"}).out)["contractions"]);
  ASSERT_EQ(inspected["contractions"].size(), 2);
  for (const json& product : inspected["contractions"]) {
    const bool is_long = product["label"] == "node_long";
    EXPECT_EQ(product["slow"], is_long);
    EXPECT_EQ(product["multiply_adds"], is_long ? 12 : 4);
    EXPECT_EQ(product["contraction"], "matmul");
    EXPECT_GT(product["refusals"].size(), 5);
  }
  EXPECT_THAT(Do({"inspect", model, "--contractions"}).out, HasSubstr("neither floats nor i32"));
  EXPECT_THAT(Do({"compile", model_, "-o", artifact_}).out, Not(HasSubstr("slow")));
}

TEST_F(CliTest, CompactArtifactsAreSmallerAndComputeTheSame) {
  const std::string model = folder_.Write("clustered.onnx", ClusteredModel());
  const std::string compact = folder_ / "compact.atn";
  Do({"compile", model, "-o", artifact_});
  EXPECT_THAT(Do({"compile", model, "-o", compact, "--compact"}).out, HasSubstr(" B in the file and "));
  const auto outputs = [&](const std::string& artifact) {
    return json::parse(Do({"run", artifact, "--input", "x=random:1", "--json", "-"}).out)["outputs"];
  };
  EXPECT_EQ(outputs(artifact_), outputs(compact));
  EXPECT_THAT(Do({"inspect", compact}).out, HasSubstr("indices of 5 bits"));
  const json description = json::parse(Do({"inspect", compact, "--json", "-"}).out);
  EXPECT_LT(description["bytes"]["constants_stored"], description["bytes"]["constants"]);
  EXPECT_EQ(json::parse(Do({"inspect", artifact_, "--json", "-"}).out)["weights"], json::array());
}

TEST_F(CliTest, WeightsInF16HoldInVerify) {
  const std::string model = folder_.Write("clustered.onnx", ClusteredModel());
  for (const char* weights : {"fp16", "bf16"})
    EXPECT_THAT(Do({"verify", model, "--weights", weights}).out, HasSubstr("ok   y: "));
  Do({"compile", model, "-o", artifact_, "--weights", "fp16"});
  const json description = json::parse(Do({"inspect", artifact_, "--json", "-"}).out);
  EXPECT_THAT(description["pass_plan"].get<std::string>(), HasSubstr("round_weights f16=1"));
  EXPECT_EQ(description["weights"].size(), 1u);
}

TEST_F(CliTest, APrintedPlanCompilesToTheSameBytes) {
  const std::string plan = folder_.Write("plan.txt", Do({"compile", "--passes", "print"}).out);
  const std::string again = folder_ / "again.atn";
  Do({"compile", model_, "-o", artifact_});
  Do({"compile", model_, "-o", again, "--passes", plan});
  EXPECT_EQ(Do({"inspect", artifact_, "--json", "-"}).out, Do({"inspect", again, "--json", "-"}).out);
}

TEST_F(CliTest, DumpsEachStage) {
  const TemporaryFolder dump;
  Do({"compile", model_, "-o", artifact_, "--dump", dump.path()});
  const std::vector<std::string> files = dump.Files();
  for (const char* extension : {".txt", ".json", ".loops", ".ll", ".s"}) {
    EXPECT_THAT(files, ::testing::Contains(::testing::EndsWith(extension)));
  }
}

TEST_F(CliTest, CompilationNeedsNoTemporaryFolder) {
  const Outcome outcome =
      RunAttune({"compile", model_, "-o", artifact_}, {.environment = {{"TMPDIR", folder_ / "absent"}}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(CliTest, OneFileMayGoToStdout) {
  Do({"compile", model_, "-o", artifact_});
  std::ifstream file(artifact_, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (const char* output : {"-", "/dev/stdout"})
    EXPECT_TRUE(Do({"compile", model_, "-o", output}).out == bytes) << output;
  Do({"zoo", "squeezenet1_1", "-o", folder_ / "zoo.onnx"});
  std::ifstream network(folder_ / "zoo.onnx", std::ios::binary);
  EXPECT_TRUE(Do({"zoo", "squeezenet1_1", "-o", "-"}).out ==
              std::string(std::istreambuf_iterator<char>(network), {}));
}

// Each run is interrupted a little later, until one ends before the signal.
TEST_F(CliTest, AnInterruptedCompilationLeavesNothing) {
  const TemporaryFolder temporary;
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    int interrupted = 0;
    for (bool is_over = false; !is_over; ++interrupted) {
      std::filesystem::remove(artifact_);
      int asked = 0;
      const Outcome outcome = RunAttune({"compile", model_, "-o", artifact_},
                                        {.environment = {{"TMPDIR", temporary.path()}},
                                         .signal_when = [&] { return asked++ == interrupted; },
                                         .signal = signal});
      is_over = outcome.exit_code == 0;
      EXPECT_THAT(temporary.Files(), IsEmpty());
      // The artifact may be complete although the process has not ended yet.
      EXPECT_THAT(folder_.Files(), AnyOf(ElementsAre("scores.onnx", "x.npy"),
                                         ElementsAre("scores.atn", "scores.onnx", "x.npy")));
    }
    EXPECT_GT(interrupted, 1);
    EXPECT_THAT(folder_.Files(), ElementsAre("scores.atn", "scores.onnx", "x.npy"));
  }
}

TEST_F(CliTest, CompilesForEveryProcessorItNames) {
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
    Do({"compile", model_, "-o", artifact_, "--cpu", cpu});
    EXPECT_THAT(Do({"inspect", artifact_}).out, HasSubstr(cpu));
  }
}

TEST_F(CliTest, ZooListsAndWrites) {
  EXPECT_THAT(Do({"zoo"}).out, HasSubstr("squeezenet1_1"));
  EXPECT_GE(json::parse(Do({"zoo", "--json", "-"}).out)["networks"].size(), 13);
  Do({"zoo", "squeezenet1_1", "-o", folder_ / "squeezenet.onnx"});
  EXPECT_THAT(folder_.Files(), ::testing::Contains("squeezenet.onnx"));
}

}  // namespace
}  // namespace attune
