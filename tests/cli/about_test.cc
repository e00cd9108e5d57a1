// The commands that say what Attune runs on: operators, doctor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "run_attune.h"

namespace attune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(OperatorsCommand, ListsEachFormat) {
  const Outcome text = RunAttune({"operators"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("ONNX: "), HasSubstr("ConvTranspose,"), HasSubstr("CONV_2D"),
                              HasSubstr("aten.relu"), HasSubstr("RandomNormal (it makes random numbers)")));
  const json all = json::parse(RunAttune({"operators", "--json", "-"}).out);
  EXPECT_EQ(all["formats"].size(), 4);
  for (const json& format : all["formats"]) EXPECT_GT(format["operators"].size(), 100) << format["format"];
}

TEST(OperatorsCommand, ListsOneFormat) {
  EXPECT_THAT(RunAttune({"operators", "--format", "tflite"}).out,
              AllOf(HasSubstr("TensorFlow Lite: "), Not(HasSubstr("ONNX"))));
  const json one = json::parse(RunAttune({"operators", "--format", "onnx", "--json", "-"}).out);
  EXPECT_EQ(one["formats"].size(), 1);
  EXPECT_EQ(RunAttune({"operators", "--format", "caffe"}).exit_code, 2);
}

TEST(DoctorCommand, SaysWhatThereIs) {
  const Outcome text = RunAttune({"doctor"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  for (const char* name : {"version", "processor", "threads", "system", "memory", "frequency", "load",
                           "records", "cache", "sandbox", "fleet", "server"})
    EXPECT_THAT(text.out, HasSubstr(name));
  const json report = json::parse(RunAttune({"doctor", "--json", "-"}).out);
  EXPECT_GE(report["checks"]["threads"]["default"], 1);
  EXPECT_FALSE(report["checks"]["version"]["llvm"].get<std::string>().empty());
  for (const auto& [name, check] : report["checks"].items())
    EXPECT_EQ(check["ok"], !check.contains("way_out")) << name;
}

// People paste the report where everyone reads it.
TEST(DoctorCommand, NamesNoUser) {
  TemporaryFolder folder;
  const std::string home = folder / "somebody";
  std::filesystem::create_directories(home + "/.config");
  RunOptions options = {.environment = {{"HOME", home}, {"XDG_CONFIG_HOME", ""}, {"XDG_CACHE_HOME", ""}}};
  options.records = home + "/records.db";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"doctor"}, {"doctor", "--json", "-"}}) {
    const Outcome outcome = RunAttune(arguments, options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("~/records.db"), HasSubstr("~/.cache/attune"), Not(HasSubstr("somebody"))));
  }
}

TEST(Device, CpuIsThisMachineAndOthersAreRefused) {
  TemporaryFolder folder;
  const std::string model = folder / "net.onnx";
  ASSERT_EQ(RunAttune({"zoo", "squeezenet1_1", "-o", model}).exit_code, 0);
  const Outcome here = RunAttune({"compile", model, "--on", "cpu", "-o", folder / "net.atn"});
  EXPECT_EQ(here.exit_code, 0) << here.err;
  const Outcome cuda = RunAttune({"bench", model, "--on", "cuda:0"});
  EXPECT_EQ(cuda.exit_code, 1);
  EXPECT_THAT(cuda.err, AllOf(HasSubstr("x86-64 processors alone"), HasSubstr("give cpu")));
  const Outcome arm = RunAttune({"compile", model, "--cpu", "cortex-a72", "-o", folder / "arm.atn"});
  EXPECT_EQ(arm.exit_code, 2);
  EXPECT_THAT(arm.err, AllOf(HasSubstr("x86-64 processors with AVX2 or later"), HasSubstr("znver4")));
}

}  // namespace
}  // namespace attune
