// Graph → ONNX model file: when the importer reads the file, it gets a graph that computes the same.
//
// The model requires the lowest opset, from 18 on, that has everything the graph needs. Later operators that
// can be expressed with earlier ones (SiLU, attention, RMS normalization) are written so, which lets other
// programs read the file. Weights are raw data inside the file. A fused node is written as the nodes that it
// contains.
#ifndef ATTUNE_EXPORT_ONNX_EXPORT_H_
#define ATTUNE_EXPORT_ONNX_EXPORT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/picture_comments.h"

namespace attune {

// The bytes of a model file for a verified graph, with the graph's names of inputs and outputs, and with what
// is known about pictures for its inputs as metadata. The same graph gives the same bytes. Errors:
//   Unimplemented: everything that ONNX cannot express, one line each: "not supported: <operator> <value>:
//     <reason>"; or the graph's constants exceed 2 GB, the limit of a file without external data.
//   InvalidArgument: an input and an output that is another value have the same name.
absl::StatusOr<std::string> ExportOnnxBytes(const Graph& graph, const PictureFormats& pictures = {});

// Writes the same to a file, which is complete or not written at all. Errors of the file name it.
absl::Status ExportOnnx(const Graph& graph, const std::string& path, const PictureFormats& pictures = {});

}  // namespace attune

#endif  // ATTUNE_EXPORT_ONNX_EXPORT_H_
