// Commands that fail: one clear sentence on stderr, exit code 1 (2 for wrong
// usage), nothing left behind, no crash, and little time and memory spent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "expect_refused.h"
#include "io/npy.h"
#include "models.h"
#include "run_attune.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class BadInputTest : public ::testing::Test {
 protected:
  BadInputTest() {
    const float x[] = {1, -2, 3, -4};
    EXPECT_TRUE(WriteNpy(input_, Tensor::FromFloats(x, {1, 4})).ok());
  }

  std::string Compiled() {
    EXPECT_EQ(RunAttune({"compile", model_, "-o", artifact_}).exit_code, 0);
    std::ifstream file(artifact_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  TemporaryFolder folder_;
  const std::string model_ = folder_.Write("scores.onnx", ScoresModel());
  const std::string artifact_ = folder_ / "scores.atn";
  const std::string input_ = folder_ / "x.npy";
};

TEST_F(BadInputTest, WrongUsageExitsWithTwo) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"frobnicate"},
      {"compile", model_},
      {"compile", "-o", artifact_},
      {"run"},
      {"run", model_, "--unknown"},
      {"records"},
      {"records", "prune"},
      {"records", "list", "--task", "conv"},
      {"bench", model_, "--threads", "0"},
      {"bench", model_, "--threads", "many"},
      {"bench", model_, "--seconds", "-1"},
      {"compile", model_, "-o", artifact_, "--cpu", "z80"},
      {"compile", model_, "-o", artifact_, "--precision", "fp12"},
      {"compile", model_, "-o", artifact_, "--weights", "fp8"},
      {"run", model_, "--shape", "x"},
      {"run", model_, "--shape", "x=1x-4"},
      {"run", model_, "--shape", "x=1x4x"},
      {"run", model_, "--shape", "x=x1"},
      {"run", model_, "--shape", "x=1xx4"},
      {"verify", model_, "--seed", "-1"},
      {"zoo", "resnet18", "-o", artifact_, "--seed", "-1"},
      {"run", model_, "--image-mean", "1,2"},
      {"run", model_, "--image-std", "many"},
      {"run", model_, "--image-order", "gbr"},
      {"run", model_, "--image-resize", "fit"},
      {"run", model_, "--preprocess", "keras"},
      {"zoo", "resnet18"},
      {"inspect", model_, "--log-level", "loud"},
      {"compile", model_, "-o", "-", "--json", "-"},
      {"compile", model_, "-o", "/dev/stdout", "--json", "-"},
      {"records", "export", "-", "--json", "-"},
      {"tune", model_, "-o", "-", "--events", "-"},
  };
  for (const std::vector<std::string>& arguments : wrong) {
    const Outcome outcome = RunAttune(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << ::testing::PrintToString(arguments) << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("attune: "));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_THAT(folder_.Files(), ElementsAre("scores.onnx", "x.npy"));
}

TEST_F(BadInputTest, AShapeIsGivenOnce) {
  ExpectRefused(RunAttune({"run", model_, "--shape", "x=1x4", "--shape", "x=1x4"}), "\"x\" is given twice");
}

// A name that would control the terminal and begin a line of its own.
TEST_F(BadInputTest, NamesStayInTheirLine) {
  const std::string name = "\x1B]0;PWN\x07\nattune: fake";
  const std::string path = folder_.Write("names.onnx", ChainModel({"Relu"}, name));
  const std::vector<std::vector<std::string>> commands = {
      {"run", path, "--input", "x=random:0"}, {"verify", path}, {"inspect", path}, {"profile", path}};
  for (const std::vector<std::string>& command : commands) {
    const Outcome outcome = RunAttune(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(Not(HasSubstr("\x1B")), Not(HasSubstr("\nattune: fake")))) << command[0];
  }
  const Outcome json = RunAttune({"run", path, "--input", "x=random:0", "--json", "-"});
  EXPECT_THAT(json.out, HasSubstr("\\u001b]0;PWN\\u0007\\nattune: fake"));
  const Outcome unknown = RunAttune({"run", folder_.Write("unknown.onnx", ChainModel({"Frobnicate"}, name))});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_EQ(Lines(unknown.err), 1) << unknown.err;
  EXPECT_THAT(unknown.err, AllOf(StartsWith("not supported: Frobnicate "), Not(HasSubstr("\x1B"))));
}

