#include "api/open_model.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "sizes/limits.h"
#include "sizes/open_constants.h"

namespace attune {
namespace {

std::map<std::string, Shape> GivenShapes(const InputOptions& options) {
  std::map<std::string, Shape> shapes = options.shapes;
  for (const auto& [name, value] : options.values) shapes.emplace(name, value.shape());
  return shapes;
}

// The inputs with what the options say of their shapes.
absl::StatusOr<std::vector<InputDeclaration>> Declarations(OpenedModel& model, const InputOptions& options) {
  ASSIGN_OR_RETURN(std::vector<InputDeclaration> inputs, model.Inputs());
  RETURN_IF_ERROR(BindShapes(GivenShapes(options), inputs));
  return inputs;
}

// The name of an open dimension: the model's, or else that of its place.
std::string NameOf(const InputDeclaration& input, size_t dimension) {
  const std::string& symbol = input.dims[dimension];
  return symbol == "?" ? absl::StrCat(input.name, ".", dimension) : symbol;
}

// Batches are small and sequences are not; plans are made near these.
constexpr int64_t kLikelyBatch = 2, kLikelyLength = 64;
// For networks that refuse those, such as those of sound.
constexpr int64_t kLikelyLongLength = 16 * kLikelyLength;

absl::StatusOr<OpenSizes> OpenSizesOf(const std::vector<InputDeclaration>& inputs, int64_t likely_length) {
  OpenSizes open;
  for (const InputDeclaration& input : inputs) {
    for (size_t d = 0; d < input.shape.size(); ++d) {
      const std::string name = NameOf(input, d);
      if (input.shape[d] >= 0 || std::ranges::find(open.dims, name, &OpenDim::name) != open.dims.end())
        continue;
      open.dims.push_back({.name = name, .min = 1, .likely = d == 0 ? kLikelyBatch : likely_length});
    }
  }
  for (OpenDim& dim : open.dims) dim.max = MostOpenSize(open.dims.size());
  std::optional<std::vector<SizePoint>> points = PointsFor(open.dims);
  if (!points.has_value()) return InvalidInput("an open dimension has too few sizes; give its shape");
  open.points = *std::move(points);
  return open;
}

std::map<std::string, Shape> ShapesAt(const std::vector<InputDeclaration>& inputs, const OpenSizes& open,
                                      const SizePoint& point) {
  std::map<std::string, Shape> shapes;
  for (const InputDeclaration& input : inputs) {
    Shape& shape = shapes[input.name] = input.shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] >= 0) continue;
      const auto dim = std::ranges::find(open.dims, NameOf(input, d), &OpenDim::name);
      shape[d] = point[static_cast<size_t>(dim - open.dims.begin())];
    }
  }
  return shapes;
}

}  // namespace

absl::StatusOr<bool> LeavesOpen(OpenedModel& model, const InputOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<InputDeclaration> inputs, Declarations(model, options));
  return std::ranges::any_of(inputs, [](const InputDeclaration& input) {
    return input.ranked && std::ranges::find(input.shape, -1) != input.shape.end();
  });
}

absl::StatusOr<OpenImport> ImportOpen(OpenedModel& model, const InputOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<InputDeclaration> inputs, Declarations(model, options));
  for (const InputDeclaration& input : inputs) {
    if (!input.ranked)
      return InvalidInput("input \"", input.name, "\" has no rank in the model; give its shape");
  }
  const auto import_at = [&](const OpenSizes& open, const SizePoint& point) {
    InputOptions at_point = options;
    at_point.shapes = ShapesAt(inputs, open, point);  // of all inputs
    return model.Import(at_point);
  };
  const auto import_with = [&](int64_t likely_length) -> absl::StatusOr<OpenImport> {
    OpenImport import;
    ASSIGN_OR_RETURN(import.open, OpenSizesOf(inputs, likely_length));
    for (const SizePoint& point : import.open.points) {
      ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, import_at(import.open, point));
      import.graphs.push_back(std::move(graph));
    }
    return import;
  };
  absl::StatusOr<OpenImport> imported = import_with(kLikelyLength);
  if (absl::IsInvalidArgument(imported.status())) {
    absl::StatusOr<OpenImport> longer = import_with(kLikelyLongLength);
    if (longer.ok()) imported = std::move(longer);
  }
  ASSIGN_OR_RETURN(OpenImport import, std::move(imported));
  const OpenSizes& open = import.open;
  std::vector<Graph*> graphs;
  for (const std::unique_ptr<Graph>& graph : import.graphs) graphs.push_back(graph.get());
  RETURN_IF_ERROR(NarrowSizes(graphs, import.open));
  const SizePoint far = FarPoint(open.dims);
  const absl::StatusOr<std::unique_ptr<Graph>> graph_at_far = import_at(open, far);
  if (graph_at_far.ok()) graphs.push_back(graph_at_far->get());
  RETURN_IF_ERROR(OpenConstants(graphs));
  if (graph_at_far.ok()) {
    RETURN_IF_ERROR(CheckAtFarPoint(graphs, open, far));
    graphs.pop_back();
  }
  SizePoint least;
  for (const OpenDim& dim : open.dims) least.push_back(dim.min);
  const absl::StatusOr<std::unique_ptr<Graph>> graph_at_least = import_at(open, least);
  if (graph_at_least.ok()) RETURN_IF_ERROR(CheckOutputsAt(graphs, open, **graph_at_least, least));
  return import;
}

}  // namespace attune
