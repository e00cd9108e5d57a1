// Graph → ONNX model file: what the importer reads comes back as a graph that computes the same.
//
// The model asks for the least opset, from 18 on, that has what the graph needs. Operators that came later
// and have a form in earlier ones (SiLU, attention, RMS normalization) are written in that form, so that
// other programs read the file. Weights are raw data inside the file. Fused nodes are written as what they
// hold.
#ifndef ATTUNE_EXPORT_ONNX_EXPORT_H_
#define ATTUNE_EXPORT_ONNX_EXPORT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace attune {

// The bytes of a model file of a verified graph; names of inputs and outputs are the graph's. The same graph
// gives the same bytes. Errors:
//   Unimplemented: all that ONNX cannot say, one line each: "NS <operator> <value>: <reason>"; and a graph
//     whose constants are more than the 2 GB that a file without external data holds.
//   InvalidArgument: an input and an output that is another value have the same name.
absl::StatusOr<std::string> ExportOnnxBytes(const Graph& graph);

// The same to a file, whole or not at all. Errors of the file name it.
absl::Status ExportOnnx(const Graph& graph, const std::string& path);

}  // namespace attune

#endif  // ATTUNE_EXPORT_ONNX_EXPORT_H_
