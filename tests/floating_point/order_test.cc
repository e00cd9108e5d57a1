// Sums: how exact they are in whatever order, and that the order is the same in every run.
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiled.h"
#include "lower/strategy.h"
#include "reference/interpreter.h"

namespace attune::floating_point {
namespace {

constexpr double kRoundoff = 0x1p-24;

// Sums computed in several ways: by one kernel or more, in vectors or not, of sizes that threads cannot
// share evenly.
const std::vector<std::string>& Graphs() {
  static const std::vector<std::string> graphs = {
      R"(graph(%x: f32[1,24,19,17], %w: f32[40,24,3,3]) {
        %y = conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,40,19,17]
        %r = relu(%y) : f32[1,40,19,17]
        return "y": %r
      })",
      R"(graph(%x: f32[1,40,19,17], %w: f32[40,1,3,3]) {
        %y = conv(%x, %w) {group = 40, pads = [1, 1, 1, 1]} : f32[1,40,19,17]
        return "y": %y
      })",
      R"(graph(%x: f32[77,130], %w: f32[130,91]) {
        %y = matmul(%x, %w) : f32[77,91]
        %s = softmax(%y) {axis = 1} : f32[77,91]
        return "y": %y, "s": %s
      })",
      R"(graph(%x: f32[2,3,50,16], %y: f32[2,3,61,16]) {
        %a = attention(%x, %y, %y) {scale = 0.25} : f32[2,3,50,16]
        return "a": %a
      })",
      R"(graph(%x: f32[7,5003]) {
        %a = reduce_sum(%x) {axes = [0, 1], keepdims = 0} : f32[]
        %b = reduce_mean(%x) {axes = [1], keepdims = 0} : f32[7]
        %c = reduce_sum(%x) {axes = [0], keepdims = 0} : f32[5003]
        %d = cum_sum(%x) {axis = 1} : f32[7,5003]
        return "a": %a, "b": %b, "c": %c, "d": %d
      })",
      R"(graph(%x: f32[1,24,19,17]) {
        %a = avg_pool(%x) {kernel = [3, 3], strides = [1, 1]} : f32[1,24,17,15]
        %b = reduce_mean(%x) {axes = [2, 3], keepdims = 1} : f32[1,24,1,1]
        %c = sub(%x, %b) : f32[1,24,19,17]
        return "a": %a, "c": %c
      })"};
  return graphs;
}

std::vector<Tensor> RandomInputs(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const auto& input : graph.inputs())
    inputs.push_back(RandomTensor(input->type().shape(), inputs.size() + 1));
  return inputs;
}

void ExpectSameBits(const Graph& graph, std::string_view strategy) {
  const std::vector<NamedTensor> inputs = Named(graph, RandomInputs(graph));
  for (const Target& target : Targets()) {
    const Network network = Compiled(graph, target, strategy);
    const auto first = network.Run(inputs, 1);
    ASSERT_TRUE(first.ok()) << first.status();
    for (const int threads : {1, 2, 3, 7}) {
      const auto again = network.Run(inputs, threads);
      ASSERT_TRUE(again.ok()) << again.status();
      for (size_t i = 0; i < first->size(); ++i)
        EXPECT_TRUE((*again)[i].tensor.Identical((*first)[i].tensor)) << target.name << " " << threads;
    }
  }
}

TEST(Sums, HaveTheSameBitsInEveryRunByAnyNumberOfThreads) {
  for (const std::string& text : Graphs()) {
    SCOPED_TRACE(text);
    ExpectSameBits(*Parse(text), "");
  }
  const auto conv =
      Convolutions({1, 32, 27, 21}, {RandomTensor({48, 32, 1, 1}, 3), RandomTensor({48, 48, 3, 3}, 4)});
  const auto product = Product({77, 130}, RandomTensor({130, 91}, 5));
  for (const Strategy& strategy : AllStrategies()) {
    SCOPED_TRACE(strategy.name);
    ExpectSameBits(*conv, strategy.name);
    ExpectSameBits(*product, strategy.name);
  }
}

// The largest error of sums of `terms` products of the graph's two inputs, in roundoffs of Σ|product|.
double LargestError(const std::string& text, const std::vector<Tensor>& inputs, const Target& target) {
  const auto graph = Parse(text);
  std::vector<Tensor> sizes = inputs;
  for (Tensor& size : sizes) {
    for (float& x : size.as_mutable<float>()) x = std::abs(x);
  }
  const auto exact = Interpreter().Run(*graph, inputs), magnitude = Interpreter().Run(*graph, sizes);
  EXPECT_TRUE(exact.ok() && magnitude.ok());
  const std::vector<Tensor> actual = RunCompiled(*graph, inputs, target);
  double largest = 0;
  for (int64_t i = 0; i < actual[0].num_elements(); ++i) {
    // The reference is rounded once, too.
    const double expected = (*exact)[0].ToDouble(i);
    const double error = std::abs(actual[0].ToDouble(i) - expected) - kRoundoff * std::abs(expected);
    largest = std::max(largest, error / (kRoundoff * (*magnitude)[0].ToDouble(i)));
  }
  return largest;
}

TEST(Sums, OfManyTermsErrLikeTheRootOfTheirNumber) {
  for (const int64_t terms : {1, 10, 100, 1000, 10000}) {
    const std::string product =
        absl::StrCat("graph(%x: f32[5,", terms, "], %w: f32[", terms,
                     ",33]) {\n  %y = matmul(%x, %w) : f32[5,33]\n  return \"y\": %y\n}\n");
    const std::string sum = absl::StrCat("graph(%x: f32[9,", terms,
                                         "]) {\n  %y = reduce_sum(%x) {axes = [1], keepdims = 0} : f32[9]\n"
                                         "  return \"y\": %y\n}\n");
    const double root = std::sqrt(static_cast<double>(terms));
    for (const Target& target : Targets()) {
      for (const double low : {-1.0, 0.0}) {  // of both signs, and of one
        const Tensor x = RandomTensor({5, terms}, 1, low), w = RandomTensor({terms, 33}, 2, low);
        EXPECT_LE(LargestError(product, {x, w}, target), root) << target.name << " " << terms;
        EXPECT_LE(LargestError(sum, {RandomTensor({9, terms}, 3, low)}, target), root)
            << target.name << " " << terms;
      }
      // If all terms are equal, all roundings may go the same way.
      constexpr double kTenth[] = {0.1};
      EXPECT_LE(LargestError(sum, {Repeated({9, terms}, kTenth)}, target), static_cast<double>(terms));
    }
  }
}

}  // namespace
}  // namespace attune::floating_point
