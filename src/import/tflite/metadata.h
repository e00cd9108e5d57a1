// Reads what a model's metadata say about its inputs.
#ifndef ATTUNE_IMPORT_TFLITE_METADATA_H_
#define ATTUNE_IMPORT_TFLITE_METADATA_H_

#include <cstddef>
#include <optional>

#include "base/picture_format.h"
#include "import/tflite/model.h"

namespace attune::tflite {

// How pictures become the numbers of an input, by its index in the subgraph. Nothing if the metadata do not
// say it, or cannot be read: a network computes the same without them.
std::optional<PictureFormat> PictureFormatOf(const Model& model, int subgraph, size_t input);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_METADATA_H_
