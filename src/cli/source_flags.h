// Flags that select a model and describe its inputs.
#ifndef ATTUNE_CLI_SOURCE_FLAGS_H_
#define ATTUNE_CLI_SOURCE_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace attune {

struct SourceFlags {
  std::string model;
  std::vector<std::string> shapes;  // "input=1x3x224x224"
  std::string signature;            // for a model that has several signatures; empty: the one for inference
};

// Adds MODEL, --shape and --signature.
void AddSourceFlags(CLI::App& command, SourceFlags& flags, const std::string& model_help);

// A check for CLI11: empty, or why a text is not a set of shapes like "a=1x128 b=1x128".
std::string CheckShapeSet(const std::string& text);
// Splits such a text into its shapes.
std::vector<std::string> ShapesOfSet(const std::string& text);

}  // namespace attune

#endif  // ATTUNE_CLI_SOURCE_FLAGS_H_
