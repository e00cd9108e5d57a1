#include "graph/ops/spatial.h"

#include "base/checked.h"

namespace attune::infer {

absl::StatusOr<Window> ReadWindow(const Node& node, Ints kernel) {
  const size_t rank = kernel.size();
  for (int64_t size : kernel) {
    if (size < 1 || size > kMaxParameter) {
      return InvalidInput("the window has the size ", size, ", must be in [1, ", kMaxParameter, "]");
    }
  }
  Window window;
  window.kernel = std::move(kernel);
  ASSIGN_OR_RETURN(window.strides, IntsAttribute(node, "strides", rank, 1, 1));
  ASSIGN_OR_RETURN(window.pads, IntsAttribute(node, "pads", 2 * rank, 0, 0));
  ASSIGN_OR_RETURN(window.dilations, IntsAttribute(node, "dilations", rank, 1, 1));
  return window;
}

absl::StatusOr<int64_t> NumWindows(const Window& window, size_t i, int64_t size, bool ceil_mode) {
  const int64_t padded = size + window.begin(i) + window.end(i);
  const int64_t travel = padded - window.extent(i);
  if (travel < 0) {
    return InvalidInput("the window covers ", window.extent(i), " elements, spatial dimension ", i, " has ",
                        padded, " with its pads");
  }
  const int64_t stride = window.strides[i];
  if (!ceil_mode) return travel / stride + 1;
  const int64_t count = CeilDiv(travel, stride) + 1;
  const bool starts_in_end_pad = (count - 1) * stride >= size + window.begin(i);
  return starts_in_end_pad ? count - 1 : count;
}

}  // namespace attune::infer
