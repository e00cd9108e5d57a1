#include "import/tensorflow/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <snappy.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/temporary_folder.h"
#include "import/common/import_once_for_test.h"
#include "import/tensorflow/sorted_table.h"
#include "import/tensorflow/testing/model_builder.h"
#include "import/tensorflow/variables.h"

namespace attune::tensorflow {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

// A block of entries, each of which shares as much of its key as possible with the previous entry.
std::string Block(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string block;
  std::string last;
  for (const auto& [key, value] : entries) {
    size_t shared = 0;
    while (shared < last.size() && shared < key.size() && last[shared] == key[shared]) ++shared;
    block += Varint(shared) + Varint(key.size() - shared) + Varint(value.size()) + key.substr(shared) + value;
    last = key;
  }
  return block + Number(0, 4) + Number(1, 4);
}

std::string Table(const std::map<std::string, std::string>& entries, bool compress = false) {
  std::string file;
  const auto add = [&](std::string block) {
    if (compress) {
      std::string packed;
      snappy::Compress(block.data(), block.size(), &packed);
      block = packed;
    }
    const std::string handle = Varint(file.size()) + Varint(block.size());
    file += block + std::string(1, compress ? '\1' : '\0') + "????";
    return handle;
  };
  const std::string data = add(Block({entries.begin(), entries.end()}));
  const std::string empty = add(Block({}));
  const std::string index = add(Block({{"zzz", data}}));
  std::string footer = empty + index;
  footer.resize(40, '\0');
  return file + footer + Number(0xdb4775248b80fb57, 8);
}

TEST(SortedTable, ReadsWhatWasWritten) {
  const std::map<std::string, std::string> entries = {
      {"", "header"}, {"layer/bias", "1"}, {"layer/kernel", "22"}};
  for (const bool compress : {false, true}) {
    const auto table = ReadSortedTable(Table(entries, compress));
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(*table, entries);
  }
}

TEST(SortedTable, DamageIsAnError) {
  const std::string whole = Table({{"a", "1"}, {"ab", std::string(100, 'x')}}, true);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ReadSortedTable(std::string_view(whole).substr(0, size)).ok()) << size;
  }
  // A changed byte may go unnoticed, since checksums are not verified, but must do no harm.
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xFF);
    (void)ReadSortedTable(damaged);
  }
}

TEST(SortedTable, AKeyCannotShareWhatIsNotThere) {
  std::string block = Varint(5) + Varint(1) + Varint(0) + "x" + Number(0, 4) + Number(1, 4);
  std::string file = block + std::string(5, '\0');
  const std::string data = Varint(0) + Varint(block.size());
  const std::string index = Block({{"z", data}});
  std::string footer = Varint(0) + Varint(0) + Varint(file.size()) + Varint(index.size());
  footer.resize(40, '\0');
  file += index + std::string(5, '\0') + footer + Number(0xdb4775248b80fb57, 8);
  EXPECT_THAT(std::string(ReadSortedTable(file).status().message()), HasSubstr("shares more than there is"));
}

// A file with one block and an index that refers to it `times` times.
std::string Repeated(const std::string& block, int times) {
  const std::string file = block + std::string(5, '\0');
  const std::string data = Varint(0) + Varint(block.size());
  std::vector<std::pair<std::string, std::string>> handles;
  for (int i = 0; i < times; ++i) handles.emplace_back("z", data);
  const std::string index = Block(handles);
  std::string footer = Varint(0) + Varint(0) + Varint(file.size()) + Varint(index.size());
  footer.resize(40, '\0');
  return file + index + std::string(5, '\0') + footer + Number(0xdb4775248b80fb57, 8);
}

