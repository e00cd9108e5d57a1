#include "import/operators.h"

#include "import/onnx/ops.h"
#include "import/pytorch/ops.h"
#include "import/tensorflow/ops.h"
#include "import/tflite/ops.h"

namespace attune {

std::vector<FormatOperators> ListFormatOperators() {
  return {{.key = "onnx",
           .name = "ONNX",
           .remark = "and functions that the model defines",
           .operators = onnx::ListOperators()},
          {.key = "tflite",
           .name = "TensorFlow Lite",
           .remark = "built-in ones, StableHLO's aside, and two custom ones",
           .operators = tflite::ListOperators()},
          {.key = "tensorflow",
           .name = "TensorFlow",
           .remark = "and functions of the model; gradients are not imported",
           .operators = tensorflow::ListOperators()},
          {.key = "pytorch",
           .name = "PyTorch",
           .remark = "in programs of torch.export; in-place variants of aten operators, such as aten.relu_, "
                     "follow from them",
           .operators = pytorch::ListOperators()}};
}

}  // namespace attune
