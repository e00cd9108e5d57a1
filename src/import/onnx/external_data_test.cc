// Tensors whose data lie in other files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/testing/temporary_folder.h"
#include "import/common/shared_weights_for_test.h"
#include "import/onnx/testing/model_builder.h"

namespace attune::onnx {
namespace {

using ::testing::HasSubstr;

// A folder with a data file, and models that refer to it.
class ExternalDataTest : public ::testing::Test {
 protected:
  ExternalDataTest() {
    std::filesystem::create_directories(folder_ / "sub");
    std::ofstream(folder_ / "weights.bin") << "0123456789abcdef";
  }

  std::string Error(const std::string& location, const std::string& offset = "0") const {
    Model model;
    model.AddInput("x", {"1"}, TensorProto::INT64);
    TensorProto* tensor = model.AddInts("w", {0});
    tensor->clear_int64_data();
    tensor->set_data_location(TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair("location", location), std::pair("offset", offset)}) {
      StringStringEntryProto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    model.AddNode("Add", {"x", "w"}, {"y"});
    model.AddOutput("y");
    return model.Error({}, folder_.string());
  }

  const testing::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(ExternalDataTest, ReadsFromTheModelsFolder) {
  EXPECT_EQ(Error("weights.bin"), "");
  EXPECT_EQ(Error("./weights.bin", "8"), "");
}

TEST_F(ExternalDataTest, RefusesWhatLiesOutsideOrIsTooShort) {
  EXPECT_THAT(Error("weights.bin", "9"), HasSubstr("it ends at byte 16"));
  EXPECT_THAT(Error("weights.bin", "-1"), HasSubstr("offset is not a number"));
  EXPECT_THAT(Error("weights.bin", "9223372036854775807"), HasSubstr("it ends at byte 16"));
  EXPECT_THAT(Error("/etc/hostname"), HasSubstr("absolute path"));
  EXPECT_THAT(Error("sub/../../" + folder_.filename().string() + "/weights.bin"),
              HasSubstr("leaves the model's folder"));
  EXPECT_THAT(Error("sub"), HasSubstr("not a regular file"));
  EXPECT_THAT(Error("missing.bin"), HasSubstr("cannot open"));
  EXPECT_THAT(Error(""), HasSubstr("names no file"));
}

TEST_F(ExternalDataTest, RefusesLinks) {
  std::filesystem::create_symlink(folder_ / "weights.bin", folder_ / "soft.bin");
  EXPECT_THAT(Error("soft.bin"), HasSubstr("symbolic link"));
  std::filesystem::create_directory_symlink(folder_, folder_ / "sub" / "up");
  EXPECT_NE(Error("sub/up/weights.bin"), "");
  std::filesystem::create_hard_link(folder_ / "weights.bin", folder_ / "hard.bin");
  EXPECT_THAT(Error("hard.bin"), HasSubstr("hard link"));
}

TEST_F(ExternalDataTest, AFifoDoesNotBlock) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(Error("pipe"), HasSubstr("not a regular file"));
}

TEST_F(ExternalDataTest, IsReadOnce) {
  Model model;
  model.AddInput("x", {"N", "2"});
  TensorProto* tensor = model.proto.mutable_graph()->add_initializer();
  tensor->set_name("w");
  tensor->set_data_type(TensorProto::FLOAT);
  for (const int64_t size : {2, 2}) tensor->add_dims(size);
  tensor->set_data_location(TensorProto::EXTERNAL);
  StringStringEntryProto* location = tensor->add_external_data();
  location->set_key("location");
  location->set_value("weights.bin");
  model.AddNode("MatMul", {"x", "w"}, {"y"});
  model.AddOutput("y");
  importing::ExpectSharedWeights(ParseOnnx(model.proto.SerializeAsString(), folder_.string()), 2,
                                 [this] { std::filesystem::remove(folder_ / "weights.bin"); });
}

}  // namespace
}  // namespace attune::onnx
