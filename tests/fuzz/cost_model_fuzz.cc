// Runs the reader of cost models on any bytes, as they are and with the digest that a forger would add. A
// model that it takes must be written and read back identically, and must give any vector a finite score.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/fatal.h"
#include "base/file.h"
#include "tune/cost_model/tree_ensemble.h"

namespace {

constexpr int kFeatures = 12, kVersion = 7;

void Read(std::string_view bytes) {
  const auto parsed = attune::TreeEnsemble::Parse(bytes, kFeatures, kVersion);
  if (!parsed.ok()) return;
  const std::string text = parsed->Serialize();
  const auto again = attune::TreeEnsemble::Parse(text, kFeatures, kVersion);
  if (!again.ok()) attune::Fatal("a written model is refused: ", again.status().message(), "\n", text);
  if (again->Serialize() != text) attune::Fatal("a model reads back as another one:\n", text);
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (const float value : {-kLargest, -1.0f, 0.0f, 0.5f, kLargest}) {
    const std::vector<float> features(kFeatures, value);
    const float score = parsed->Predict(features);
    if (!std::isfinite(score) || score != again->Predict(features))
      attune::Fatal("a score of ", score, ":\n", text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes);
  Read(absl::StrCat(bytes, "sha256 ", attune::Sha256Hex(bytes), "\n"));
  return 0;
}
