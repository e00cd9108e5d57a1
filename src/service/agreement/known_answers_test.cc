#include "service/agreement/known_answers.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/sql/testing/database_for_test.h"
#include "service/agreement/observations_for_test.h"

namespace attune {
namespace {

// On every kind of database.
class KnownAnswersTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_DATABASE(location_);
    auto opened = AgreementStore::Open(*location_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
    known_.emplace(*store_, [this] { return sharing_; });
  }

  static AnswerQuery QueryFor(const Observation& o, const std::string& tenant = "ann") {
    return {.tenant = tenant,
            .network = o.network,
            .interface = o.interface,
            .device = o.device,
            .compiler = "1"};
  }

  const testing::LocationForTest location_{GetParam()};
  std::unique_ptr<AgreementStore> store_;
  absl::StatusOr<std::set<std::string>> sharing_ = std::set<std::string>();
  std::optional<KnownAnswers> known_;
};

TEST_P(KnownAnswersTest, OneThatMeetsTheAgreementIsFound) {
  const Observation made = MadeUpObservation(1);
  ASSERT_TRUE(known_->Add(made).ok());
  ASSERT_NE(known_->Find(QueryFor(made), {.mean_ms = made.mean_ms.high}), nullptr);
  EXPECT_EQ(known_->Find(QueryFor(made), {.mean_ms = made.mean_ms.median}), nullptr);
  EXPECT_EQ(known_->Find(QueryFor(made), {.size_bytes = 1e5}), nullptr);
  for (auto change : {+[](AnswerQuery& q) { q.device = "other"; }, +[](AnswerQuery& q) { q.threads = 2; },
                      +[](AnswerQuery& q) { q.interface = "input y f32[1]\n"; },
                      +[](AnswerQuery& q) { q.network = "other"; }, +[](AnswerQuery& q) { q.compiler = "2"; },
                      +[](AnswerQuery& q) { q.tenant = "bob"; }}) {
    AnswerQuery query = QueryFor(made);
    change(query);
    EXPECT_EQ(known_->Find(query, {}), nullptr);
  }
}

TEST_P(KnownAnswersTest, OthersSeeWhatIsSharedNow) {
  // An artifact stays where it is, whatever is shared.
  const Observation made = MadeUpObservation(1);
  ASSERT_TRUE(known_->Add(made).ok());
  const auto models = [&] {
    return known_->ModelFor("bob")->Predict({.device = "board", .tasks = made.tasks}).networks;
  };
  for (const bool shares : {false, true, false, true}) {
    sharing_ = shares ? std::set<std::string>{"ann"} : std::set<std::string>();
    EXPECT_EQ(known_->FindShared(QueryFor(made, "bob")) != nullptr, shares);
    EXPECT_EQ(known_->SeenBy("bob").size(), shares ? 1u : 0u);
    EXPECT_EQ(models(), shares ? 1 : 0);
    EXPECT_EQ(known_->Find(QueryFor(made, "bob"), {}), nullptr);
    EXPECT_EQ(known_->PeaksOf("bob", "board", 1).gflops_per_core, 0);
    EXPECT_EQ(known_->FindShared(QueryFor(made)), nullptr);  // its own are no others'
    EXPECT_NE(known_->Find(QueryFor(made), {}), nullptr);
  }
  AnswerQuery elsewhere = QueryFor(made, "bob");
  elsewhere.device = "other";
  EXPECT_EQ(known_->FindShared(elsewhere), nullptr);
  sharing_ = absl::UnavailableError("the database is away");
  EXPECT_EQ(known_->FindShared(QueryFor(made, "bob")), nullptr);
  EXPECT_TRUE(known_->SeenBy("bob").empty());
  EXPECT_EQ(known_->PeaksOf("ann", "board", 1).gflops_per_core, 100);
}

TEST_P(KnownAnswersTest, TheFastestSharedOneIsFound) {
  sharing_ = {"ann", "carl"};
  const Observation slow = MadeUpObservation(1);
  Observation fast = slow;
  fast.job = "job-2";
  fast.tenant = "carl";
  fast.mean_ms.high /= 2;
  fast.interface = "input other f32[1]\n";
  ASSERT_TRUE(known_->Add(slow).ok());
  ASSERT_TRUE(known_->Add(fast).ok());
  EXPECT_EQ(known_->FindShared(QueryFor(slow, "bob"))->tenant, "carl");
  sharing_ = {"ann"};
  EXPECT_EQ(known_->FindShared(QueryFor(slow, "bob"))->tenant, "ann");
}

TEST_P(KnownAnswersTest, OthersOutdateNothing) {
  sharing_ = {"carl"};
  const Observation made = MadeUpObservation(1);
  ASSERT_TRUE(known_->Add(made).ok());
  Observation lie = made;
  lie.job = "job-2";
  lie.tenant = "carl";
  for (TaskTime& task : lie.tasks) {
    task.tuned /= 1000;
    task.kernel += " of carl";
  }
  ASSERT_TRUE(known_->Add(lie).ok());
  EXPECT_NE(known_->Find(QueryFor(made), {}), nullptr);
}

TEST_P(KnownAnswersTest, AFasterKernelOutdatesAnAnswer) {
  const Observation made = MadeUpObservation(1);
  ASSERT_TRUE(known_->Add(made).ok());
  Observation other = MadeUpObservation(2);
  other.tasks = {made.tasks[0]};
  other.tasks[0].tuned *= 0.97;  // not clearly
  other.tasks[0].kernel = "another";
  ASSERT_TRUE(known_->Add(other).ok());
  EXPECT_NE(known_->Find(QueryFor(made), {}), nullptr);
  other.job = "job-3";
  other.tasks[0].tuned *= 0.9;
  ASSERT_TRUE(known_->Add(other).ok());
  EXPECT_EQ(known_->Find(QueryFor(made), {}), nullptr);
  // It is measured again.
  Observation again = made;
  again.job = "job-4";
  ASSERT_TRUE(known_->Add(again).ok());
  EXPECT_NE(known_->Find(QueryFor(made), {}), nullptr);
}

TEST_P(KnownAnswersTest, TheyOutliveTheServer) {
  Observation made = MadeUpObservation(1);
  made.p99_ms.high = std::numeric_limits<double>::infinity();
  ASSERT_TRUE(known_->Add(made).ok());
  ASSERT_TRUE(known_->Add(made).ok());  // twice is once
  KnownAnswers later(*store_);
  ASSERT_TRUE(later.Refresh().ok());
  const auto found = later.Find(QueryFor(made), {});
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(ToJson(*found), ToJson(made));
  EXPECT_EQ(later.Jobs(), std::set<std::string>{"job-1"});
  EXPECT_EQ(later.Find(QueryFor(made), {.p99_ms = 1e9}), nullptr);
  EXPECT_EQ(later.ModelFor("ann")->Predict({.device = "board", .tasks = made.tasks}).networks, 1);
}

// Each of them said for ever whether it was for others.
TEST_P(KnownAnswersTest, AnswersOfBeforeAreSharedAsIsSaidNow) {
  const Observation made = MadeUpObservation(1);
  ASSERT_TRUE(known_->Add(MadeUpObservation(2)).ok());
  known_.reset();
  store_.reset();
  auto database = *(*location_).Open(AgreementSchema());
  ASSERT_TRUE(database->Migrate(1).ok());
  nlohmann::json content = ToJson(made);
  content["is_shared"] = true;
  ASSERT_TRUE(database
                  ->Write([&](SqlSession& sql) -> absl::Status {
                    // Observations that an earlier program cannot read are gone, and learned again.
                    EXPECT_EQ(*ReadInteger(sql, "SELECT count(*) FROM observations"), 0);
                    return ChangeRows(sql,
                                      "INSERT INTO observations (job, tenant, is_shared, content) VALUES (?, "
                                      "?, 1, ?)",
                                      made.job, made.tenant, content.dump())
                        .status();
                  })
                  .ok());
  database.reset();
  store_ = *AgreementStore::Open(*location_);
  known_.emplace(*store_, [this] { return sharing_; });
  ASSERT_TRUE(known_->Refresh().ok());
  EXPECT_NE(known_->Find(QueryFor(made), {}), nullptr);
  EXPECT_TRUE(known_->SeenBy("bob").empty());
  sharing_ = {"ann"};
  EXPECT_NE(known_->FindShared(QueryFor(made, "bob")), nullptr);
}

TEST_P(KnownAnswersTest, ATenantCanBeRemoved) {
  Observation other = MadeUpObservation(1);
  other.tenant = "bob";
  ASSERT_TRUE(known_->Add(other).ok());
  ASSERT_TRUE(known_->Add(MadeUpObservation(2)).ok());
  ASSERT_TRUE(known_->RemoveTenant("ann").ok());
  EXPECT_EQ(known_->Jobs(), std::set<std::string>{"job-1"});
  EXPECT_EQ(known_->Find(QueryFor(MadeUpObservation(2)), {}), nullptr);
}

INSTANTIATE_TEST_SUITE_P(EveryDatabase, KnownAnswersTest, testing::EveryDatabase(), testing::DatabaseOf);

}  // namespace
}  // namespace attune
