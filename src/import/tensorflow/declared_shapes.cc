#include "import/tensorflow/declared_shapes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "import/tensorflow/tensor_proto.h"

namespace attune::tensorflow {

void CompareDeclared(const NodeDef& node, int version, const Outputs& outputs,
                     importing::ShapeNotices& notices) {
  const auto stated = node.attr().find("_output_shapes");
  if (stated == node.attr().end()) return;
  const auto& shapes = stated->second.list().shape();
  const int count = std::min(shapes.size(), static_cast<int>(outputs.size()));
  for (int i = 0; i < count; ++i) {
    if (outputs[i].value == nullptr || !StatesShape(shapes[i], version)) continue;
    const std::string name = i == 0 ? node.name() : absl::StrCat(node.name(), ":", i);
    notices.Compare(name, outputs[i].value->type(), SizesOf(shapes[i]));
  }
}

}  // namespace attune::tensorflow
