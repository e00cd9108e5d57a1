#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>

#include "base/process/command.h"
#include "base/sql/testing/database_for_test.h"
#include "base/testing/await_that.h"
#include "process/server/rest_for_test.h"
#include "service/access/texts.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TenantStoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_DATABASE(location_);
    store_ = *TenantStore::Open(*location_);
  }
  const testing::LocationForTest location_{GetParam()};
  std::unique_ptr<TenantStore> store_;
};
INSTANTIATE_TEST_SUITE_P(, TenantStoreTest, testing::EveryDatabase(), testing::DatabaseOf);

TEST_P(TenantStoreTest, TenantsAreKept) {
  const TenantRecord ann = {
      .name = "ann", .created_ms = 7, .quota = {.stored_bytes = 1}, .consent = {.cost_model = true}};
  ASSERT_TRUE(store_->Add(ann).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(store_->Add(ann)));
  ASSERT_TRUE(store_->Ensure("ann", 8).ok());
  ASSERT_TRUE(store_->Ensure("bob", 8).ok());
  EXPECT_EQ(*store_->Find("ann"), ann);
  EXPECT_EQ(*store_->Find("carl"), std::nullopt);
  const TenantQuota quota = {
      .stored_bytes = 2, .jobs = 3, .device_seconds = 4, .period_days = 5, .requests_per_second = 6};
  const TenantConsent consent = {.answers = true};
  ASSERT_TRUE(store_->SetQuota("bob", quota).ok());
  ASSERT_TRUE(store_->SetConsent("bob", consent).ok());
  ASSERT_TRUE(store_->BeginDeletion("bob").ok());
  EXPECT_THAT(*TenantsThatAnswer(*store_), IsEmpty());  // it is being deleted
  EXPECT_THAT(*store_->All(), ElementsAre(ann, TenantRecord{.name = "bob",
                                                            .is_being_deleted = true,
                                                            .created_ms = 8,
                                                            .quota = quota,
                                                            .consent = consent}));
  ASSERT_TRUE(store_->Remove("bob").ok());
  EXPECT_TRUE(absl::IsNotFound(store_->SetQuota("bob", quota)));
}

// Databases of a time when there was more to consent to, though nothing came of it.
TEST_P(TenantStoreTest, ConsentsOfBeforeAreLeftOut) {
  ASSERT_TRUE(store_->Add({.name = "ann", .created_ms = 7, .quota = {.jobs = 3}}).ok());
  store_.reset();
  auto database = *(*location_).Open(TenantSchema());
  ASSERT_TRUE(database->Migrate(1).ok());
  const absl::Status added = database->Write([](SqlSession& sql) {
    return ChangeRows(
               sql,
               "INSERT INTO tenants (name, is_being_deleted, created_ms, stored_bytes, jobs, "
               "device_seconds, period_days, requests_per_second, shares_models, shares_artifacts, "
               "shares_records, shares_answers, teaches_cost_model) VALUES (?, 0, 8, 1, 2, 3, 4, 5, 1, "
               "1, 1, 1, 0)",
               "bob")
        .status();
  });
  ASSERT_TRUE(added.ok()) << added;
  database.reset();
  store_ = *TenantStore::Open(*location_);
  EXPECT_EQ(*store_->Find("ann"), (TenantRecord{.name = "ann", .created_ms = 7, .quota = {.jobs = 3}}));
  const TenantRecord bob = {.name = "bob",
                            .created_ms = 8,
                            .quota = {.stored_bytes = 1,
                                      .jobs = 2,
                                      .device_seconds = 3,
                                      .period_days = 4,
                                      .requests_per_second = 5},
                            .consent = {.answers = true}};
  EXPECT_EQ(*store_->Find("bob"), bob);
  EXPECT_THAT(*TenantsThatAnswer(*store_), ElementsAre("bob"));
}

TEST_P(TenantStoreTest, UsageAddsUpByDay) {
  ASSERT_TRUE(store_->AddDeviceSeconds("ann", 10, 1.5).ok());
  ASSERT_TRUE(store_->AddDeviceSeconds("ann", 10, 2).ok());
  ASSERT_TRUE(store_->AddDeviceSeconds("ann", 12, 4).ok());
  ASSERT_TRUE(store_->SetStoredBytes("bob", 10, 100).ok());
  ASSERT_TRUE(store_->SetStoredBytes("bob", 10, 50).ok());
  EXPECT_EQ(*store_->DeviceSeconds("ann", 11), 4);
  EXPECT_EQ(*store_->DeviceSeconds("ann", 10), 7.5);
  EXPECT_EQ(*store_->DeviceSeconds("bob", 0), 0);
  EXPECT_THAT(*store_->Usage("", 10, 11),
              ElementsAre(TenantUsage{.tenant = "ann", .day = 10, .device_seconds = 3.5},
                          TenantUsage{.tenant = "bob", .day = 10, .stored_bytes = 50}));
  EXPECT_EQ(store_->Usage("ann", 0, 100)->size(), 2);
}