TEST_F(BadInputTest, FilesThatAreNoModels) {
  const std::string model = ScoresModel();
  std::string random;
  for (unsigned i = 0, x = 1; i < 1000; ++i)
    random.push_back(static_cast<char>((x = x * 1103515245 + 12345) >> 16));
  const std::vector<std::pair<std::string, std::string>> files = {
      {"empty", ""}, {"cut", model.substr(0, model.size() - 9)}, {"random", random}, {"text", "hello\n"}};
  for (const auto& [name, content] : files) {
    const std::string path = folder_.Write(name, content);
    for (const char* command : {"run", "bench", "verify", "profile", "inspect"}) {
      ExpectRefused(RunAttune({command, path}), path);
    }
    ExpectRefused(RunAttune({"compile", path, "-o", artifact_}), path);
  }
  ExpectRefused(RunAttune({"run", folder_ / "absent.onnx"}), "absent.onnx");
  ExpectRefused(RunAttune({"run", folder_.path()}), "directory");
  ExpectRefused(RunAttune({"run", folder_.Write("cyclic.onnx", CyclicModel())}), "cyclic.onnx");
  EXPECT_THAT(folder_.Files(), ::testing::Not(::testing::Contains("scores.atn")));
}

TEST_F(BadInputTest, RefusingASmallFileIsCheap) {
  const int64_t empty_kib = RunAttune({"--version"}).peak_kib;
  const std::string huge = ScoresModel({"1000000", "1000000", "4"});
  const std::string overflow = ScoresModel({"4611686018427387904", "4611686018427387904", "4"});
  for (const std::string& content :
       {std::string(1000, '\xFF'), huge, overflow, ScoresModel().substr(0, 100)}) {
    const Outcome outcome = RunAttune({"run", folder_.Write("small.onnx", content)});
    ExpectRefused(outcome, "small.onnx");
    EXPECT_LT(outcome.peak_kib - empty_kib, 16 * 1024);
  }
}

TEST_F(BadInputTest, BitFlipsNeverCrash) {
  const std::string model = ScoresModel();
  for (size_t byte = 0; byte < model.size(); byte += 7) {
    std::string flipped = model;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << byte % 8));
    const Outcome outcome = RunAttune({"compile", folder_.Write("flipped.onnx", flipped), "-o", artifact_});
    EXPECT_THAT(outcome.exit_code, ::testing::AnyOf(0, 1)) << byte << outcome.err;
  }
}

TEST_F(BadInputTest, UnsupportedOperatorsAreListedAtOnce) {
  const std::string path = folder_.Write("chain.onnx", ChainModel({"Frobnicate", "Relu", "Quuxify"}));
  const Outcome outcome = RunAttune({"compile", path, "-o", artifact_});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(Lines(outcome.err), 2) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(StartsWith("not supported: Frobnicate node_v0: "),
                                 HasSubstr("\nnot supported: Quuxify node_v2: ")));
  // Each error says what to do and where.
  EXPECT_THAT(outcome.err, EndsWith(absl::StrCat("; export the model without it (in ", path, ")\n")));
  const Outcome precision = RunAttune({"compile", model_, "-o", artifact_, "--precision", "fp16"});
  EXPECT_EQ(precision.exit_code, 1);
  EXPECT_THAT(precision.err, StartsWith("not supported: precision fp16: "));
  const Outcome integers = RunAttune({"compile", model_, "-o", artifact_, "--precision", "int8"});
  EXPECT_EQ(integers.exit_code, 1);
  EXPECT_THAT(integers.err, HasSubstr("--precision int8: which integers stand for which numbers"));
}

