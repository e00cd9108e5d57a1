// The names that this folder uses from the importers' common code.
#ifndef ATTUNE_IMPORT_PYTORCH_VOCABULARY_H_
#define ATTUNE_IMPORT_PYTORCH_VOCABULARY_H_

#include <string_view>

#include "import/common/emitter.h"
#include "import/common/evaluator.h"
#include "import/common/failure.h"
#include "import/common/not_supported.h"

namespace attune::pytorch {

using namespace importing;  // NOLINT: what all formats share

// The advice for a model whose weights only Python can read.
inline constexpr std::string_view kOnnxAdvice =
    "export it from Python instead: torch.onnx.export(model, (x,), \"model.onnx\")";

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_VOCABULARY_H_
