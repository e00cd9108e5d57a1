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

OpenSizes OpenSizesOf(const std::vector<InputDeclaration>& inputs) {
  // Batches are small and sequences are not; plans are made near these.
  constexpr int64_t kLikelyBatch = 2, kLikelyLength = 64;
  OpenSizes open;
  for (const InputDeclaration& input : inputs) {
    for (size_t d = 0; d < input.shape.size(); ++d) {
      const std::string name = NameOf(input, d);
      if (input.shape[d] >= 0 || std::ranges::find(open.dims, name, &OpenDim::name) != open.dims.end())
        continue;
      open.dims.push_back({.name = name, .min = 1, .likely = d == 0 ? kLikelyBatch : kLikelyLength});
    }
  }
  for (OpenDim& dim : open.dims) dim.max = MostOpenSize(open.dims.size());
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
  OpenImport import;
  import.open = OpenSizesOf(inputs);
  std::optional<std::vector<SizePoint>> points = PointsFor(import.open.dims);
  if (!points.has_value()) return InvalidInput("an open dimension has too few sizes; give its shape");
  import.open.points = *std::move(points);
  std::vector<Graph*> graphs;
  const auto import_at = [&](const SizePoint& point) {
    InputOptions at_point = options;
    at_point.shapes = ShapesAt(inputs, import.open, point);  // of all inputs
    return model.Import(at_point);
  };
  for (const SizePoint& point : import.open.points) {
    ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, import_at(point));
    graphs.push_back(import.graphs.emplace_back(std::move(graph)).get());
  }
  RETURN_IF_ERROR(LimitToSlices(graphs, import.open));
  const SizePoint far = FarPoint(import.open.dims);
  const absl::StatusOr<std::unique_ptr<Graph>> graph_at_far = import_at(far);
  if (graph_at_far.ok()) graphs.push_back(graph_at_far->get());
  RETURN_IF_ERROR(OpenConstants(graphs));
  if (graph_at_far.ok()) {
    RETURN_IF_ERROR(CheckAtFarPoint(graphs, import.open, far));
    graphs.pop_back();
  }
  SizePoint least;
  for (const OpenDim& dim : import.open.dims) least.push_back(dim.min);
  const absl::StatusOr<std::unique_ptr<Graph>> graph_at_least = import_at(least);
  if (graph_at_least.ok()) RETURN_IF_ERROR(CheckOutputsAt(graphs, import.open, **graph_at_least, least));
  return import;
}

}  // namespace attune
