#include "import/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::map<std::string, ListedOperator> OperatorsOf(std::string_view key) {
  std::map<std::string, ListedOperator> operators;
  for (const FormatOperators& format : ListFormatOperators()) {
    if (format.key != key) continue;
    for (const ListedOperator& listed : format.operators) operators.emplace(listed.name, listed);
  }
  return operators;
}

TEST(ListFormatOperators, HasEachFormatWithItsOperators) {
  std::vector<std::string_view> keys;
  for (const FormatOperators& format : ListFormatOperators()) {
    keys.push_back(format.key);
    std::set<std::pair<std::string, std::string>> seen;
    for (const ListedOperator& listed : format.operators)
      EXPECT_TRUE(seen.emplace(listed.domain, listed.name).second) << listed.name;
  }
  EXPECT_THAT(keys, ElementsAre("onnx", "tflite", "tensorflow", "pytorch"));
}

TEST(ListFormatOperators, SaysWhatIsRefusedAndWhy) {
  const auto onnx = OperatorsOf("onnx");
  EXPECT_EQ(onnx.at("Conv").refused, "");
  EXPECT_EQ(onnx.at("Affine").until, 9);
  EXPECT_EQ(onnx.at("Binarizer").domain, "ai.onnx.ml");
  EXPECT_EQ(onnx.at("RandomNormal").refused, "it makes random numbers");
  const auto tflite = OperatorsOf("tflite");
  EXPECT_EQ(tflite.at("CONV_2D").refused, "");
  EXPECT_EQ(tflite.at("TFLite_Detection_PostProcess").refused, "");
  EXPECT_THAT(tflite.at("HASHTABLE").refused, HasSubstr("hash tables"));
  EXPECT_EQ(tflite.at("BUCKETIZE").refused, "it is not implemented");
  EXPECT_FALSE(tflite.contains("CUSTOM"));
  EXPECT_EQ(OperatorsOf("tensorflow").at("TruncatedNormal").refused, "it makes random numbers");
  const auto pytorch = OperatorsOf("pytorch");
  EXPECT_EQ(pytorch.at("aten.relu").refused, "");
  EXPECT_EQ(pytorch.at("aten.nonzero").refused, "how much it makes depends on the data");
  EXPECT_EQ(pytorch.at("aten.rand").refused, "it makes random numbers");
}

}  // namespace
}  // namespace attune
