#include "plan/widen_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "graph/text.h"
#include "graph/verify.h"
#include "plan/groups_for_test.h"

namespace attune {
namespace {

// Two convolutions with a pool between them, whose result a sum reads too.
constexpr char kNetwork[] = R"(
graph @g(%x: u8[1,16,8,8], %v: i8[16,16,1,1]) {
  %a = fused(%x, %v) { graph(%x: u8[1,16,8,8], %w: i8[16,16,1,1]) {
    %y = conv_integer(%x, %w) : i32[1,16,8,8]
    %z = cast(%y) {to = u8} : u8[1,16,8,8]
    return "": %z } } : u8[1,16,8,8]
  %b = fused(%a) { graph(%x: u8[1,16,8,8]) {
    %y = max_pool(%x) {kernel = [2, 2], strides = [2, 2]} : u8[1,16,4,4]
    return "": %y } } : u8[1,16,4,4]
  %c = fused(%b, %v) { graph(%x: u8[1,16,4,4], %w: i8[16,16,1,1]) {
    %y = conv_integer(%x, %w) : i32[1,16,4,4]
    %f = cast(%y) {to = f32} : f32[1,16,4,4]
    %g = cast(%x) {to = f32} : f32[1,16,4,4]
    %z = add(%f, %g) : f32[1,16,4,4]
    return "": %z } } : f32[1,16,4,4]
  return "": %c
})";

std::unique_ptr<Graph> Widened(const std::string& cpu) {
  auto graph = ParseGraph(kNetwork);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const absl::Status status = WidenBytes(**graph, *TargetByName(cpu));
  EXPECT_TRUE(status.ok()) << status;
  const absl::Status valid = Verify(**graph);
  EXPECT_TRUE(valid.ok()) << valid;
  return *std::move(graph);
}

TEST(WidenBytes, WhatIsMultipliedIsMadeWideWhereItIsMade) {
  const auto graph = Widened("znver3");
  EXPECT_EQ(OperatorsOfGroups(*graph), Groups({"cast", "cast", "conv_integer+cast", "max_pool+cast",
                                               "cast+conv_integer+cast+cast+add"}));
}

TEST(WidenBytes, ProcessorsThatMultiplyBytesKeepThem) {
  for (const char* cpu : {"znver4", "sapphirerapids"})
    EXPECT_EQ(Print(*Widened(cpu)).find("i16"), std::string::npos);
}

}  // namespace
}  // namespace attune
