// Model files of any format → Graph. The format is recognized by the content, not by the name.
#ifndef ATTUNE_IMPORT_IMPORT_H_
#define ATTUNE_IMPORT_IMPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/input_file.h"
#include "graph/graph.h"
#include "import/common/import_options.h"
#include "import/common/parsed_model.h"

namespace attune {

enum class ModelFormat : uint8_t { kOnnx, kTflite, kTensorflow, kPytorch };

// Opens the file of the model at `path`: this file, or the saved_model.pb of a SavedModel's folder.
absl::StatusOr<InputFile> OpenModelFile(const std::string& path);

// A model's file, read and parsed once, whatever is asked of it later and how often. For one thread at a
// time. Errors name the file, except those that list what is not supported.
class ModelReader {
 public:
  // Reads the file that OpenModelFile(path) has opened into memory of this process: a mapped file could
  // change after it has been checked. A file without the mark of another format counts as ONNX, which has no
  // mark. Errors: unreadable, damaged; a Keras file (the message says how to convert it).
  static absl::StatusOr<ModelReader> Read(const InputFile& file, const std::string& path);
  // The same for bytes in memory. `name` stands for the path in errors; there are no files beside the model.
  static absl::StatusOr<ModelReader> FromBytes(std::string bytes, const std::string& name);

  ModelFormat format() const { return format_; }
  // The SHA-256 of the file, as 64 hexadecimal digits. It identifies the model.
  const std::string& sha256() const { return sha256_; }

  // Returns the declarations of the model, with the inputs of the signature; see ImportOptions::signature.
  absl::StatusOr<DeclaredModel> Declare(const std::string& signature) const;

  // The files with weights that belong to the model, relative to its folder: sorted, each once. Fails if one
  // is missing or is outside of the folder.
  absl::StatusOr<std::vector<std::string>> FilesBeside() const;

  // Returns the model as a verified-by-construction graph. Graphs of several calls share the bytes of their
  // weights. Errors:
  //   Unimplemented: everything that is not supported, one line each: "not supported: <operator> <node>:
  //   <reason>".
  //   InvalidArgument, NotFound: damaged, inconsistent, or missing a shape; names the node or the input.
  //   Cancelled: by options.control.
  absl::StatusOr<std::unique_ptr<Graph>> Import(const ImportOptions& options);

 private:
  ModelReader(std::string path, ModelFormat format, std::string sha256, std::unique_ptr<ParsedModel> model)
      : path_(std::move(path)), format_(format), sha256_(std::move(sha256)), model_(std::move(model)) {}
  // `folder` is the folder of files beside the model; empty: it has none. Fails if the format does.
  static absl::StatusOr<ModelReader> Parse(std::string bytes, const absl::StatusOr<ModelFormat>& format,
                                           const std::string& path, const std::string& folder);
  // Fails if there is a signature, and files of the format have none.
  absl::Status CheckSignature(const std::string& signature) const;

  std::string path_;
  ModelFormat format_;
  std::string sha256_;
  std::unique_ptr<ParsedModel> model_;
};

}  // namespace attune

#endif  // ATTUNE_IMPORT_IMPORT_H_
