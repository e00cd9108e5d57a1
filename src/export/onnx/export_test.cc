// Tests how outputs, names, regions and opsets are exported, and the errors for what ONNX lacks.
#include "export/onnx/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "export/onnx/graph_writer.h"
#include "export/onnx/round_trip_for_test.h"
#include "graph/text.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void ExpectTextRoundTrip(std::string_view text) {
  const absl::StatusOr<std::unique_ptr<Graph>> graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status() << text;
  ExpectRoundTrip(**graph);
}

TEST(OnnxExport, OutputsMayBeInputsConstantsAndTwice) {
  ExpectTextRoundTrip(R"(graph @g(%x: f32[2]) {
    %w = constant() {value = f32[2]<1, 2>} : f32[2]
    %y = add(%x, %w) : f32[2]
    return "x": %x, "w": %w, "y": %y, "again": %y
  })");
}

TEST(OnnxExport, NamesOfOutputsArePreferred) {
  // An inner value already has the name of an output.
  ExpectTextRoundTrip(R"(graph @g(%x: f32[2]) {
    %y = neg(%x) : f32[2]
    %z = abs(%y) : f32[2]
    return "y": %z
  })");
}

TEST(OnnxExport, BranchesCaptureValues) {
  ExpectTextRoundTrip(R"(graph @g(%c: bool[], %x: f32[2]) {
    %w = constant() {value = f32[2]<1, 2>} : f32[2]
    %s = add(%x, %w) : f32[2]
    %y, %z = if(%c, %s, %x) {
      graph(%a: f32[2], %b: f32[2]) {
        return "": %a, "": %b
      }
      graph(%a: f32[2], %b: f32[2]) {
        %k = constant() {value = f32[2]<3, 4>} : f32[2]
        %m = mul(%a, %k) : f32[2]
        return "": %m, "": %k
      }
    } : f32[2], f32[2]
    return "y": %y, "z": %z
  })");
}

TEST(OnnxExport, LoopsCarryValues) {
  ExpectTextRoundTrip(R"(graph @g(%n: i64[], %x: f32[2]) {
    %c = constant() {value = bool[]<1>} : bool[]
    %y = loop(%n, %c, %x) {
      graph(%i: i64[], %go: bool[], %v: f32[2]) {
        %w = add(%v, %v) : f32[2]
        return "": %go, "": %w
      }
    } : f32[2]
    return "y": %y
  })");
}

TEST(OnnxExport, FusedNodesAreWhatTheyHold) {
  ExpectTextRoundTrip(R"(graph @g(%x: f32[2]) {
    %y = fused(%x) {
      graph(%a: f32[2]) {
        %b = exp(%a) : f32[2]
        %c = neg(%b) : f32[2]
        return "": %c
      }
    } : f32[2]
    return "y": %y
  })");
}

TEST(OnnxExport, SizesThatDependOnDataStay) {
  ExpectTextRoundTrip(R"(graph @g(%x: f32[3,4]) {
    %n = non_zero(%x) : i64[2,n0<=12]
    %t = transpose(%n) {perm = [1, 0]} : i64[n0<=12,2]
    %r = reshape(%t) {shape = [12, 2, 1]} : i64[n0<=12,2,1]
    %b = broadcast(%r) {shape = [12, 2, 3]} : i64[n0<=12,2,3]
    return "y": %b
  })");
}

TEST(OnnxExport, ListsAllThatOnnxLacks) {
  const auto graph = ParseGraph(R"(graph @g(%x: i32[2], %y: f64[2]) {
    %s = constant() {value = f32[]<0.5>} : f32[]
    %a = requantize(%x, %s) {to = u8, rounding = "half_away"} : u8[2]
    %t = constant() {value = f64[]<0.5>} : f64[]
    %b = quantize(%y, %t) {to = u8} : u8[2]
    return "a": %a, "b": %b
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::Status status = ExportOnnxBytes(**graph).status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              StartsWith("not supported: requantize a: ONNX rounds once, and halves to even\n"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("not supported: quantize b: ONNX has no QuantizeLinear of f64"));
}

TEST(OnnxExport, OperatorsThatNoLaterOpsetRevisedTakeNoBF16) {
  const auto reason = [](std::string_view node) {
    const auto graph = ParseGraph(absl::StrCat(
        "graph @g(%x: bf16[2,3], %n: i64[2], %c: bool[3]) {\n %y = ", node, "\n return \"y\": %y\n }"));
    EXPECT_TRUE(graph.ok()) << graph.status();
    return std::string(ExportOnnxBytes(**graph).status().message());
  };
  EXPECT_THAT(reason("reverse_sequence(%x, %n) {batch_axis = 0, time_axis = 1} : bf16[2,3]"),
              HasSubstr("ONNX has no ReverseSequence of bf16"));
  EXPECT_THAT(reason("compress(%x, %c) {axis = 1} : bf16[2,n0<=3]"),
              HasSubstr("ONNX has no Compress of bf16"));
}

TEST(OnnxExport, NormalizesByGroupsWhatHasNoPixels) {
  const auto written = [](std::string_view type) {
    const auto graph = ParseGraph(absl::StrCat(
        "graph @g(%x: ", type,
        ", %s: f32[4], %b: f32[4]) {\n %y = group_norm(%x, %s, %b) {epsilon = 0.001, groups = 4} : ", type,
        "\n return \"y\": %y\n }"));
    EXPECT_TRUE(graph.ok()) << graph.status();
    ExpectRoundTrip(**graph);
    onnx_export::GraphWriter writer;
    attune_onnx::GraphProto proto;
    EXPECT_TRUE(writer.WriteModel(**graph, &proto).ok());
    return proto.node(0).op_type();
  };
  EXPECT_EQ(written("f32[2,4]"), "GroupNormalization");
  EXPECT_EQ(written("f32[2,4,3]"), "InstanceNormalization");
}

TEST(OnnxExport, AnInputAndAnotherOutputOfOneNameAreRefused) {
  const auto graph = ParseGraph(R"(graph @g(%x: f32[2]) {
    %y = neg(%x) : f32[2]
    return "x": %y
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(absl::IsInvalidArgument(ExportOnnxBytes(**graph).status()));
}

TEST(OnnxExport, AsksForTheLeastOpset) {
  const auto opset = [](std::string_view text) {
    const auto graph = ParseGraph(text);
    EXPECT_TRUE(graph.ok()) << graph.status();
    onnx_export::GraphWriter writer;
    attune_onnx::GraphProto proto;
    EXPECT_TRUE(writer.WriteModel(**graph, &proto).ok());
    return writer.opset();
  };
  EXPECT_EQ(opset("graph @g(%x: f32[2]) {\n %y = silu(%x) : f32[2]\n return \"y\": %y\n }"), 18);
  EXPECT_EQ(opset("graph @g(%x: f32[2]) {\n %y = gelu(%x) : f32[2]\n return \"y\": %y\n }"), 20);
  EXPECT_EQ(opset("graph @g(%x: bf16[2]) {\n %y = neg(%x) : bf16[2]\n return \"y\": %y\n }"), 22);
  EXPECT_EQ(opset("graph @g(%x: bf16[5]) {\n %y, %i = top_k(%x) {axis = 0, k = 2} : bf16[2], i64[2]\n"
                  " return \"y\": %y\n }"),
            24);
}

}  // namespace
}  // namespace attune
