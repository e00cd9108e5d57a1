// What an import says about shapes although it succeeds: one line on the log for each kind of doubt, with the
// first tensor that it concerns and how many others it concerns.
#ifndef ATTUNE_IMPORT_COMMON_SHAPE_NOTICES_H_
#define ATTUNE_IMPORT_COMMON_SHAPE_NOTICES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace attune::importing {

class ShapeNotices {
 public:
  // Compares the shape of a tensor with the one that the model declares for it, in which a negative size is
  // open and fits any. A size that depends on data fits any, too.
  void Compare(std::string_view tensor, const TensorType& computed, const Shape& declared);
  // Notes that `size` elements become so many by `scale` in runtimes, but `by_onnx` by ONNX's letter.
  void AddScaled(std::string_view node, int64_t size, float scale, int64_t becomes, int64_t by_onnx);
  // Logs warnings about what was added, at most one line of each kind.
  void Log() const;
  // The graph that `import` makes, or the failure that it throws. Logs if there is a graph, or if the model
  // is broken: a wrong shape may be why an operator refuses its inputs.
  absl::StatusOr<std::unique_ptr<Graph>> LogAfter(
      const std::function<std::unique_ptr<Graph>()>& import) const;

 private:
  // The names, each counted once however often a loop's body is expanded.
  std::set<std::string, std::less<>> contradicted_, scaled_;
  struct {
    std::string tensor, computed, declared;
  } first_contradicted_;
  struct {
    std::string node;
    int64_t size, becomes, by_onnx;
    float scale;
  } first_scaled_ = {};
};

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_SHAPE_NOTICES_H_
