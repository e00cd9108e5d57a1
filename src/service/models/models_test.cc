#include "service/models/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sanitized.h"
#include "base/testing/temporary_folder.h"
#include "service/models/hostile_models_for_test.h"
#include "service/models/model_store.h"
#include "zoo/zoo.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ModelsTest : public ::testing::Test {
 protected:
  ModelsTest()
      : store_(*ModelStore::Open(SqlLocation(folder_.path()))),
        blobs_(*BlobStore::Open(folder_.path() + "/uploads", {})) {}

  void SetUp() override { SetLogLevel(LogLevel::kOff); }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  // Begins with these limits.
  Models& models(const ImportLimits& limits = {}) {
    if (models_ == nullptr) {
      models_ = std::make_unique<Models>(
          *store_, *blobs_,
          ModelServiceOptions{.folder = folder_.path() + "/imports", .most_waiting = 3, .limits = limits});
      EXPECT_TRUE(models_->Begin().ok());
    }
    return *models_;
  }

  ModelFile Send(const std::string& tenant, const std::string& name, const std::string& content) {
    const std::string digest = Sha256Hex(content);
    EXPECT_TRUE(blobs_->Append(tenant, digest, 0, content).ok());
    EXPECT_TRUE(blobs_->Finish(tenant, digest).ok());
    return {name, digest};
  }
  // Once it is imported.
  KnownModel Add(const ModelSource& source, const std::string& tenant = "ann") {
    auto added = models().Add(tenant, source.files.front().name, source);
    EXPECT_TRUE(added.ok()) << added.status();
    while (added.ok() && added->verdict.state == ModelState::kImporting) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      added = models().Find(tenant, added->id);
    }
    return added.ok() ? *added : KnownModel{};
  }
  std::string ErrorOf(const std::string& content) {
    return Add({.files = {Send("ann", "net.onnx", content)}}).verdict.error;
  }
  std::string Metrics() {
    MetricsText text;
    models().AddMetrics(text);
    return text.text();
  }

  const testing::TemporaryFolder folder_;
  std::unique_ptr<ModelStore> store_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<Models> models_;
};

TEST_F(ModelsTest, AGoodOneIsDescribed) {
  const KnownModel model = Add({.files = {Send("ann", "net.onnx", *BuildZooModel("squeezenet1_1"))}});
  EXPECT_EQ(model.verdict.state, ModelState::kReady) << model.verdict.error;
  EXPECT_THAT(model.verdict.facts, AllOf(HasSubstr("\"format\":\"onnx\""), HasSubstr("f32[1,3,224,224]")));
  EXPECT_EQ(model.id, model.source.files.front().digest);
  // Nothing is imported twice.
  EXPECT_EQ(models().Add("ann", "again", model.source)->verdict, model.verdict);
  EXPECT_EQ(models().List("ann", {}, 10)->size(), 1u);
  EXPECT_EQ(models().Find("bob", model.id).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(models().Add("bob", "mine", model.source).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(models().Remove("ann", model.id).ok());
  EXPECT_EQ(models().Remove("ann", model.id).code(), absl::StatusCode::kNotFound);
}

TEST_F(ModelsTest, ABadOneGetsTheImportersSentence) {
  const KnownModel model = Add({.files = {Send("ann", "net.onnx", "no model")}});
  EXPECT_EQ(model.verdict.state, ModelState::kRefused);
  EXPECT_THAT(model.verdict.error, AllOf(HasSubstr("net.onnx: "), Not(HasSubstr("/"))));
  EXPECT_EQ(*models().RefusalOf("ann", model.source), model.verdict.error);
  EXPECT_EQ(*models().RefusalOf("bob", model.source), std::nullopt);
  EXPECT_THAT(Metrics(), HasSubstr("attune_model_imports_total{result=\"refused\"} 1"));
}

TEST_F(ModelsTest, OneThatTakesTheImporterOverReachesNothing) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers have no filter of system calls";
  const std::map<std::string, std::string> told = {
      {"read", "sees nothing"},        {"leave", "sees nothing"},  {"write", "changes nothing"},
      {"connect", "crashes on it"},    {"start", "crashes on it"}, {"kill", "crashes on it"},
      {"color", "net.onnx: is ?[31m"}, {"crash", "crashes on it"}, {"exit", "crashes on it"},
      {"lie", "fails on it"},          {"chatter", "fails on it"}};
  for (const auto& [word, error] : told) EXPECT_THAT(ErrorOf(kHostileMark + word), HasSubstr(error)) << word;
  EXPECT_THAT(Metrics(), AllOf(HasSubstr("{result=\"crashed\"} 5"), HasSubstr("{result=\"damaged\"} 2")));
}

TEST_F(ModelsTest, OneThatTakesTooMuchIsEnded) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers need more memory than any limit";
  models({.address_space_bytes = int64_t{3} << 30, .seconds = 3});
  EXPECT_THAT(ErrorOf(std::string(kHostileMark) + "hang"), HasSubstr("more time"));
  EXPECT_THAT(ErrorOf(std::string(kHostileMark) + "eat"), HasSubstr("more memory"));
  // With other limits it may do.
  EXPECT_EQ(*models().RefusalOf("ann", {.files = {Send("ann", "net.onnx", "hostile eat")}}), std::nullopt);
}

