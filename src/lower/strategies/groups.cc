#include "lower/strategies/groups.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "lower/strategies/access.h"

namespace attune {
namespace {

bool Reads(const Stage& stage, const Buffer& buffer) {
  return stage.is_imperative() ? Reads(stage.body, buffer)
                               : Reads(stage.value, buffer) || Reads(stage.where, buffer);
}

// The work of a stage and of the temporaries that it is made from.
int64_t WorkUpTo(const std::vector<Stage>& stages, size_t index, const std::set<Buffer>& kept) {
  int64_t work = WorkOf(stages[index]);
  for (size_t i = 0; i < index; ++i) {
    if (!kept.contains(stages[i].output) && !stages[i].is_imperative() &&
        Reads(stages[index], stages[i].output))
      work += WorkUpTo(stages, i, kept);
  }
  return work;
}

// The axis that each root axis indexes in `load`; the reader's axes run along the root's by `along`.
std::map<size_t, size_t> AxesIn(const Expr& load, const Stage& reader,
                                const std::map<size_t, size_t>& along) {
  const Bounds bounds = AxisBounds(reader);
  std::map<size_t, size_t> axes;
  for (const auto& [root_axis, own_axis] : along) {
    const Axis& axis = reader.axes[own_axis];
    for (size_t d = 0; d < load->args.size(); ++d) {
      const Expr& index = load->args[d];
      const bool direct = index->kind == ExprKind::kVar && index->var == axis.var;
      const Affine form = bounds.Normalize(index);
      const bool simple = form.terms.size() == 1 && form.Find(axis.var) != nullptr &&
                          form.terms[0].coefficient == 1 && form.constant == 0;
      if (direct || simple) axes[root_axis] = d;
    }
  }
  return axes;
}

void KeepCommon(std::map<size_t, size_t>& axes, const std::map<size_t, size_t>& other) {
  std::erase_if(axes, [&](const auto& entry) {
    const auto it = other.find(entry.first);
    return it == other.end() || it->second != entry.second;
  });
}

// How the axes of `stage` run along with the root's, or nothing where a stage outside of the group reads it.
std::optional<std::map<size_t, size_t>> AlongRoot(const std::vector<Stage>& stages, const Stage& stage,
                                                  const std::vector<Member>& group) {
  std::optional<std::map<size_t, size_t>> along;
  for (const Stage& reader : stages) {
    if (reader.name == stage.name) continue;
    if (reader.output == stage.output) return std::nullopt;
    if (!Reads(reader, stage.output)) continue;
    const auto member = std::find_if(group.begin(), group.end(),
                                     [&](const Member& m) { return m.stage.name == reader.name; });
    if (member == group.end()) return std::nullopt;
    VisitLoads(reader, [&](const Expr& load) {
      if (load->buffer != stage.output) return;
      const auto axes = AxesIn(load, reader, member->along);
      if (along) {
        KeepCommon(*along, axes);
      } else {
        along = axes;
      }
    });
  }
  return along;
}

}  // namespace

bool Reads(const Stmt& s, const Buffer& buffer) {
  if (s == nullptr) return false;
  for (const Expr& e : {s->value, s->condition, s->min, s->extent}) {
    if (Reads(e, buffer)) return true;
  }
  for (const Expr& e : s->indices) {
    if (Reads(e, buffer)) return true;
  }
  return std::any_of(s->children.begin(), s->children.end(),
                     [&](const Stmt& c) { return Reads(c, buffer); }) ||
         Reads(s->body, buffer) || Reads(s->else_body, buffer);
}

StageGroup FindGroup(const std::vector<Stage>& stages, size_t index, const std::set<std::string>& taken,
                     const std::set<Buffer>& kept) {
  StageGroup group{.root = stages[index], .members = {}, .rows = {}};
  const size_t rank = group.root.axes.size();
  group.rows.resize(rank);
  std::iota(group.rows.begin(), group.rows.end(), 0);
  if (group.root.is_reduction()) return group;

  Member root{.stage = group.root, .along = {}};
  for (size_t d = 0; d < rank; ++d) root.along[d] = d;
  std::vector<Member> members = {root};
  for (size_t i = index; i-- > 0;) {
    const Stage& stage = stages[i];
    if (stage.is_imperative() || kept.contains(stage.output) || taken.contains(stage.name)) continue;
    const auto along = AlongRoot(stages, stage, members);
    if (!along) continue;
    std::vector<size_t> rows;
    for (size_t axis : group.rows) {
      if (along->contains(axis)) rows.push_back(axis);
    }
    // A stage that is small next to the root is computed beforehand and does not shape the root's loops.
    const bool shapes = rows.size() < group.rows.size();
    if (rows.empty() || (shapes && WorkUpTo(stages, i, kept) < WorkOf(group.root) / 4)) continue;
    group.rows = rows;
    members.push_back({stage, *along});
  }
  group.members.assign(members.begin() + 1, members.end());
  return group;
}

}  // namespace attune
