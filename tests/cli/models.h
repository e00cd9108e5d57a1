// Small ONNX models for tests, as bytes of their files.
#ifndef ATTUNE_TESTS_CLI_MODELS_H_
#define ATTUNE_TESTS_CLI_MODELS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace attune {

// scores = Relu(x + [0.5, 1, 1.5, 2]), x f32 of `dims`, each a number or a symbol.
std::string ScoresModel(const std::vector<std::string>& dims = {"1", "4"});

// x f32[1,4] through operators of these types, one after the other. The types need not exist.
std::string ChainModel(const std::vector<std::string>& types, const std::string& output = "");

// rows = the rows of f32[4,2] that ids i64[1,3] name.
std::string EmbeddingModel();

// sum = x · [1, 2, 3, 4], difference = x · [2.003, 1, 0, 0], which is 0.003 for the x f32[1,4] of [1, -2, 3,
// -4].
std::string ProductsModel();

// sum = x · [1, 2, 3, 4] in f32; long = n · w, n i64[1,4] and w i64[4,3], a type that no kernel is made
// for.
std::string SlowProductModel();

// y f32[1,32,14,14] from x f32[1,channels,14,14]: a convolution, Relu, and another convolution: tasks to
// tune.
std::string ConvolutionsModel(int64_t channels = 16);

// y f32[1,32,14,14] from x f32[1,16,14,14]: a pointwise convolution, whose 512 weights have 17 values.
std::string ClusteredModel();

// a = Relu(b), b = Relu(a).
std::string CyclicModel();

}  // namespace attune

#endif  // ATTUNE_TESTS_CLI_MODELS_H_
