// Reads what a model's metadata say about pictures.
#ifndef ATTUNE_IMPORT_ONNX_PICTURES_H_
#define ATTUNE_IMPORT_ONNX_PICTURES_H_

#include <map>
#include <optional>
#include <string>

#include "base/picture_format.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx {

// How pictures become the numbers of an input; nothing if nothing says it. The metadata are those of the
// model: the entry "attune.picture." and the input's name, which Attune writes; those of the ONNX
// specification for inputs that are denoted as images; or those of Ultralytics' exporter.
std::optional<PictureFormat> PictureFormatOf(const attune_onnx::ValueInfoProto& input,
                                             const std::map<std::string, std::string>& metadata);

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_PICTURES_H_
