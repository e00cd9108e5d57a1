#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/sql/testing/database_for_test.h"
#include "base/testing/await_that.h"
#include "base/testing/manual_clock.h"
#include "process/server/rest_for_test.h"
#include "service/audit/audit_log.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

AuditEntry Entry(const std::string& tenant, const std::string& subject, int64_t time_ms = 1000) {
  return {.time_ms = time_ms, .tenant = tenant, .actor = "a", .operation = "op", .subject = subject};
}

class AuditStoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_DATABASE(location_);
    store_ = *AuditStore::Open(*location_);
  }
  // Acts as a person with access to the database.
  void Tamper(const std::string& sql) {
    const auto database = *(*location_)
                               .Open({.store = "audit",
                                      .file = "audit.db",
                                      .application_id = 0x41744175,
                                      .migrations = {&kNone, 1}});
    EXPECT_TRUE(database->Write([&](SqlSession& session) { return ChangeRows(session, sql).status(); }).ok());
  }
  std::string Fault(const AuditHead& passes = {}) {
    return std::string(store_->Verify(passes).status().message());
  }

  static constexpr SqlMigration kNone = {};
  const testing::LocationForTest location_{GetParam()};
  std::unique_ptr<AuditStore> store_;
};
INSTANTIATE_TEST_SUITE_P(, AuditStoreTest, testing::EveryDatabase(), testing::DatabaseOf);

TEST_P(AuditStoreTest, EntriesAreKeptByTenant) {
  ASSERT_TRUE(store_->Append({Entry("ann", "/1"), Entry("bob", "/2")}).ok());
  ASSERT_TRUE(store_->Append({Entry("ann", "/\xC3\xA4\"\n")}).ok());
  const auto all = *store_->Entries({});
  ASSERT_EQ(all.size(), 3);
  EXPECT_EQ(all[0].entry, Entry("ann", "/\xC3\xA4\"\n"));
  EXPECT_EQ(all[0].sequence, 3);
  EXPECT_EQ(store_->Entries({.tenant = "ann"})->size(), 2);
  EXPECT_EQ(store_->Entries({.before = 3, .most = 1})->front().entry.subject, "/2");
  EXPECT_EQ(*store_->Head(), (AuditHead{.sequence = 3, .hash = all[0].hash}));
  EXPECT_EQ(store_->Verify()->entries, 3);
}

TEST_P(AuditStoreTest, EveryChangeIsSeen) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(store_->Append({Entry("ann", absl::StrCat("/", i))}).ok());
  EXPECT_EQ(Fault(), "");
  Tamper("UPDATE audit_entries SET content = replace(content, '/2', '/9') WHERE sequence = 3");
  EXPECT_THAT(Fault(), HasSubstr("entry 3 of the audit log was changed"));
  Tamper("UPDATE audit_entries SET content = replace(content, '/9', '/2') WHERE sequence = 3");
  Tamper("UPDATE audit_entries SET tenant = 'bob' WHERE sequence = 3");
  EXPECT_THAT(Fault(), HasSubstr("entry 3 of the audit log was changed"));
  Tamper("UPDATE audit_entries SET tenant = 'ann' WHERE sequence = 3");
  EXPECT_EQ(Fault(), "");
  const AuditHead head = *store_->Head();
  Tamper("DELETE FROM audit_entries WHERE sequence = 2");
  EXPECT_THAT(Fault(), HasSubstr("entry 2 of the audit log is missing"));
  Tamper("UPDATE audit_start SET sequence = 2");
  EXPECT_THAT(Fault(), HasSubstr("does not follow"));
  Tamper("DELETE FROM audit_entries");
  EXPECT_EQ(Fault(), "");
  EXPECT_THAT(Fault(head), HasSubstr("does not pass through"));
}

TEST_P(AuditStoreTest, AHeadProvesWhatCameBefore) {
  ASSERT_TRUE(store_->Append({Entry("ann", "/1"), Entry("ann", "/2")}).ok());
  const AuditHead head = *AuditHead::Parse(store_->Head()->Text());
  ASSERT_TRUE(store_->Append({Entry("ann", "/3")}).ok());
  EXPECT_EQ(Fault(head), "");
  EXPECT_THAT(Fault({.sequence = 2, .hash = std::string(64, '0')}), HasSubstr("does not pass through"));
  for (const char* none : {"", "2", "2:ab", "0:", "-1:x"}) EXPECT_FALSE(AuditHead::Parse(none).ok()) << none;
}