TEST_F(BadInputTest, Artifacts) {
  const std::string bytes = Compiled();
  ASSERT_GT(bytes.size(), 1000);
  const std::string input = "x=" + input_;
  ExpectRefused(
      RunAttune({"run", folder_.Write("cut.atn", bytes.substr(0, bytes.size() / 2)), "--input", input}),
      "cut short");
  std::string changed = bytes;
  changed[200] = static_cast<char>(changed[200] ^ 4);
  ExpectRefused(RunAttune({"run", folder_.Write("changed.atn", changed), "--input", input}), "changed.atn");
  changed = bytes;
  changed[8] = 99;  // the version of the format
  ExpectRefused(RunAttune({"run", folder_.Write("version.atn", changed), "--input", input}), "version");
  ExpectRefused(RunAttune({"verify", artifact_}), "compiled already");
  ExpectRefused(RunAttune({"compile", artifact_, "-o", folder_ / "again.atn"}), "compiled already");
  ExpectRefused(RunAttune({"run", artifact_, "--passes", "plan"}), "--passes");
  ExpectRefused(RunAttune({"run", artifact_, "--weights", "fp16"}), "--weights");
  ExpectRefused(RunAttune({"run", artifact_, "--compact"}), "--compact");
}

TEST_F(BadInputTest, Inputs) {
  const float y[] = {1, 2, 3};
  ASSERT_TRUE(WriteNpy(folder_ / "three.npy", Tensor::FromFloats(y, {1, 3})).ok());
  ASSERT_TRUE(WriteNpy(folder_ / "ints.npy", Tensor(DType::kI32, {1, 4})).ok());
  Compiled();
  for (const std::string& what : {model_, artifact_}) {
    ExpectRefused(RunAttune({"run", what}), "input \"x\" (f32[1,4]) has no value");
    ExpectRefused(RunAttune({"run", what, "--input", "z=" + input_}), "the inputs are x f32[1,4]");
    ExpectRefused(RunAttune({"run", what, "--input", "x=" + folder_.path() + "/absent.npy"}), "absent.npy");
    ExpectRefused(RunAttune({"run", what, "--input", "x=" + (folder_ / "three.npy")}),
                  "must be f32[1,4], not f32[1,3]");
    ExpectRefused(RunAttune({"run", what, "--input", "x=" + (folder_ / "ints.npy")}),
                  "must be f32[1,4], not i32[1,4]");
    ExpectRefused(RunAttune({"run", what, "--input", folder_.Write("short.bin", "abc")}), "short.bin");
    ExpectRefused(RunAttune({"run", what, "--input", folder_.Write("bad.jpg", "abc")}), "bad.jpg");
    ExpectRefused(RunAttune({"run", what, "--input", "x=random:x"}), "seed");
    ExpectRefused(RunAttune({"run", what, "--input", input_, "--input", "x=random:1"}), "given twice");
    ExpectRefused(RunAttune({"run", what, "--shape", "x=2x4", "--input", input_}), "does not fit");
  }
  ExpectRefused(RunAttune({"run", folder_.Write("open.onnx", ScoresModel({"N", "4"}))}), "open.onnx");
}

TEST_F(BadInputTest, OutputsThatCannotBeWritten) {
  ExpectRefused(RunAttune({"compile", model_, "-o", folder_ / "absent/scores.atn"}), "absent/scores.atn");
  ExpectRefused(RunAttune({"compile", model_, "-o", folder_.path()}), folder_.path());
  // A limit on a file's size stands for a full disk: write() fails halfway.
  ExpectRefused(RunAttune({"compile", model_, "-o", artifact_}, {.max_file_bytes = 2000}), "scores.atn");
  EXPECT_THAT(folder_.Files(), ElementsAre("scores.onnx", "x.npy"));
  const Outcome full = RunAttune({"zoo"}, {.standard_output = "/dev/full"});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.err, "attune: cannot write to standard output; is its disk full?\n");
}

