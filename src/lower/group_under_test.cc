#include "lower/group_under_test.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/random.h"
#include "base/status.h"
#include "graph/text.h"

namespace attune {
namespace {

absl::StatusOr<TensorType> ParseType(const std::string& text) {
  ASSIGN_OR_RETURN(const auto graph,
                   ParseGraph(absl::StrCat("graph(%x: ", text, ") {\n  return \"\": %x\n}\n")));
  return graph->inputs()[0]->type();
}

// The shape of a tensor of this type; see OperatorCase::dynamic_size.
Shape ShapeAt(const TensorType& type, int64_t dynamic_size) {
  Shape shape = type.shape();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!type.dims[d].is_constant() && dynamic_size >= 0) shape[d] = std::min(shape[d], dynamic_size);
  }
  return shape;
}

Tensor Fill(const TensorType& type, const Shape& shape, const std::vector<std::string>& words,
            Random& random) {
  Tensor tensor(type.dtype, shape);
  double low = -2, high = 2;
  if (IsUnsignedInt(type.dtype) || type.dtype == DType::kBool) low = 0;
  if (type.dtype == DType::kBool) high = 1;
  const bool is_range = words.size() == 2 && words[1].find("..") != std::string::npos;
  if (is_range) {
    const std::vector<std::string> ends = absl::StrSplit(words[1], "..");
    low = std::stod(ends[0]);
    high = std::stod(ends[1]);
  }
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (words.size() > 1 && !is_range) {
      tensor.SetDouble(i, std::stod(words[1 + static_cast<size_t>(i) % (words.size() - 1)]));
    } else if (IsFloat(type.dtype)) {
      tensor.SetDouble(i, low + (high - low) * random.Uniform());
    } else {
      tensor.SetInt(i, random.Integer(static_cast<int64_t>(low), static_cast<int64_t>(high)));
    }
  }
  return tensor;
}

}  // namespace

std::string Describe(const OperatorCase& test_case) {
  std::string text = absl::StrCat(OpName(test_case.op), "(");
  for (const InputSpec& input : test_case.inputs)
    absl::StrAppend(&text, text.ends_with("(") ? "" : ", ", input);
  absl::StrAppend(&text, ")", test_case.layout);
  for (Op op : test_case.epilogue) absl::StrAppend(&text, "+", OpName(op));
  if (test_case.dynamic_size >= 0) absl::StrAppend(&text, " of ", test_case.dynamic_size);
  if (!test_case.config.empty()) absl::StrAppend(&text, " ", ToString(test_case.config));
  return text;
}

absl::StatusOr<GroupUnderTest> MakeGroup(const OperatorCase& test_case) {
  GroupUnderTest group{.description = Describe(test_case), .region = std::make_unique<Graph>(), .inputs = {}};
  Random random(7);
  std::vector<Value*> values;
  for (const InputSpec& spec : test_case.inputs) {
    if (spec.empty()) {
      values.push_back(nullptr);
      continue;
    }
    const std::vector<std::string> words = absl::StrSplit(spec, ' ');
    ASSIGN_OR_RETURN(const TensorType type, ParseType(words[0]));
    values.push_back(group.region->AddInput(absl::StrCat("x", values.size()), type));
    group.inputs.push_back(Fill(type, ShapeAt(type, test_case.dynamic_size), words, random));
  }
  ASSIGN_OR_RETURN(Node * node, group.region->Add(test_case.op, values, test_case.attrs, "", nullptr, {},
                                                  test_case.num_outputs));
  const auto set_layout = [&](Value* value) -> absl::Status {
    if (test_case.layout.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const TensorType blocked,
                     ParseType(absl::StrCat(ToString(TensorType(value->type().dtype, value->type().dims)),
                                            test_case.layout)));
    value->set_type(blocked);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(set_layout(node->output()));
  for (Op op : test_case.epilogue) {
    ASSIGN_OR_RETURN(node, group.region->Add(op, {node->output()}));
    RETURN_IF_ERROR(set_layout(node->output()));
  }
  for (int i = 0; i < node->num_outputs(); ++i)
    group.region->AddOutput(absl::StrCat("y", i), node->output(i));
  return group;
}

absl::StatusOr<GroupUnderTest> ParseGroup(const std::string& text) {
  GroupUnderTest group{.description = text, .region = nullptr, .inputs = {}};
  ASSIGN_OR_RETURN(group.region, ParseGraph(text));
  Random random(7);
  for (const auto& input : group.region->inputs())
    group.inputs.push_back(Fill(input->type(), input->type().shape(), {}, random));
  return group;
}

std::vector<OperatorCase> InEachLayout(const std::vector<OperatorCase>& cases) {
  std::vector<OperatorCase> all;
  for (const OperatorCase& test_case : cases) {
    all.push_back(test_case);
    for (const char* layout : {"{c1/16}", "{c1/8}"}) {
      OperatorCase blocked = test_case;
      blocked.inputs[0] = absl::StrReplaceAll(blocked.inputs[0], {{"]", absl::StrCat("]", layout)}});
      blocked.layout = layout;
      all.push_back(std::move(blocked));
    }
  }
  return all;
}

std::vector<OperatorCase> WithDrawnConfigs(const std::vector<OperatorCase>& cases,
                                           const std::vector<std::string>& strategies, const Target& target,
                                           int configs) {
  Random random(1);
  std::vector<OperatorCase> drawn;
  for (const OperatorCase& test_case : cases) {
    const absl::StatusOr<GroupUnderTest> group = MakeGroup(test_case);
    EXPECT_TRUE(group.ok()) << group.status();
    if (!group.ok()) continue;
    const auto workload = [&] { return *AnalyzeGroup(*group->region, "drawn"); };
    for (const std::string& name : strategies) {
      const Strategy* strategy = FindStrategy(name);
      if (!strategy->why_not(workload(), target).empty()) continue;
      const std::vector<Knob> space = strategy->space(workload(), target);
      for (int i = 0; i < configs; ++i) {
        OperatorCase one = test_case;
        one.strategy = name;
        for (const Knob& knob : space)
          one.config[knob.name] =
              knob.values[static_cast<size_t>(random.Integer(0, std::ssize(knob.values) - 1))];
        if (ScheduleBy(*strategy, workload(), one.config, target).ok()) drawn.push_back(std::move(one));
      }
    }
  }
  return drawn;
}

std::vector<OperatorCase> InEachDType(const std::vector<OperatorCase>& cases, const std::string& from,
                                      const std::vector<std::string>& dtypes) {
  std::vector<OperatorCase> all;
  for (const OperatorCase& test_case : cases) {
    for (const std::string& dtype : dtypes) {
      OperatorCase typed = test_case;
      for (InputSpec& input : typed.inputs) input = absl::StrReplaceAll(input, {{from + "[", dtype + "["}});
      all.push_back(std::move(typed));
    }
  }
  return all;
}

}  // namespace attune