class TenantsTest : public RestTest {
 protected:
  void SetUp() override {
    RestTest::SetUp();
    admin_ = Token("server", AccessRole::kAdmin);
    boss_ = Token("ann", AccessRole::kOperator);
    member_ = Token("ann", AccessRole::kMember);
  }
  void SetQuota(TenantQuota quota) {
    EXPECT_EQ(Ask(admin_, "PUT", "/v1/tenants/ann/quota",
                  Json({{"stored_bytes", quota.stored_bytes},
                        {"jobs", quota.jobs},
                        {"device_seconds", quota.device_seconds},
                        {"period_days", quota.period_days},
                        {"requests_per_second", quota.requests_per_second}})
                      .dump())
                  .status,
              200);
    clock_.Skip(1.1);  // what is known of it may be a second old
  }
  int64_t Today() { return SystemClock().WallMillis() / kDayMs; }

  std::string admin_, boss_, member_;
};

TEST_F(TenantsTest, ATenantSeesItsOwnAlone) {
  ASSERT_TRUE(tenant_store_->Ensure("ann", 0).ok());
  EXPECT_EQ(Post(admin_, "/v1/tenants", {{"name", "bob"}}).status, 201);
  EXPECT_EQ(Post(admin_, "/v1/tenants", {{"name", "bob"}}).status, 409);
  EXPECT_EQ(Get(admin_, "/v1/tenants")["tenants"].size(), 2);
  EXPECT_EQ(Get(boss_, "/v1/tenants/ann")["used"]["jobs"], 0);
  EXPECT_EQ(Ask(boss_, "GET", "/v1/tenants/bob").status, 404);
  EXPECT_EQ(Ask(boss_, "GET", "/v1/tenants/bob/archive").status, 404);
  EXPECT_EQ(Ask(boss_, "GET", "/v1/usage?tenant=bob").status, 403);
  const Json consent = {{"answers", true}, {"cost_model", true}};
  EXPECT_EQ(Ask(boss_, "PUT", "/v1/tenants/bob/consent", consent.dump()).status, 404);
  EXPECT_EQ(Ask(admin_, "PUT", "/v1/tenants/ann/consent", consent.dump()).status, 403);
  EXPECT_EQ(Ask(boss_, "PUT", "/v1/tenants/ann/consent", consent.dump()).status, 200);
  EXPECT_EQ(Get(boss_, "/v1/tenants/ann")["consent"], consent);
  // A client of before learns that there is no such thing any more, and nothing changes.
  for (const char* gone : {"models", "artifacts", "records"}) {
    Json old = {{"answers", false}, {"cost_model", false}};
    old[gone] = false;
    const HttpResponse refused = Ask(boss_, "PUT", "/v1/tenants/ann/consent", old.dump());
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(Detail(refused), HasSubstr(absl::StrCat("/", gone, ": is not a field of this object")));
  }
  EXPECT_EQ(Get(boss_, "/v1/tenants/ann")["consent"], consent);
}

TEST_F(TenantsTest, QuotasHold) {
  const std::string digest = Upload(member_, "12345");
  Submit(member_, MockJob());
  SetQuota({.stored_bytes = 5, .jobs = 1});
  const HttpResponse many = Post(member_, "/v1/jobs", MockJob());
  EXPECT_EQ(many.status, 429);
  EXPECT_THAT(Detail(many), HasSubstr("1 jobs that are not over"));
  EXPECT_EQ(many.headers.count("Retry-After"), 1);
  const HttpResponse large = Post(member_, "/v1/uploads", {{"sha256", Sha256Hex("x")}, {"bytes", 1}});
  EXPECT_EQ(large.status, 403);
  EXPECT_THAT(Detail(large), HasSubstr("may store 5 bytes, and has 5"));
  // A deletion that was begun before continues.
  EXPECT_EQ(Post(member_, "/v1/uploads", {{"sha256", digest}, {"bytes", 5}}).status, 201);
  CountDeviceSeconds(*tenant_store_, "ann", 10);
  SetQuota({.device_seconds = 10});
  const HttpResponse used = Post(member_, "/v1/jobs", MockJob());
  EXPECT_EQ(used.status, 429);
  EXPECT_THAT(Detail(used), HasSubstr("has used 10"));
  // Another tenant is not affected.
  EXPECT_EQ(Post(Token("bob", AccessRole::kMember), "/v1/jobs", MockJob()).status, 201);
}