TEST_F(BadInputTest, NoPipeIsWaitedFor) {
  Compiled();
  const std::string pipe = folder_ / "pipe", records = folder_ / "records.db";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::vector<std::string>> read = {
      {"inspect", pipe},
      {"compile", pipe, "-o", folder_ / "other.atn"},
      {"run", model_, "--input", pipe},
      {"run", model_, "--input", input_, "--labels", pipe},
      {"run", model_, "--input", input_, "--passes", pipe},
      {"run", artifact_, "--input", input_, "--trusted", pipe},
      {"run", model_, "--input", input_, "--dump", pipe},
      {"run", model_, "--input", input_, "--records", pipe},
      {"quantize", model_, "--data", pipe, "-o", folder_ / "integers.onnx"},
      {"tune", model_, "--records", records, "--cost-model", pipe},
      {"tune", model_, "--records", pipe},
      {"records", "list", "--records", pipe},
      {"records", "merge", pipe, "--records", records},
      {"records", "import", pipe, "--records", records},
  };
  for (const std::vector<std::string>& arguments : read) ExpectRefused(RunAttune(arguments), pipe);
  const std::vector<std::vector<std::string>> written = {
      {"compile", model_, "-o", pipe},      {"compile", model_, "-o", artifact_, "--json", pipe},
      {"zoo", "squeezenet1_1", "-o", pipe}, {"tune", model_, "--records", records, "--events", pipe},
      {"verify", model_, "--json", pipe},
  };
  for (const std::vector<std::string>& arguments : written)
    ExpectRefused(RunAttune(arguments), pipe + ": cannot write: it is a pipe without a reader");
}

TEST_F(BadInputTest, PlansAndLabels) {
  ExpectRefused(
      RunAttune({"run", model_, "--input", input_, "--passes", folder_.Write("plan", "no_such_pass\n")}),
      "no_such_pass");
  ExpectRefused(RunAttune({"run", model_, "--input", input_, "--passes", folder_ / "absent"}), "absent");
  ExpectRefused(RunAttune({"run", model_, "--input", input_, "--labels", folder_ / "absent"}), "absent");
  ExpectRefused(RunAttune({"zoo", "no_such_network", "-o", folder_ / "n.onnx"}), "resnet50");
}

// A token that the vocabulary does not have.
TEST_F(BadInputTest, AnIndexOutOfRangeEndsTheRun) {
  const std::string model = folder_.Write("words.onnx", EmbeddingModel());
  const std::string ids = folder_ / "ids.npy", clamped = folder_ / "clamped.atn";
  ASSERT_TRUE(WriteNpy(ids, Tensor::FromInts(std::vector<int64_t>{0, 4, -4}).Reshaped({1, 3})).ok());
  const std::string sentence = "gather \"node_rows\": index 4 is outside an axis of size 4";
  ExpectRefused(RunAttune({"run", model, "--input", ids}), sentence);
  EXPECT_EQ(RunAttune({"compile", model, "-o", artifact_}).exit_code, 0);
  ExpectRefused(RunAttune({"run", artifact_, "--input", ids, "--threads", "2"}), sentence);
  EXPECT_THAT(RunAttune({"inspect", artifact_}).out, Not(HasSubstr("--unchecked-indices")));

  const Outcome run = RunAttune({"run", model, "--input", ids, "--unchecked-indices"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("31"));
  EXPECT_EQ(RunAttune({"compile", model, "-o", clamped, "--unchecked-indices"}).exit_code, 0);
  EXPECT_EQ(RunAttune({"run", clamped, "--input", ids}).exit_code, 0);
  EXPECT_THAT(RunAttune({"inspect", clamped}).out,
              HasSubstr("out of range are clamped (--unchecked-indices)"));
  EXPECT_THAT(RunAttune({"inspect", clamped, "--json", "-"}).out, HasSubstr("\"unchecked_indices\": true"));
  ExpectRefused(RunAttune({"run", artifact_, "--input", ids, "--unchecked-indices"}),
                "--unchecked-indices has no effect");
}

}  // namespace
}  // namespace attune
