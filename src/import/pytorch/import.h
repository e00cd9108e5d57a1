// Exported PyTorch programs (.pt2) → Graph.
//
// Reads the files of torch.export.save in PyTorch 2.9 and later: a zip archive with the program as JSON
// (schema 8) and each weight as raw bytes. Both levels of operators are supported, those from
// torch.export.export and the core ATen ones from run_decompositions(). Every shape is concrete after
// import.
//
// Archives that hold their weights as Python pickles (.pt2 of PyTorch 2.8 and earlier, TorchScript,
// checkpoints) are refused, and the message explains how to make an ONNX model: pickles are programs, so
// they are never read.
//
// A model file is hostile input: memory, recursion and work are bounded, and nothing outside the archive is
// read.
#ifndef ATTUNE_IMPORT_PYTORCH_IMPORT_H_
#define ATTUNE_IMPORT_PYTORCH_IMPORT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "import/common/import_options.h"
#include "import/common/parsed_model.h"

namespace attune {

// Whether the first bytes of a file (8 are enough) are those of a zip archive or a pickle, as in all
// formats of PyTorch. Keras models are zip archives, too.
bool LooksLikePytorch(std::string_view head);

using PytorchImportOptions = ImportOptions;

// Parses the bytes of an archive. Inputs and outputs have the program's names.
absl::StatusOr<std::unique_ptr<ParsedModel>> ParsePytorch(std::string bytes);

}  // namespace attune

#endif  // ATTUNE_IMPORT_PYTORCH_IMPORT_H_
