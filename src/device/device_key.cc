#include "device/device_key.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "base/status.h"

namespace attune {
namespace {

// In PyTorch, ONNX Runtime, OpenVINO, TensorFlow and TVM.
constexpr std::string_view kOthers[] = {"cuda",   "directml", "dml",    "gpu",  "hip", "metal",
                                        "mps",    "npu",      "opencl", "rocm", "tpu", "tensorrt",
                                        "vulkan", "webgpu",   "xla",    "xpu"};

// Without an index, in lower case.
std::string KindOf(std::string_view key) {
  return absl::AsciiStrToLower(key.substr(0, key.find_first_of(":.")));
}

}  // namespace

bool IsThisMachine(std::string_view key) { return KindOf(key) == "cpu"; }

absl::Status CheckDeviceKey(std::string_view key) {
  if (std::ranges::find(kOthers, KindOf(key)) == std::end(kOthers)) return absl::OkStatus();
  return InvalidInput(
      "device ", key,
      ": Attune runs networks on x86-64 processors alone; leave the device out or "
      "give cpu for this machine, or give the key of a device in your fleet (attune fleet list)");
}

}  // namespace attune
