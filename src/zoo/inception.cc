// Inception v3: Szegedy et al., Rethinking the Inception Architecture for Computer Vision, 2015, as in
// torchvision, without the auxiliary classifier, which is only used in training.
#include "absl/strings/str_cat.h"
#include "zoo/networks.h"

namespace attune {
namespace {

constexpr std::array<int64_t, 2> kPoint = {1, 1};
constexpr std::array<int64_t, 2> kSquare = {3, 3};

enum class Border { kSame, kValid };

struct Layer {
  const char* suffix;  // for the branch's name
  int64_t channels;
  std::array<int64_t, 2> kernel = kPoint;
  int64_t stride = 1;
  Border border = Border::kSame;
};

NetworkValue ConvNormRelu(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                          const Layer& layer) {
  const bool same = layer.border == Border::kSame;
  const int64_t rows = same ? layer.kernel[0] / 2 : 0;
  const int64_t columns = same ? layer.kernel[1] / 2 : 0;
  const NetworkValue y = b.Conv(name + ".conv", x,
                                {.channels = b.Scaled(layer.channels),
                                 .kernel = layer.kernel,
                                 .stride = layer.stride,
                                 .pads = {rows, columns, rows, columns}});
  return b.Relu(b.BatchNorm(name + ".bn", y, {.epsilon = 1e-3f}));
}

NetworkValue Branch(NetworkBuilder& b, const std::string& name, NetworkValue x,
                    const std::vector<Layer>& layers) {
  for (const Layer& layer : layers) x = ConvNormRelu(b, name + layer.suffix, x, layer);
  return x;
}

NetworkValue PoolBranch(NetworkBuilder& b, const std::string& name, const NetworkValue& x, int64_t channels) {
  const NetworkValue pooled = b.AveragePool(x, {.kernel = 3, .pads = EvenPads(1)});
  return Branch(b, name + ".branch_pool", pooled, {{"", channels}});
}

NetworkValue Stem(NetworkBuilder& b, NetworkValue x) {
  x = Branch(b, "Conv2d_", x,
             {{"1a_3x3", 32, kSquare, 2, Border::kValid},
              {"2a_3x3", 32, kSquare, 1, Border::kValid},
              {"2b_3x3", 64, kSquare}});
  x = b.MaxPool(x, {.kernel = 3, .stride = 2});
  x = Branch(b, "Conv2d_", x, {{"3b_1x1", 80}, {"4a_3x3", 192, kSquare, 1, Border::kValid}});
  return b.MaxPool(x, {.kernel = 3, .stride = 2});
}

// 35x35, with a 5x5 branch.
NetworkValue BlockA(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                    int64_t pool_channels) {
  return b.Concat(
      {Branch(b, name + ".branch1x1", x, {{"", 64}}),
       Branch(b, name + ".branch5x5", x, {{"_1", 48}, {"_2", 64, {5, 5}}}),
       Branch(b, name + ".branch3x3dbl", x, {{"_1", 64}, {"_2", 96, kSquare}, {"_3", 96, kSquare}}),
       PoolBranch(b, name, x, pool_channels)},
      1);
}

// 35x35 to 17x17.
NetworkValue BlockB(NetworkBuilder& b, const std::string& name, const NetworkValue& x) {
  return b.Concat({Branch(b, name + ".branch3x3", x, {{"", 384, kSquare, 2, Border::kValid}}),
                   Branch(b, name + ".branch3x3dbl", x,
                          {{"_1", 64}, {"_2", 96, kSquare}, {"_3", 96, kSquare, 2, Border::kValid}}),
                   b.MaxPool(x, {.kernel = 3, .stride = 2})},
                  1);
}

// 17x17, with 7x7 convolutions split into two factors.
NetworkValue BlockC(NetworkBuilder& b, const std::string& name, const NetworkValue& x, int64_t width) {
  return b.Concat(
      {Branch(b, name + ".branch1x1", x, {{"", 192}}),
       Branch(b, name + ".branch7x7", x, {{"_1", width}, {"_2", width, {1, 7}}, {"_3", 192, {7, 1}}}),
       Branch(b, name + ".branch7x7dbl", x,
              {{"_1", width},
               {"_2", width, {7, 1}},
               {"_3", width, {1, 7}},
               {"_4", width, {7, 1}},
               {"_5", 192, {1, 7}}}),
       PoolBranch(b, name, x, 192)},
      1);
}

// 17x17 to 8x8.
NetworkValue BlockD(NetworkBuilder& b, const std::string& name, const NetworkValue& x) {
  return b.Concat(
      {Branch(b, name + ".branch3x3", x, {{"_1", 192}, {"_2", 320, kSquare, 2, Border::kValid}}),
       Branch(
           b, name + ".branch7x7x3", x,
           {{"_1", 192}, {"_2", 192, {1, 7}}, {"_3", 192, {7, 1}}, {"_4", 192, kSquare, 2, Border::kValid}}),
       b.MaxPool(x, {.kernel = 3, .stride = 2})},
      1);
}

// 8x8, with the two factors of the 3x3 convolutions in parallel.
NetworkValue BlockE(NetworkBuilder& b, const std::string& name, const NetworkValue& x) {
  const auto fork = [&](const std::string& stem, const char* row, const char* column, const NetworkValue& y) {
    return b.Concat({Branch(b, stem, y, {{row, 384, {1, 3}}}), Branch(b, stem, y, {{column, 384, {3, 1}}})},
                    1);
  };
  const NetworkValue single = Branch(b, name + ".branch3x3", x, {{"_1", 384}});
  const NetworkValue twice = Branch(b, name + ".branch3x3dbl", x, {{"_1", 448}, {"_2", 384, kSquare}});
  return b.Concat(
      {Branch(b, name + ".branch1x1", x, {{"", 320}}), fork(name + ".branch3x3", "_2a", "_2b", single),
       fork(name + ".branch3x3dbl", "_3a", "_3b", twice), PoolBranch(b, name, x, 192)},
      1);
}

}  // namespace

void BuildInceptionV3(NetworkBuilder& b) {
  NetworkValue x = Stem(b, b.Input("input", {b.batch(), 3, 299, 299}));
  x = BlockA(b, "Mixed_5b", x, 32);
  x = BlockA(b, "Mixed_5c", x, 64);
  x = BlockA(b, "Mixed_5d", x, 64);
  x = BlockB(b, "Mixed_6a", x);
  x = BlockC(b, "Mixed_6b", x, 128);
  x = BlockC(b, "Mixed_6c", x, 160);
  x = BlockC(b, "Mixed_6d", x, 160);
  x = BlockC(b, "Mixed_6e", x, 192);
  x = BlockD(b, "Mixed_7a", x);
  x = BlockE(b, "Mixed_7b", x);
  x = BlockE(b, "Mixed_7c", x);
  b.Output(b.Linear("fc", b.Flatten(b.GlobalAveragePool(x)), kImageNetClasses), "output");
}

}  // namespace attune
