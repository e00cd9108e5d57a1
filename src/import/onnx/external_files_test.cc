// Which files a model consists of.
#include "import/onnx/external_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/temporary_folder.h"
#include "import/onnx/import.h"

namespace attune::onnx {
namespace {

using namespace attune_onnx;  // NOLINT: the schema's messages
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ExternalFilesTest : public ::testing::Test {
 protected:
  ExternalFilesTest() {
    std::filesystem::create_directory(folder_ / "sub");
    for (const char* name : {"a", "b", "c", "d", "sub/e"}) std::ofstream(folder_ / name) << "0123";
  }

  static void SetLocation(TensorProto* tensor, const std::string& location) {
    tensor->set_data_location(TensorProto::EXTERNAL);
    StringStringEntryProto* entry = tensor->add_external_data();
    entry->set_key("location");
    entry->set_value(location);
  }
  absl::StatusOr<std::vector<std::string>> Files() const { return ExternalFiles(model_, folder_.path()); }
  std::string ErrorOf(const std::string& location) {
    model_.Clear();
    SetLocation(model_.mutable_graph()->add_initializer(), location);
    return Files().status().ToString();
  }

  const testing::TemporaryFolder folder_;
  ModelProto model_;
};

TEST_F(ExternalFilesTest, AreFoundWhereverTheTensorsAre) {
  SetLocation(model_.mutable_graph()->add_initializer(), "b");
  SetLocation(model_.mutable_graph()->add_sparse_initializer()->mutable_values(), ".//a");
  AttributeProto* branch = model_.mutable_graph()->add_node()->add_attribute();
  SetLocation(branch->mutable_g()->add_node()->add_attribute()->mutable_t(), "sub/./e/");
  SetLocation(model_.add_functions()->add_node()->add_attribute()->add_tensors(), "c");
  SetLocation(model_.mutable_graph()->add_initializer(), "./b");
  TensorProto* within = model_.mutable_graph()->add_initializer();
  SetLocation(within, "d");
  within->set_data_location(TensorProto::DEFAULT);
  const auto files = Files();
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, ElementsAre("a", "b", "c", "sub/e"));
}

TEST_F(ExternalFilesTest, NothingOutsideOfTheFolderIsOne) {
  EXPECT_THAT(ErrorOf("/etc/hostname"), HasSubstr("absolute path"));
  EXPECT_THAT(ErrorOf("sub/../../a"), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(ErrorOf("none"), HasSubstr("external data in \"none\": cannot open"));
  EXPECT_THAT(ErrorOf("sub"), HasSubstr("not a regular file"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("names no file"));
  std::filesystem::create_symlink("/etc/hostname", folder_ / "link");
  EXPECT_THAT(ErrorOf("link"), HasSubstr("symbolic link"));
}

TEST_F(ExternalFilesTest, AreThoseOfAParsedModel) {
  model_.set_ir_version(8);
  SetLocation(model_.mutable_graph()->add_initializer(), "sub/e");
  const auto parsed = ParseOnnx(model_.SerializeAsString(), folder_.path());
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto files = (*parsed)->FilesBeside();
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, ElementsAre("sub/e"));
}

}  // namespace
}  // namespace attune::onnx