TEST_F(ModelsTest, OneOfManyFilesSeesThemAll) {
  const ModelFile main = Send("ann", "saved_model.pb", "hostile read");
  const ModelFile part = Send("ann", "variables/variables.index", "x");
  const KnownModel model = Add({.files = {main, part}});
  EXPECT_THAT(model.id, Not(main.digest));
  EXPECT_EQ(model.verdict.state, ModelState::kRefused);
  EXPECT_FALSE(models().Add("ann", "net", {.files = {main, {"../x", part.digest}}}).ok());
  EXPECT_FALSE(models().Add("ann", "net", {.files = {main, {"saved_model.pb", part.digest}}}).ok());
  EXPECT_FALSE(models().Add("ann", "net", {.files = {main}, .shapes = {"no shape"}}).ok());
}

TEST_F(ModelsTest, AnotherProcessGoesOn) {
  const ModelSource source = {.files = {Send("ann", "net.onnx", "no model")}};
  ASSERT_TRUE(
      store_->AddModel({.tenant = "ann", .id = IdOfModel(source), .name = "net", .source = source}).ok());
  EXPECT_EQ(Add(source).verdict.state, ModelState::kRefused);
}

TEST_F(ModelsTest, ADamagedRowIsShownAndPutRight) {
  const ModelSource source = {.files = {Send("ann", "net.onnx", "no model")}};
  const KnownModel model = Add(source);
  const auto database = SqlLocation(folder_.path()).Open(ModelSchema());
  for (const char* damage : {"source = '7'", "state = 'none'"}) {
    const auto changed = (*database)->Write(
        [&](SqlSession& session) { return ChangeRows(session, absl::StrCat("UPDATE models SET ", damage)); });
    ASSERT_TRUE(changed.ok()) << changed.status();
    const auto shown = models().Find("ann", model.id);
    ASSERT_TRUE(shown.ok()) << shown.status();
    EXPECT_EQ(shown->verdict.state, ModelState::kRefused);
    EXPECT_THAT(shown->verdict.error, HasSubstr("add it again"));
    EXPECT_EQ(models().List("ann", {}, 10)->size(), 1u);
    EXPECT_EQ(*models().RefusalOf("ann", source), std::nullopt);
    EXPECT_EQ(Add(source).verdict.error, model.verdict.error);
  }
}

TEST(ModelSourceTest, IdsAreThoseOfContent) {
  const ModelSource one = {.files = {{"a", std::string(64, '0')}}};
  ModelSource other = one;
  other.files.front().name = "b";
  EXPECT_EQ(IdOfModel(one), IdOfModel(other));
  other.shapes = {"x=1"};
  EXPECT_NE(IdOfModel(one), IdOfModel(other));
  EXPECT_EQ(*ModelSourceOf(ToText(other)), other);
  EXPECT_FALSE(ModelSourceOf("{}").ok());
  EXPECT_FALSE(ModelSourceOf("nonsense").ok());
}

}  // namespace
}  // namespace attune
