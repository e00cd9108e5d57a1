#include "api/givens.h"

#include <map>
#include <optional>
#include <utility>

#include "api/named_shape.h"
#include "base/status.h"
#include "graph/tensor.h"

namespace attune {
namespace {

absl::StatusOr<std::map<std::string, Shape>> ParseShapes(const std::vector<std::string>& texts) {
  std::map<std::string, Shape> shapes;
  for (const std::string& text : texts) {
    std::optional<std::pair<std::string, Shape>> named = ParseNamedShape(text);
    if (!named.has_value()) return InvalidInput("--shape ", text, ": is not like input=1x3x224x224");
    const std::string name = named->first;
    if (!shapes.insert(*std::move(named)).second)
      return InvalidInput("--shape ", text, ": input \"", name, "\" is given twice");
  }
  return shapes;
}

}  // namespace

absl::StatusOr<Givens> ReadGivens(OpenedModel& model, const std::vector<std::string>& shapes,
                                  const InputSources& inputs, const SampleSettings* samples,
                                  const WorkControl& control) {
  Givens givens;
  givens.options.control = control;
  ASSIGN_OR_RETURN(givens.options.shapes, ParseShapes(shapes));
  if (inputs.inputs.empty() && givens.options.shapes.empty() && samples == nullptr) return givens;
  ASSIGN_OR_RETURN(std::vector<InputDeclaration> declarations, model.Inputs());
  RETURN_IF_ERROR(Annotate(BindShapes(givens.options.shapes, declarations), model.path()));
  ASSIGN_OR_RETURN(givens.inputs, ReadInputs(inputs, declarations));
  for (const NamedTensor& value : givens.inputs.values) givens.options.values[value.name] = value.tensor;
  if (samples == nullptr) return givens;
  ASSIGN_OR_RETURN(givens.samples, ReadSamples(*samples, inputs, givens.inputs, declarations, control));
  for (const NamedTensor& value : givens.samples.front())
    givens.options.shapes.emplace(value.name, value.tensor.shape());
  return givens;
}

}  // namespace attune