TEST_F(TenantsTest, JobsMayStoreWhatUploadsLeave) {
  EXPECT_EQ(StorageShareOf(*tenant_store_, *store_, "ann")->quota_bytes, TenantQuota().stored_bytes);
  Upload(member_, "12345");
  SetQuota({.stored_bytes = 7});
  const auto share = StorageShareOf(*tenant_store_, *store_, "ann");
  ASSERT_TRUE(share.ok()) << share.status();
  EXPECT_EQ(share->quota_bytes, 7);
  EXPECT_EQ(share->other_bytes, 5);
}

TEST_F(TenantsTest, AKnownKeyIsItsJobWhateverTheQuotaIs) {
  const auto submit = [&](const std::string& name, const std::string& key) {
    return Post(member_, "/v1/jobs", MockJob(name), {{"idempotency-key", key}});
  };
  const HttpResponse first = submit("first", "one");
  EXPECT_EQ(first.status, 201);
  SetQuota({.jobs = 1});
  const HttpResponse again = submit("first", "one");
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(Json::parse(again.body)["id"], Json::parse(first.body)["id"]);
  EXPECT_EQ(submit("second", "two").status, 429);
  CountDeviceSeconds(*tenant_store_, "ann", 10);
  SetQuota({.stored_bytes = 0, .device_seconds = 10});
  EXPECT_EQ(submit("first", "one").status, 201);
  EXPECT_EQ(Get(boss_, "/v1/tenants/ann")["used"]["jobs"], 1);
  // A refused submission leaves its key for another job.
  SetQuota({});
  EXPECT_EQ(submit("third", "two").status, 201);
}

TEST_F(TenantsTest, AJobInPartsIsOneJob) {
  Json split = MockJob();
  split["parts"] = 3;
  Submit(member_, split);
  EXPECT_EQ(Get(boss_, "/v1/tenants/ann")["used"]["jobs"], 1);
  SetQuota({.jobs = 2});
  Submit(member_, split);
  EXPECT_THAT(Detail(Post(member_, "/v1/jobs", split)), HasSubstr("and has 2"));
}

TEST_F(TenantsTest, JobsThatRunEndByTheQuotaOfDeviceSeconds) {
  const auto runner = Runner("ann");
  Json long_job = MockJob();
  long_job["settings"]["stages"] = {{{"name", "short"}, {"seconds", 0}},
                                    {{"name", "long"}, {"seconds", 3600}}};
  const std::string id = Submit(member_, long_job);
  const auto shown = [&] { return Get(member_, "/v1/jobs/" + id); };
  testing::AwaitThat([&] { return shown()["stage"] == "long"; });
  CountDeviceSeconds(*tenant_store_, "ann", 10);
  SetQuota({.device_seconds = 10});
  testing::AwaitThat([&] { return shown()["state"] == "failed"; });
  EXPECT_THAT(shown()["error"].get<std::string>(),
              HasSubstr("tenant ann may use devices for 10 seconds in 30 days, and has used 10"));
  EXPECT_EQ(Get(boss_, "/v1/tenants/ann")["used"]["jobs"], 0);
}

TEST_F(TenantsTest, ATenantHasItsRate) {
  ASSERT_TRUE(tenant_store_->Ensure("ann", 0).ok());
  clock_.Stop();
  SetQuota({.requests_per_second = 1});
  const auto ask = [&](int times) {
    std::map<int, int> statuses;
    for (int i = 0; i < times; ++i) ++statuses[Ask(i % 2 == 0 ? boss_ : member_, "GET", "/v1/me").status];
    return statuses;
  };
  EXPECT_EQ(ask(20), (std::map<int, int>{{200, 2}, {429, 18}}));
  EXPECT_EQ(Ask(admin_, "GET", "/v1/me").status, 200);
  clock_.Skip(1);
  EXPECT_EQ(ask(20), (std::map<int, int>{{200, 1}, {429, 19}}));
}

TEST_F(TenantsTest, UsageIsCsv) {
  ASSERT_TRUE(tenant_store_->AddDeviceSeconds("ann", Today(), 2.5).ok());
  ASSERT_TRUE(tenant_store_->AddDeviceSeconds("bob", Today(), 1).ok());
  Upload(member_, "12345");
  const std::string day = TimeText(Today() * kDayMs).substr(0, 10);
  EXPECT_EQ(Ask(boss_, "GET", "/v1/usage").body,
            absl::StrCat("day,tenant,device_seconds,stored_bytes\r\n", day, ",ann,2.5,5\r\n"));
  EXPECT_THAT(Ask(admin_, "GET", "/v1/usage").body, HasSubstr(day + ",bob,1,0\r\n"));
  EXPECT_EQ(Ask(boss_, "GET", "/v1/usage?from=2020-01-01&to=2020-01-02").body,
            "day,tenant,device_seconds,stored_bytes\r\n");
  EXPECT_EQ(Ask(boss_, "GET", "/v1/usage?from=yesterday").status, 400);
}

