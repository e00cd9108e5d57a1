#include "api/givens.h"

#include <map>
#include <optional>
#include <utility>

#include "api/named_shape.h"
#include "api/pictures.h"
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

// The formats that settings or the model say, for the inputs that take pictures.
absl::StatusOr<PictureFormats> FormatsFor(const PictureSettings& settings,
                                          const std::vector<InputDeclaration>& declarations) {
  PictureFormats formats;
  for (const InputDeclaration& input : declarations) {
    if (!TakesPictures(input.shape) || !SaysNumbers(settings, input)) continue;
    ASSIGN_OR_RETURN(formats[input.name], PictureFormatFor(settings, input));
  }
  return formats;
}

}  // namespace

absl::StatusOr<Givens> ReadGivens(OpenedModel& model, const std::vector<std::string>& shapes,
                                  const InputSources& inputs, const SampleSettings* samples,
                                  const WorkControl& control) {
  Givens givens;
  givens.options.control = control;
  ASSIGN_OR_RETURN(givens.options.shapes, ParseShapes(shapes));
  const bool is_plain = ChangedOptions(inputs.pictures).empty();
  if (inputs.inputs.empty() && givens.options.shapes.empty() && samples == nullptr && is_plain) return givens;
  ASSIGN_OR_RETURN(std::vector<InputDeclaration> declarations, model.Inputs());
  RETURN_IF_ERROR(Annotate(BindShapes(givens.options.shapes, declarations), model.path()));
  ASSIGN_OR_RETURN(givens.options.pictures, FormatsFor(inputs.pictures, declarations));
  ASSIGN_OR_RETURN(givens.inputs, ReadInputs(inputs, declarations));
  for (const NamedTensor& value : givens.inputs.values) givens.options.values[value.name] = value.tensor;
  if (samples == nullptr) return givens;
  ASSIGN_OR_RETURN(givens.samples, ReadSamples(*samples, inputs, givens.inputs, declarations, control));
  for (const NamedTensor& value : givens.samples.front())
    givens.options.shapes.emplace(value.name, value.tensor.shape());
  return givens;
}

void NoteRawPictures(const Givens& givens, const Network& network,
                     const std::function<void(std::string_view)>& note, std::string_view option) {
  const absl::StatusOr<std::vector<InputDeclaration>> declarations = network.Inputs();
  if (!note || !declarations.ok()) return;
  for (const InputDeclaration& input : *declarations) {
    const auto raw = givens.inputs.raw_pictures.find(input.name);
    if (raw == givens.inputs.raw_pictures.end() || input.picture.has_value()) continue;
    note(RawPictureNote(raw->second, input.name, option));
  }
}

}  // namespace attune
