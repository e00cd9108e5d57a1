// The flag --shape, which several commands have.
#ifndef ATTUNE_CLI_SHAPE_FLAG_H_
#define ATTUNE_CLI_SHAPE_FLAG_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "api/tensors.h"

namespace attune {

// Adds --shape, repeatable; what is not like "input=1x3x224x224" is wrong usage.
void AddShapeFlag(CLI::App& command, std::vector<std::string>& shapes);

// "input=1x3x224x224"; nothing where it is not like that.
std::optional<std::pair<std::string, Shape>> ParseShape(const std::string& text);

}  // namespace attune

#endif  // ATTUNE_CLI_SHAPE_FLAG_H_