TEST_F(TenantsTest, AnArchiveHasEverything) {
  const std::string digest = Upload(member_, "12345");
  Json job = MockJob();
  job["inputs"] = {{{"name", "in/model"}, {"sha256", digest}}};
  const std::string id = Submit(member_, job);
  const HttpResponse sent = Ask(boss_, "GET", "/v1/tenants/ann/archive");
  ASSERT_TRUE(sent.file.has_value());
  const std::string archive = absl::StrCat("/proc/", getpid(), "/fd/", sent.file->file->get());
  const auto listed = RunCommand({"tar", "-tf", archive});
  ASSERT_TRUE(listed.ok()) << listed.status();
  for (const std::string& name :
       {absl::StrCat("jobs/", id, "/job.json"), absl::StrCat("jobs/", id, "/in/model"),
        absl::StrCat("uploads/", digest), std::string("tokens.jsonl"), std::string("people.jsonl"),
        std::string("audit/000000.jsonl")})
    EXPECT_THAT(*listed, HasSubstr(name));
  EXPECT_EQ(*RunCommand({"tar", "-xOf", archive, absl::StrCat("uploads/", digest)}), "12345");
}

TEST_F(TenantsTest, ADeletedTenantLeavesNothing) {
  EXPECT_EQ(Post(admin_, "/v1/tokens", {{"name", "x"}, {"role", "viewer"}, {"tenant", "ann"}}).status, 201);
  const std::string digest = Upload(member_, "12345");
  const auto job = jobs_->desk().Find({.id = Submit(member_, MockJob()), .owner = "ann"});
  ASSERT_TRUE(job.ok()) << job.status();
  // A file that a runner has sent, and that no report has named.
  const JobFile sent = Keep(job->spec.base, "out/x", "sent");
  const std::string other = Submit(Token("bob", AccessRole::kMember), MockJob());
  EXPECT_EQ(Ask(boss_, "DELETE", "/v1/tenants/ann").status, 403);
  EXPECT_EQ(Ask(admin_, "DELETE", "/v1/tenants/server").status, 409);
  EXPECT_EQ(Ask(admin_, "DELETE", "/v1/tenants/ann").status, 202);
  testing::AwaitThat([&] { return Ask(admin_, "GET", "/v1/tenants/ann").status == 404; });
  EXPECT_EQ(Ask(boss_, "GET", "/v1/me").status, 401);
  EXPECT_FALSE(blobs_->Has("ann", digest));
  EXPECT_EQ(store_->Uploads("ann")->size(), 0);
  EXPECT_EQ(jobs_->desk().List({.owner = "ann"})->size(), 0);
  EXPECT_FALSE(jobs_->desk().files().Has(job->spec.base, sent.digest));
  EXPECT_EQ(audit_->Entries({.tenant = "ann"})->size(), 0);
  EXPECT_TRUE(audit_->Verify().ok());
  EXPECT_EQ(Get(Token("bob", AccessRole::kMember), "/v1/jobs")["jobs"][0]["id"], other);
}

TEST_F(TenantsTest, ADeletedTenantsMachinesAreMembersNoMore) {
  ASSERT_TRUE(tenant_store_->Ensure("ann", 0).ok());
  const auto runner = Runner("ann");
  const auto client = fleet_.Client("ann"), other = fleet_.Client("bob");
  const std::string folder = fleet_.folder().path() + "/agent-of-ann";
  ASSERT_TRUE(SaveCredentials(folder, fleet_.Enrol("agent", "ann")).ok());
  AgentOfTest agent(folder, [](const MeasureItem&) { return MockAnswer(); }, /*idle_seconds=*/0);
  testing::AwaitThat([&] { return dispatcher_->Devices("").size() == 1; });
  const auto invitation = fleet_.Operator()->Invite("runner", "ann");
  ASSERT_TRUE(invitation.ok()) << invitation.status();
  ASSERT_TRUE(client->Devices("desk").ok());
  EXPECT_EQ(Ask(admin_, "DELETE", "/v1/tenants/ann").status, 202);
  testing::AwaitThat([&] { return Ask(admin_, "GET", "/v1/tenants/ann").status == 404; });
  EXPECT_EQ(dispatcher_->Devices("").size(), 0);
  EXPECT_THAT(runner->AwaitEnd().message(), HasSubstr("revoked"));
  EXPECT_TRUE(absl::IsPermissionDenied(agent.AwaitEnd()));
  EXPECT_TRUE(absl::IsPermissionDenied(client->Devices("desk").status()));
  EXPECT_FALSE(EnrolInFleet(*Invitation::Parse(*invitation)).ok());
  EXPECT_TRUE(other->Devices("desk").ok());
  // A new tenant of that name invites machines of its own.
  EXPECT_TRUE(fleet_.Client("ann")->Devices("desk").ok());
}

}  // namespace
}  // namespace attune
