// What this folder takes from the importers' shared vocabulary.
#ifndef ATTUNE_IMPORT_PYTORCH_VOCABULARY_H_
#define ATTUNE_IMPORT_PYTORCH_VOCABULARY_H_

#include <string_view>

#include "import/common/emitter.h"
#include "import/common/evaluator.h"
#include "import/common/failure.h"
#include "import/common/not_supported.h"

namespace attune::pytorch {

using importing::Budget;
using importing::CheckedSize;
using importing::Emitter;
using importing::Evaluator;
using importing::ImportFailure;
using importing::Invalid;
using importing::Iota;
using importing::Multiply;
using importing::NotSupportedList;
using importing::OrThrow;
using importing::Product;
using importing::Unsupported;

// What to do with a model whose weights only Python can read.
inline constexpr std::string_view kOnnxAdvice =
    "export it from Python instead: torch.onnx.export(model, (x,), \"model.onnx\")";

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_VOCABULARY_H_
