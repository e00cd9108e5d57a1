// Well-known networks, written as ONNX models with seeded weights: suitable for measuring speed and for
// numerical comparison, not accuracy.
#ifndef ATTUNE_ZOO_ZOO_H_
#define ATTUNE_ZOO_ZOO_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/dtype.h"

namespace attune {

struct ZooInput {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // for a batch of one
};

struct ZooEntry {
  std::string name;
  std::string description;
  std::vector<ZooInput> inputs;
  int64_t parameters = 0;  // trained numbers, without batch norm's statistics
  int64_t macs = 0;        // multiplications of convolutions and matrix products, for a batch of one
  bool scales = false;     // whether ZooOptions::width applies
};

// All networks, in the order for listing them.
std::vector<ZooEntry> ZooNetworks();

struct ZooOptions {
  uint64_t seed = 0;
  int64_t batch = 1;  // 1 to 4096
  // The width of the layers relative to the published one: above 0, at most 1. Supported by networks of
  // over 50 MB.
  double width = 1;
};

// The bytes of an ONNX file (opset 17, weights inside). The same options give the same bytes. Errors: an
// unknown name (the message lists the known ones), or a batch or width that the network does not support.
absl::StatusOr<std::string> BuildZooModel(std::string_view name, const ZooOptions& options = {});

}  // namespace attune

#endif  // ATTUNE_ZOO_ZOO_H_
