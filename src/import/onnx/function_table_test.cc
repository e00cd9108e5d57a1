#include "import/onnx/function_table.h"

#include <gtest/gtest.h>

#include <string>

namespace attune::onnx {
namespace {

void AddFunction(attune_onnx::ModelProto& model, const std::string& domain, const std::string& name,
                 const std::string& overload = "") {
  attune_onnx::FunctionProto& function = *model.add_functions();
  function.set_domain(domain);
  function.set_name(name);
  function.set_overload(overload);
}

attune_onnx::NodeProto Node(const std::string& domain, const std::string& op,
                            const std::string& overload = "") {
  attune_onnx::NodeProto node;
  node.set_domain(domain);
  node.set_op_type(op);
  node.set_overload(overload);
  return node;
}

TEST(FunctionTable, FindsFunctionsByDomainNameAndOverload) {
  attune_onnx::ModelProto model;
  AddFunction(model, "custom", "Scale");
  AddFunction(model, "custom", "Scale", "wide");
  const FunctionTable functions(model);
  EXPECT_EQ(functions.Find(Node("custom", "Scale")), &model.functions(0));
  EXPECT_EQ(functions.Find(Node("custom", "Scale", "wide")), &model.functions(1));
  EXPECT_EQ(functions.Find(Node("custom", "Scale", "narrow")), nullptr);
  EXPECT_EQ(functions.Find(Node("", "Scale")), nullptr);
}

TEST(FunctionTable, BothNamesOfTheDefaultDomainMeanTheSame) {
  EXPECT_EQ(CanonicalDomain("ai.onnx"), "");
  EXPECT_EQ(CanonicalDomain("custom"), "custom");
  attune_onnx::ModelProto model;
  AddFunction(model, "ai.onnx", "Scale");
  EXPECT_NE(FunctionTable(model).Find(Node("", "Scale")), nullptr);
}

}  // namespace
}  // namespace attune::onnx
