#include "service/agreement/imported_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "service/models/model_store.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// Ten seconds pass between two looks.
class LookedAtClock final : public Clock {
 public:
  double Now() const override {
    if (on_look) on_look();
    return now_ += 10;
  }
  int64_t WallMillis() const override { return 0; }

  std::function<void()> on_look;

 private:
  mutable double now_ = 0;
};

// Nothing imports but what the test says.
class ImportedFactsTest : public ::testing::Test {
 protected:
  ImportedFactsTest() {
    EXPECT_TRUE(uploads_->Append("ann", model_.files[0].digest, 0, "net").ok());
    EXPECT_TRUE(uploads_->Finish("ann", model_.files[0].digest).ok());
  }

  void Decide(const ModelVerdict& verdict) {
    EXPECT_TRUE(store_->SetVerdict("ann", IdOfModel(model_), verdict).ok());
  }
  static std::string FactsOf(const std::string& network) {
    ModelFacts facts;
    facts.network = network;
    return ToJson(facts).dump();
  }

  const ModelSource model_ = {.files = {{"net.onnx", Sha256Hex("net")}}};
  const testing::TemporaryFolder folder_;
  const std::unique_ptr<ModelStore> store_ = *ModelStore::Open(SqlLocation(folder_.path()));
  const std::unique_ptr<BlobStore> uploads_ = *BlobStore::Open(folder_ / "uploads", {});
  Models models_{*store_, *uploads_, {.folder = folder_ / "imports"}};
  LookedAtClock clock_;
  ImportedFacts facts_{models_, clock_};
};

TEST_F(ImportedFactsTest, WaitsForTheImport) {
  clock_.on_look = [&] { Decide({.state = ModelState::kReady, .facts = FactsOf("a network")}); };
  const auto facts = facts_.Of("ann", model_);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ((*facts)->network, "a network");
  // From now on they are known.
  clock_.on_look = nullptr;
  EXPECT_EQ(*facts_.Of("ann", model_), *facts);
}

TEST_F(ImportedFactsTest, ALongImportIsWaitedForLater) {
  const absl::Status late = facts_.Of("ann", model_).status();
  EXPECT_TRUE(absl::IsAborted(late)) << late;
  EXPECT_THAT(late.message(), HasSubstr("still being imported; ask again"));
}

TEST_F(ImportedFactsTest, ARefusedModelIsTheImportersSentence) {
  clock_.on_look = [&] {
    Decide({.state = ModelState::kRefused, .error = "not supported: Loop scan: data decides its trips"});
  };
  EXPECT_EQ(facts_.Of("ann", model_).status(),
            absl::UnimplementedError("/settings/model: not supported: Loop scan: data decides its trips"));
}

TEST_F(ImportedFactsTest, AModelThatWasNotSentIsAnError) {
  EXPECT_TRUE(absl::IsFailedPrecondition(facts_.Of("bob", model_).status()));
}

}  // namespace
}  // namespace attune
