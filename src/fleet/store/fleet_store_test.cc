#include "fleet/store/fleet_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sqlite/sqlite.h"
#include "base/testing/temporary_folder.h"
#include "fleet/store/fleet_store_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// In a file that others can change.
class SqlFleetStoreTest : public ::testing::Test {
 protected:
  SqlFleetStoreTest() { Reopen(); }

  // Ends the store, as the end of the server does, and opens it again.
  void Reopen() {
    store_.reset();
    auto store = FleetStore::Open(path_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  // Changes the file as an attacker could.
  void Damage(const std::string& sql) const {
    const auto connection = SqliteConnection::Open(path_, {});
    ASSERT_TRUE(connection.ok()) << connection.status();
    const absl::Status status = (*connection)->Execute(sql);
    EXPECT_TRUE(status.ok()) << status;
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "state/fleet.db";
  std::unique_ptr<FleetStore> store_;
};

TEST_P(FleetStoreTest, EpochsRise) {
  EXPECT_EQ(*store_->NextEpoch(), 1);
  EXPECT_EQ(*store_->NextEpoch(), 2);
  Reopen();
  EXPECT_EQ(*store_->NextEpoch(), 3);
}

TEST_P(FleetStoreTest, TheAuthoritiesAreThoseThatWereSavedLast) {
  EXPECT_EQ(*store_->LoadAuthorities(), std::nullopt);
  for (const char* text : {"one", "two\nlines"}) EXPECT_TRUE(store_->SaveAuthorities(text).ok());
  Reopen();
  EXPECT_EQ(*store_->LoadAuthorities(), "two\nlines");
}

TEST_P(FleetStoreTest, LeasesAreKeptUntilTheyEnd) {
  EXPECT_TRUE(store_->PutLease(SampleLease("b", {.epoch = 1, .number = 2})).ok());
  EXPECT_TRUE(store_->PutLease(SampleLease("a", {.epoch = 1, .number = 1})).ok());
  EXPECT_TRUE(store_->PutLease(SampleLease("a", {.epoch = 1, .number = 3})).ok());
  EXPECT_TRUE(store_->EndLease({.epoch = 1, .number = 1}).ok());  // another has taken its place already
  Reopen();
  const std::vector<HeldLease> leases = *store_->Leases();
  ASSERT_THAT(leases, SizeIs(2));
  EXPECT_EQ(leases[0].device, "b");
  EXPECT_EQ(leases[1].device, "a");
  EXPECT_EQ(leases[1].token, (LeaseToken{.epoch = 1, .number = 3}));
  EXPECT_EQ(leases[1].owner, "ann");
  EXPECT_EQ(leases[1].key, "zen4");
  EXPECT_TRUE(store_->EndLease({.epoch = 1, .number = 3}).ok());
  EXPECT_THAT(*store_->Leases(), SizeIs(1));
}

TEST_P(FleetStoreTest, DevicesAreKeptAsTheyWere) {
  EXPECT_TRUE(store_->PutDevice(SampleDevice("b")).ok());
  FleetDevice bare = {.id = "a", .agent = "rack", .owner = "bob", .drained = "it is new"};
  EXPECT_TRUE(store_->PutDevice(bare).ok());
  Reopen();
  EXPECT_THAT(*store_->Devices(), ElementsAre(bare, SampleDevice("b")));
  bare.keys = {"zen5"};
  bare.last_seen_ms = 9;
  EXPECT_TRUE(store_->PutDevice(bare).ok());
  EXPECT_THAT(*store_->Devices(), ElementsAre(bare, SampleDevice("b")));
}

TEST_P(FleetStoreTest, ADeviceThatJoinsAgainStaysDrained) {
  EXPECT_TRUE(store_->PutDevice(SampleDevice("a")).ok());
  EXPECT_TRUE(store_->SetDrained("a", "it drifts").ok());
  EXPECT_TRUE(store_->PutDevice(SampleDevice("a")).ok());
  EXPECT_EQ(store_->Devices()->at(0).drained, "it drifts");
  EXPECT_TRUE(store_->SetDrained("a", std::nullopt).ok());
  EXPECT_EQ(store_->Devices()->at(0).drained, std::nullopt);
  EXPECT_EQ(store_->SetDrained("b", "test").code(), absl::StatusCode::kNotFound);
}

TEST_P(FleetStoreTest, OwnersSayWhatTheyShareAndWhomTheyTrust) {
  FleetDevice device = SampleDevice("a");
  device.shared_with = {"bob"};
  EXPECT_TRUE(store_->PutDevice(device).ok());
  EXPECT_TRUE(store_->SetShared("a", {"eve", "*"}).ok());
  EXPECT_TRUE(store_->PutDevice(device).ok());  // it joins again
  EXPECT_TRUE(store_->SetTrust("bob", {"ann", "server"}).ok());
  EXPECT_TRUE(store_->SetTrust("bob", {"ann"}).ok());
  EXPECT_TRUE(store_->SetTrust("eve", {}).ok());
  EXPECT_EQ(store_->SetShared("b", {}).code(), absl::StatusCode::kNotFound);
  Reopen();
  EXPECT_THAT(store_->Devices()->at(0).shared_with, ElementsAre("*", "eve"));
  using Trusts = std::map<std::string, std::set<std::string>>;
  EXPECT_EQ(*store_->Trusts(), (Trusts{{"bob", {"ann"}}, {"eve", {}}}));
}

TEST_P(FleetStoreTest, ARemovedDeviceHasNoLease) {
  for (const char* device : {"a", "b"}) {
    EXPECT_TRUE(store_->PutDevice(SampleDevice(device)).ok());
    EXPECT_TRUE(store_->PutLease(SampleLease(device, {.epoch = 1, .number = *device})).ok());
  }
  EXPECT_TRUE(store_->RemoveDevice("a").ok());
  EXPECT_TRUE(store_->RemoveDevice("a").ok());
  EXPECT_THAT(*store_->Devices(), ElementsAre(SampleDevice("b")));
  EXPECT_THAT(*store_->Leases(), SizeIs(1));
}

TEST_P(FleetStoreTest, TheFirstAndTheLatestCalibrationsAreKept) {
  constexpr int kAll = kFirstCalibrationsKept + kLatestCalibrationsKept, kMore = 3;
  EXPECT_THAT(*store_->Calibrations("a"), IsEmpty());
  for (int i = 0; i < kAll + kMore; ++i)
    EXPECT_TRUE(store_->AddCalibration("a", {.time_ms = i, .peaks = {.l3_gb_per_s = 0.5 + i}}).ok());
  EXPECT_TRUE(store_->AddCalibration("b", {.time_ms = 9}).ok());
  Reopen();
  const std::vector<Calibration> kept = *store_->Calibrations("a");
  ASSERT_THAT(kept, SizeIs(kAll));
  for (int i = 0; i < kAll; ++i) {
    const int64_t time = i < kFirstCalibrationsKept ? i : i + kMore;
    EXPECT_EQ(kept[static_cast<size_t>(i)].time_ms, time);
    EXPECT_EQ(kept[static_cast<size_t>(i)].peaks.l3_gb_per_s, 0.5 + static_cast<double>(time));
  }
  EXPECT_TRUE(store_->ForgetCalibrations("a").ok());
  EXPECT_THAT(*store_->Calibrations("a"), IsEmpty());
  EXPECT_THAT(*store_->Calibrations("b"), SizeIs(1));
  EXPECT_TRUE(store_->RemoveDevice("b").ok());
  EXPECT_THAT(*store_->Calibrations("b"), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(EveryDatabase, FleetStoreTest, testing::EveryDatabase(), testing::DatabaseOf);

TEST_F(SqlFleetStoreTest, SaysWhetherItIsWritable) {
  EXPECT_TRUE(store_->CheckWritable().ok());
  EXPECT_TRUE(store_->CheckWritable().ok());  // the first has left the lock
  // Another program that has the lock for long.
  const auto connection = SqliteConnection::Open(path_, {});
  ASSERT_TRUE(connection.ok());
  EXPECT_TRUE((*connection)->Execute("BEGIN IMMEDIATE").ok());
  EXPECT_FALSE(store_->CheckWritable().ok());
}

TEST_F(SqlFleetStoreTest, AKillUndoesNoCallThatHasReturned) {
  store_.reset();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto store = FleetStore::Open(path_);
    const bool done = store.ok() && (*store)->NextEpoch().ok() &&
                      (*store)->AddCertificate(SampleFacts("0a", "desk")).ok() &&
                      (*store)->RevokeIdentity("desk", {.reason = "test"}).ok() &&
                      (*store)->PutLease(SampleLease("a", {.epoch = 1, .number = 1})).ok();
    if (done) kill(getpid(), SIGKILL);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  Reopen();
  EXPECT_EQ(*store_->NextEpoch(), 2);
  EXPECT_THAT(*store_->RevokedAmong({"0a"}), ElementsAre("0a"));
  EXPECT_THAT(*store_->Leases(), SizeIs(1));
}

TEST_F(SqlFleetStoreTest, RefusesTextsThatAreTooLongOrCannotBePrinted) {
  FleetDevice two_lines = SampleDevice("a"), large = SampleDevice("a"), many = SampleDevice("a");
  two_lines.keys = {"two\nlines"};
  large.info.assign((1 << 20) + 1, 'x');
  for (int key = 0; key <= 64; ++key) many.keys.insert(absl::StrCat(key));
  PendingInvitation secret = SampleInvitation("secret", 1);
  secret.digest = "secret";
  EXPECT_TRUE(store_->PutDevice(SampleDevice("a")).ok());
  const absl::Status refused[] = {
      store_->AddCertificate(SampleFacts("", "desk")),
      store_->AddCertificate(SampleFacts("0a", "two words")),
      store_->RevokeIdentity("desk", {}),
      store_->AddInvitation(secret),
      store_->PutLease(SampleLease(std::string(257, 'x'), {})),
      store_->PutLease(SampleLease("a", {.epoch = -1, .number = 1})),
      store_->PutDevice(two_lines),
      store_->PutDevice(large),
      store_->PutDevice(many),
      store_->AddCalibration("a", {.peaks = {.l2_gb_per_s = -1}}),
      store_->SetDrained("a", ""),
      store_->SetShared("a", {"two\nlines"}),
      store_->SetTrust("a", {""}),
      store_->SetDrained("a", std::string(1025, 'x')),
  };
  for (const absl::Status& status : refused) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), StartsWith(path_ + ": "));
  }
  EXPECT_THAT(*store_->Devices(), ElementsAre(SampleDevice("a")));
}

TEST_F(SqlFleetStoreTest, DamagedValuesAreErrors) {
  EXPECT_TRUE(store_->AddCertificate(SampleFacts("0a", "desk")).ok());
  EXPECT_TRUE(store_->RevokeIdentity("desk", {.reason = "test"}).ok());
  EXPECT_TRUE(store_->AddInvitation(SampleInvitation("secret", 100)).ok());
  EXPECT_TRUE(store_->NextEpoch().ok());
  EXPECT_TRUE(store_->PutLease(SampleLease("a", {.epoch = 1, .number = 1})).ok());
  EXPECT_TRUE(store_->PutDevice(SampleDevice("a")).ok());
  const struct {
    std::string sql;
    std::function<absl::Status()> read;
  } cases[] = {
      {"UPDATE certificates SET role = 'king'", [&] { return store_->FindCertificate("0a").status(); }},
      {"UPDATE certificates SET role = 'agent', serial = ''",
       [&] { return store_->FindCertificate("").status(); }},
      {"UPDATE certificates SET serial = '0a', reason = '', owner = ''",
       [&] { return store_->ValidCertificates(0).status(); }},
      {"UPDATE invitations SET role = 'king'", [&] { return store_->TakeInvitation("secret", 1).status(); }},
      {"UPDATE epochs SET latest = -5", [&] { return store_->NextEpoch().status(); }},
      {absl::StrCat("UPDATE epochs SET latest = ", std::numeric_limits<int64_t>::max()),
       [&] { return store_->NextEpoch().status(); }},
      {"UPDATE leases SET owner = char(27)", [&] { return store_->Leases().status(); }},
      {"UPDATE leases SET number = -1, owner = 'ann'", [&] { return store_->Leases().status(); }},
      {"UPDATE devices SET info = zeroblob(2000000)", [&] { return store_->Devices().status(); }},
      {"UPDATE devices SET info = x'', keys = hex(zeroblob(500))",
       [&] { return store_->Devices().status(); }},
      {"INSERT INTO calibrations VALUES (1, 'a', 1, 1, 1, 1, 1, 1, -1)",
       [&] { return store_->Calibrations("a").status(); }},
      {"DROP TABLE leases", [&] { return store_->Leases().status(); }},
  };
  for (const auto& c : cases) {
    Damage(c.sql);
    const absl::Status status = c.read();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << c.sql << ": " << status;
    EXPECT_THAT(std::string(status.message()), StartsWith(path_ + ": ")) << c.sql;
  }
}

TEST_F(SqlFleetStoreTest, TablesOfAnOlderVersionAreUpgraded) {
  EXPECT_TRUE(store_->AddCertificate(SampleFacts("0a", "desk")).ok());
  EXPECT_TRUE(store_->PutDevice(SampleDevice("a")).ok());
  FleetDevice of_server = SampleDevice("b");
  of_server.owner = kServersOwner;
  EXPECT_TRUE(store_->PutDevice(of_server).ok());
  store_.reset();
  Damage("ALTER TABLE devices DROP COLUMN shared_with");
  Damage("DROP TABLE trusts");
  for (const char* index : {"that_count", "by_end", "by_owner"})
    Damage(absl::StrCat("DROP INDEX certificates_", index));
  for (const char* column : {"authority", "is_shown"})
    Damage(absl::StrCat("ALTER TABLE certificates DROP COLUMN ", column));
  Damage("DROP TABLE fleet_secrets");
  Damage("PRAGMA user_version = 1");
  Reopen();
  EXPECT_TRUE(store_->AddCertificate(SampleFacts("0b", "rack")).ok());
  Reopen();
  const std::vector<IssuedCertificate> all = *store_->ValidCertificates(0);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].facts.serial, "0a");
  EXPECT_EQ(all[0].facts.authority, "");
  EXPECT_TRUE(all[0].is_shown);  // not recorded yet
  EXPECT_FALSE(all[1].is_shown);
  EXPECT_EQ(all[1].facts.authority, "ca");
  // Without their owners' consent, others may use only the server's devices.
  EXPECT_THAT(store_->Devices()->at(0).shared_with, IsEmpty());
  EXPECT_THAT(store_->Devices()->at(1).shared_with, ElementsAre(kEveryOwner));
}

TEST_F(SqlFleetStoreTest, OtherFilesAreRefused) {
  store_.reset();
  Damage("PRAGMA user_version = 7");
  const absl::Status newer = FleetStore::Open(path_).status();
  EXPECT_THAT(std::string(newer.message()), AllOf(HasSubstr("newer"), HasSubstr("--state")));
  Damage("PRAGMA application_id = 1");
  EXPECT_THAT(std::string(FleetStore::Open(path_).status().message()), HasSubstr("another program's"));
}

}  // namespace
}  // namespace attune