TEST(SortedTable, HoldsNoMoreThanItsLengthAllows) {
  // Keys of 60,000 bytes that share all except one byte.
  std::string block = Varint(0) + Varint(60'000) + Varint(0) + std::string(60'000, 'k');
  for (int i = 0; i < 2000; ++i) block += Varint(59'999) + Varint(1) + Varint(0) + "k";
  block += Number(0, 4) + Number(1, 4);
  EXPECT_THAT(std::string(ReadSortedTable(Repeated(block, 1)).status().message()),
              HasSubstr("too much for its length"));
  // A block without entries costs its length each time the index refers to it.
  const std::string restarts = std::string(1 << 16, '\0') + Number(1 << 14, 4);
  EXPECT_TRUE(ReadSortedTable(Repeated(restarts, 2)).ok());
  EXPECT_THAT(std::string(ReadSortedTable(Repeated(restarts, 1000)).status().message()),
              HasSubstr("too much for its length"));
}

std::string Entry(const std::vector<int64_t>& dims, int64_t offset, int64_t size) {
  BundleEntryProto entry;
  entry.set_dtype(DT_FLOAT);
  for (int64_t dim : dims) entry.mutable_shape()->add_dim()->set_size(dim);
  entry.set_offset(offset);
  entry.set_size(size);
  return entry.SerializeAsString();
}

// The folder of a SavedModel with a checkpoint of two variables, [2] and [2].
class BundleTest : public ::testing::Test {
 protected:
  BundleTest() {
    std::filesystem::create_directories(folder_ / "variables");
    BundleHeaderProto header;
    header.set_num_shards(1);
    entries_[""] = header.SerializeAsString();
    entries_["first/.ATTRIBUTES/VARIABLE_VALUE"] = Entry({2}, 0, 8);
    entries_["second/.ATTRIBUTES/VARIABLE_VALUE"] = Entry({2}, 8, 8);
    const float values[] = {1, 2, 30, 40};
    std::string data(sizeof(values), '\0');
    std::memcpy(data.data(), values, sizeof(values));
    Write("variables/variables.data-00000-of-00001", data);
    WriteIndex();
  }

  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  void WriteIndex() const { Write("variables/variables.index", Table(entries_, true)); }
  std::string Prefix() const { return (folder_ / "variables" / "variables").string(); }
  std::string Error(const std::string& key) const {
    const auto bundle = Bundle::Open(Prefix());
    return std::string((bundle.ok() ? bundle->Read(key).status() : bundle.status()).message());
  }

  const testing::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  std::map<std::string, std::string> entries_;
};

TEST_F(BundleTest, ReadsTensors) {
  const auto bundle = Bundle::Open(Prefix());
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  const auto tensor = bundle->Read("second/.ATTRIBUTES/VARIABLE_VALUE");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->as<float>(), ElementsAre(30, 40));
  EXPECT_THAT(Error("third"), HasSubstr("'third' is not in"));
}

TEST_F(BundleTest, RefusesWhatDoesNotFit) {
  entries_["long"] = Entry({3}, 8, 12);
  entries_["far"] = Entry({2}, INT64_MAX - 4, 8);
  entries_["negative"] = Entry({2}, -8, 8);
  entries_["shape"] = Entry({4}, 0, 8);
  entries_["huge"] = Entry({int64_t{1} << 40, int64_t{1} << 40}, 0, 8);
  BundleEntryProto sliced;
  sliced.set_dtype(DT_FLOAT);
  sliced.add_slices();
  entries_["sliced"] = sliced.SerializeAsString();
  BundleEntryProto elsewhere;
  ASSERT_TRUE(elsewhere.ParseFromString(Entry({2}, 0, 8)));
  elsewhere.set_shard_id(7);
  entries_["elsewhere"] = elsewhere.SerializeAsString();
  WriteIndex();
  EXPECT_THAT(Error("long"), HasSubstr("has 16 bytes"));
  EXPECT_THAT(Error("far"), HasSubstr("has 16 bytes"));
  EXPECT_THAT(Error("negative"), HasSubstr("has 16 bytes"));
  EXPECT_THAT(Error("shape"), HasSubstr("its shape needs 16"));
  EXPECT_THAT(Error("huge"), HasSubstr("its shape needs"));
  EXPECT_THAT(Error("sliced"), HasSubstr("stored in 1 slices"));
  EXPECT_THAT(Error("elsewhere"), HasSubstr("data file 7 of 1"));
}

