#include "import/tensorflow/function_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace attune::tensorflow {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A function of two arguments, "first" and "second", whose results are these tensors.
FunctionDef& AddFunction(FunctionDefLibrary& library, const std::string& name, const std::string& first,
                         const std::string& second) {
  FunctionDef& function = *library.add_function();
  function.mutable_signature()->set_name(name);
  for (const char* argument : {"first", "second"})
    function.mutable_signature()->add_input_arg()->set_name(argument);
  for (const auto& [result, source] : {std::pair("one", first), std::pair("two", second)}) {
    function.mutable_signature()->add_output_arg()->set_name(result);
    (*function.mutable_ret())[result] = source;
  }
  return function;
}

void AddNode(FunctionDef& function, const std::string& name, const std::string& op,
             const std::string& input) {
  NodeDef& node = *function.add_node_def();
  node.set_name(name);
  node.set_op(op);
  node.add_input(input);
}

TEST(FunctionLibrary, FindsFunctionsAndTheirNodes) {
  FunctionDefLibrary definitions;
  AddNode(AddFunction(definitions, "f", "first", "second"), "node", "Relu", "first");
  AddFunction(definitions, "g", "first", "second");
  FunctionLibrary library(definitions);
  EXPECT_EQ(library.Find("h"), nullptr);
  const FunctionDef* f = library.Find("f");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->signature().name(), "f");
  const Body& body = library.BodyOf(*f);
  EXPECT_NE(body.Find("node"), nullptr);
  EXPECT_EQ(&library.BodyOf(*f), &body);
  EXPECT_EQ(library.BodyOf(*library.Find("g")).Find("node"), nullptr);
}

TEST(FunctionLibrary, KnowsWhichArgumentsAreResultsAsWell) {
  FunctionDefLibrary definitions;
  AddFunction(definitions, "turned", "second", "first");
  FunctionDef& f = AddFunction(definitions, "f", "copy_of_copy:output:0", "changed:activations:0");
  AddNode(f, "copy", "Identity", "first");
  AddNode(f, "copy_of_copy", "Identity", "copy:output:0");
  AddNode(f, "changed", "Relu", "second");
  FunctionLibrary library(definitions);
  EXPECT_THAT(library.HandedThrough("turned"), ElementsAre(false, false));
  EXPECT_THAT(library.HandedThrough("f"), ElementsAre(true, false));
  EXPECT_THAT(library.HandedThrough("none"), IsEmpty());
}

}  // namespace
}  // namespace attune::tensorflow