TEST_P(AuditStoreTest, WhatIsOldOrOfADeletedTenantGoes) {
  ASSERT_TRUE(
      store_->Append({Entry("ann", "/1", 100), Entry("bob", "/2", 200), Entry("ann", "/3", 300)}).ok());
  ASSERT_TRUE(store_->ForgetBefore(200).ok());
  ASSERT_TRUE(store_->ForgetBefore(200).ok());
  ASSERT_TRUE(store_->Erase("bob").ok());
  const auto verdict = store_->Verify();
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->first.sequence, 1);
  EXPECT_EQ(verdict->entries, 2);
  EXPECT_EQ(verdict->erased, 1);
  EXPECT_EQ(store_->Entries({.tenant = "bob"})->size(), 0);
  ASSERT_TRUE(store_->ForgetBefore(1000).ok());
  ASSERT_TRUE(store_->Append({Entry("ann", "/4", 1000)}).ok());
  EXPECT_EQ(store_->Verify()->last.sequence, 4);
}

TEST_P(AuditStoreTest, EntriesOfManyThreadsMakeOneChain) {
  {
    AuditLog log(*store_);
    ASSERT_TRUE(log.Begin().ok());
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&log, i] {
        for (int j = 0; j < 10; ++j) {
          EXPECT_TRUE(log.Announce(Entry("ann", absl::StrCat(i, "/", j))).ok());
          log.Add(Entry("ann", absl::StrCat(i, "/", j, " done")));
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(store_->Verify()->entries, 160);
}

class AuditTest : public RestTest {
 protected:
  // The results of an operation, the latest first, once it is over.
  std::vector<std::string> Results(const std::string& operation) {
    std::vector<std::string> results;
    testing::AwaitThat([&] {
      results.clear();
      const auto entries = *audit_->Entries({});
      for (const KeptAuditEntry& kept : entries)
        if (kept.entry.operation == operation) results.push_back(kept.entry.result);
      return !results.empty() && results.front() != "begun";
    });
    return results;
  }
};

TEST_F(AuditTest, AMutationIsRecordedBeforeAndAfter) {
  const std::string member = Token("ann", AccessRole::kMember), boss = Token("ann", AccessRole::kOperator),
                    admin = Token("server", AccessRole::kAdmin);
  const HttpResponse submitted = Post(member, "/v1/jobs", MockJob());
  EXPECT_EQ(submitted.status, 201);
  EXPECT_THAT(Results("submitJob"), ::testing::ElementsAre("201", "begun"));
  EXPECT_EQ(Ask(member, "POST", "/v1/jobs/none-1/cancel").status, 404);
  EXPECT_THAT(Results("cancelJob"), ::testing::ElementsAre("404", "begun"));
  Get(member, "/v1/jobs");
  const Json page = Get(boss, "/v1/audit");
  ASSERT_EQ(page["entries"].size(), 4) << page;
  const Json& last = page["entries"][3];
  EXPECT_EQ(last["actor"], Get(member, "/v1/me")["id"]);
  EXPECT_EQ(last["subject"], "/v1/jobs");
  EXPECT_EQ(last["request"], submitted.headers.at("X-Request-Id"));
  EXPECT_EQ(page["head"], nullptr);
  EXPECT_EQ(Ask(member, "GET", "/v1/audit").status, 403);
  EXPECT_EQ(Ask(boss, "GET", "/v1/audit?tenant=bob").status, 403);
  EXPECT_EQ(Get(Token("bob", AccessRole::kOperator), "/v1/audit")["entries"].size(), 0);
  EXPECT_EQ(Get(admin, "/v1/audit?most=2")["entries"].size(), 2);
  EXPECT_EQ(Get(admin, "/v1/audit")["head"], audit_->Head()->Text());
  EXPECT_TRUE(audit_->Verify().ok());
}

TEST_F(AuditTest, ASessionIsRecorded) {
  EXPECT_EQ(Post("", "/v1/session", {{"token", Token("ann", AccessRole::kMember)}}).status, 201);
  EXPECT_THAT(Results("beginSession"), ::testing::ElementsAre("201", "begun"));
  // A forged token identifies no user.
  EXPECT_EQ(Post("", "/v1/session", {{"token", "attune_forged"}}).status, 401);
  EXPECT_EQ(audit_->Entries({})->size(), 2);
}

TEST_F(AuditTest, ALoginSaysWhetherItsSessionHasBegun) {
  const VouchedPerson ann = {.person = {.issuer = "local", .subject = "1", .name = "Ann", .tenant = "lab"}};
  const auto begun = callers_.BeginByLogin({}, ann);
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_THAT(Results("finishLogin"), ::testing::ElementsAre("303", "begun"));
  const std::string id = begun->known.session.person;
  ASSERT_TRUE(people_->LogOutPerson(id, "lab", /*is_blocked=*/true, SystemClock().WallMillis()).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(callers_.BeginByLogin({}, ann).status()));
  testing::AwaitThat([&] { return Results("finishLogin").front() == "401"; });
}

}  // namespace
}  // namespace attune