TEST_F(BundleTest, FollowsNoLink) {
  const auto data = folder_ / "variables" / "variables.data-00000-of-00001";
  std::filesystem::rename(data, folder_ / "outside");
  std::filesystem::create_symlink(folder_ / "outside", data);
  EXPECT_THAT(Error("first/.ATTRIBUTES/VARIABLE_VALUE"), HasSubstr("symbolic link"));
  std::filesystem::remove(data);
  std::filesystem::create_hard_link(folder_ / "outside", data);
  EXPECT_THAT(Error("first/.ATTRIBUTES/VARIABLE_VALUE"), HasSubstr("hard link"));
  std::filesystem::remove(data);
  std::filesystem::rename(folder_ / "outside", data);
  EXPECT_EQ(Error("first/.ATTRIBUTES/VARIABLE_VALUE"), "");
  std::filesystem::rename(folder_ / "variables", folder_ / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", folder_ / "variables");
  EXPECT_THAT(Error("first/.ATTRIBUTES/VARIABLE_VALUE"), HasSubstr("'variables' is a symbolic link"));
  std::filesystem::remove(folder_ / "variables");
  std::filesystem::rename(folder_ / "elsewhere", folder_ / "variables");
  std::filesystem::remove(folder_ / "variables" / "variables.index");
  EXPECT_THAT(Error("first/.ATTRIBUTES/VARIABLE_VALUE"), HasSubstr("variables.index is missing"));
}

// A signature whose function adds a captured variable to its argument. Both variables have the same name,
// so that only the restore function tells them apart.
SavedModel ModelWithVariables() {
  SavedModel saved_model;
  saved_model.set_saved_model_schema_version(1);
  MetaGraphDef* meta_graph = saved_model.add_meta_graphs();
  meta_graph->mutable_meta_info_def()->add_tags("serve");
  GraphDef* graph = meta_graph->mutable_graph_def();
  FillNode(graph->add_node(), "Placeholder", "serving_x", {}).Type("dtype", DT_FLOAT).Dims("shape", {-1});
  FillNode(graph->add_node(), "VarHandleOp", "v", {}).String("shared_name", "v").Type("dtype", DT_FLOAT);
  FillNode(graph->add_node(), "VarHandleOp", "v_1", {}).String("shared_name", "v").Type("dtype", DT_FLOAT);
  FillNode(graph->add_node(), "Placeholder", "prefix", {}).Type("dtype", DT_STRING);
  FillNode(graph->add_node(), "StatefulPartitionedCall", "call", {"serving_x", "v_1"}).Function("f", "model");
  FillNode(graph->add_node(), "StatefulPartitionedCall", "restore", {"prefix", "v", "v_1"})
      .Function("f", "restore");
  FunctionBuilder model(*graph, "model", {"x", "captured"});
  model.Add("ReadVariableOp", "read", {"captured"}).Type("dtype", DT_FLOAT);
  model.Add("AddV2", "sum", {"x", "read:value:0"});
  model.Return("sum:z:0");
  FunctionBuilder restore(*graph, "restore", {"prefix", "first", "second"});
  TensorProto* names =
      (*FillNode(restore.AddNode(), "Const", "names", {}).node()->mutable_attr())["value"].mutable_tensor();
  names->set_dtype(DT_STRING);
  names->add_string_val("first/.ATTRIBUTES/VARIABLE_VALUE");
  names->add_string_val("second/.ATTRIBUTES/VARIABLE_VALUE");
  restore.Add("RestoreV2", "restored", {"prefix", "names:output:0", "names:output:0"});
  restore.Add("Identity", "copy", {"restored:tensors:1"});
  restore.Add("AssignVariableOp", "assign_0", {"first", "restored:tensors:0"});
  restore.Add("AssignVariableOp", "assign_1", {"second", "copy:output:0"});
  SignatureDef& signature = (*meta_graph->mutable_signature_def())["serving_default"];
  TensorInfo& input = (*signature.mutable_inputs())["x"];
  input.set_name("serving_x:0");
  input.set_dtype(DT_FLOAT);
  input.mutable_tensor_shape()->add_dim()->set_size(-1);
  (*signature.mutable_outputs())["sum"].set_name("call:0");
  return saved_model;
}

TEST_F(BundleTest, VariablesOfASavedModelAreFoundByWhatRestoresThem) {
  const SavedModel saved_model = ModelWithVariables();
  Write("saved_model.pb", saved_model.SerializeAsString());
  EXPECT_TRUE(LooksLikeTensorflow(saved_model.SerializeAsString()));
  EXPECT_TRUE(IsSavedModelFolder(folder_.string()));
  const auto parsed = ParseTensorflow(saved_model.SerializeAsString(), folder_.string());
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT((*parsed)->Declare("")->inputs[0].dims, ElementsAre("?"));

  const Interpreter interpreter;
  ImportOptions options;
  options.executor = &interpreter;
  options.input_shapes["x"] = {2};
  const auto graph = (*parsed)->Import(options);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)->outputs()[0].name, "sum");
  const auto outputs = interpreter.Run(**graph, {F32({2}, {1, 1})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(outputs->front().as<float>(), ElementsAre(31, 41));
  // The checkpoint is read once.
  std::filesystem::remove_all(folder_ / "variables");
  options.input_shapes["x"] = {1};
  EXPECT_TRUE((*parsed)->Import(options).ok());
  options.signature = "other";
  EXPECT_THAT(std::string((*parsed)->Import(options).status().message()),
              HasSubstr("no signature 'other'; it has serving_default"));
}

TEST_F(BundleTest, VariablesWithoutACheckpointAreNotSupported) {
  ImportOptions options;
  options.input_shapes["x"] = {2};
  const absl::Status status =
      importing::ImportOnce(ParseTensorflow(ModelWithVariables().SerializeAsString(), ""), options).status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("not supported: ReadVariableOp call/read: a variable without a value"));
}

TEST(Variables, KeysComeFromTheGraphThatRestores) {
  GraphBuilder model;
  model.Add("VariableV2", "w", {});
  TensorProto* names = (*model.Add("Const", "names", {}).node()->mutable_attr())["value"].mutable_tensor();
  names->set_dtype(DT_STRING);
  names->add_string_val("scope/w");
  model.Add("RestoreV2", "restored", {"prefix", "names", "names"});
  model.Add("Assign", "assign", {"w", "restored"});
  EXPECT_THAT(FindRestoredKeys(model.graph, Body(model.graph.node())), ElementsAre(Pair("w", "scope/w")));
}

}  // namespace
}  // namespace attune::tensorflow
