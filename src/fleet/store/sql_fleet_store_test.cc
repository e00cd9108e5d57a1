#include "fleet/store/sql_fleet_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/sql/testing/database_for_test.h"
#include "base/sqlite/sqlite.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

CertificateFacts Facts(const std::string& serial, const std::string& id, int64_t end_ms = 2000) {
  return {.who = {.role = FleetRole::kAgent, .owner = "ann", .id = id},
          .serial = serial,
          .begin_ms = 1000,
          .end_ms = end_ms,
          .authority = "ca"};
}

PendingInvitation SampleInvitation(const std::string& secret, int64_t end_ms) {
  return {.digest = Sha256Hex(secret), .role = FleetRole::kAgent, .owner = "ann", .end_ms = end_ms};
}

HeldLease SampleLease(const std::string& device, const LeaseToken& token) {
  return {.token = token, .device = device, .owner = "ann", .key = "zen4"};
}

FleetDevice SampleDevice(const std::string& id) {
  return {.id = id,
          .agent = "desk",
          .owner = "ann",
          .keys = {"some-processor/znver4/l1-32k", "any"},
          .info = std::string("\0\xFF\n\0", 4),
          .last_seen_ms = 5};
}

class FleetStoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_DATABASE(location_);
    Reopen();
  }

  // Ends the store, as the end of the server does, and opens it again.
  void Reopen() {
    store_.reset();
    auto store = SqlFleetStore::Open(*location_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  IssuedCertificate Find(const std::string& serial) {
    const auto found = store_->FindCertificate(serial);
    EXPECT_TRUE(found.ok() && found->has_value()) << serial << found.status();
    return found.ok() && *found ? **found : IssuedCertificate();
  }

  const testing::LocationForTest location_{GetParam()};
  std::unique_ptr<SqlFleetStore> store_;
};

// In a file that others can change.
class SqlFleetStoreTest : public ::testing::Test {
 protected:
  SqlFleetStoreTest() { Reopen(); }

  // Ends the store, as the end of the server does, and opens it again.
  void Reopen() {
    store_.reset();
    auto store = SqlFleetStore::Open(path_);
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
  std::unique_ptr<SqlFleetStore> store_;
};

TEST_P(FleetStoreTest, CertificatesAreRevokedBySerialOrByIdentity) {
  for (const CertificateFacts& facts : {Facts("0a", "desk"), Facts("0b", "rack"), Facts("0c", "rack")})
    EXPECT_TRUE(store_->AddCertificate(facts).ok());
  const std::set<std::string> all = {"0a", "0b", "0c", "0d"};
  EXPECT_THAT(*store_->RevokedAmong(all), IsEmpty());
  EXPECT_TRUE(store_->RevokeCertificate("0b", {.reason = "the key was lost", .time_ms = 7}).ok());
  EXPECT_THAT(*store_->RevokedAmong(all), ElementsAre("0b"));
  EXPECT_TRUE(store_->RevokeIdentity("rack", {.reason = "it was sold", .time_ms = 8}).ok());
  Reopen();
  EXPECT_THAT(*store_->RevokedAmong(all), ElementsAre("0b", "0c"));
  EXPECT_THAT(*store_->RevokedAmong({"0a", "0c"}), ElementsAre("0c"));
  EXPECT_EQ(*store_->NumRevoked(1999), 2);
  EXPECT_EQ(*store_->NumRevoked(2000), 0);  // they could not be used any more
  const auto valid = store_->ValidCertificates(1999);
  ASSERT_THAT(*valid, SizeIs(1));
  EXPECT_EQ(valid->front().revocation, std::nullopt);
  EXPECT_EQ(valid->front().facts.who, Facts("0a", "desk").who);
  EXPECT_EQ(valid->front().facts.begin_ms, 1000);
  EXPECT_EQ(valid->front().facts.end_ms, 2000);
  EXPECT_EQ(valid->front().facts.authority, "ca");
  EXPECT_THAT(*store_->ValidCertificates(2000), IsEmpty());
  EXPECT_EQ(Find("0b").revocation, (Revocation{.reason = "the key was lost", .time_ms = 7}));
  EXPECT_EQ(Find("0c").revocation, (Revocation{.reason = "it was sold", .time_ms = 8}));
  EXPECT_EQ(*store_->FindCertificate("0d"), std::nullopt);
}

TEST_P(FleetStoreTest, CertificatesThatHaveEndedAreForgotten) {
  for (const auto& [serial, end_ms] :
       std::map<std::string, int64_t>{{"0a", 2000}, {"0b", 2001}, {"0c", 2000}})
    EXPECT_TRUE(store_->AddCertificate(Facts(serial, "desk", end_ms)).ok());
  EXPECT_TRUE(store_->RevokeCertificate("0c", {.reason = "test"}).ok());
  EXPECT_TRUE(store_->ForgetCertificates(1999).ok());
  EXPECT_THAT(*store_->RevokedAmong({"0c"}), SizeIs(1));
  EXPECT_TRUE(store_->ForgetCertificates(2000).ok());
  EXPECT_EQ(*store_->FindCertificate("0a"), std::nullopt);
  EXPECT_EQ(*store_->FindCertificate("0c"), std::nullopt);
  EXPECT_EQ(Find("0b").facts.serial, "0b");
}

TEST_P(FleetStoreTest, RevokedOnesAreFoundAmongMany) {
  std::set<std::string> serials;
  for (int i = 100; i < 250; ++i) serials.insert(absl::StrCat(i));
  for (const std::string& serial : serials) ASSERT_TRUE(store_->AddCertificate(Facts(serial, "desk")).ok());
  for (const char* serial : {"100", "163", "164", "249"})
    EXPECT_TRUE(store_->RevokeCertificate(serial, {.reason = "test"}).ok());
  EXPECT_THAT(*store_->RevokedAmong(serials), ElementsAre("100", "163", "164", "249"));
  serials.erase("249");
  EXPECT_THAT(*store_->RevokedAmong(serials), SizeIs(3));
  EXPECT_THAT(*store_->RevokedAmong({}), IsEmpty());
}

TEST_P(FleetStoreTest, AllOfAnOwnerIsRevoked) {
  CertificateFacts of_bob = Facts("0c", "other");
  of_bob.who.owner = "bob";
  for (const CertificateFacts& facts : {Facts("0a", "desk"), Facts("0b", "rack"), of_bob})
    EXPECT_TRUE(store_->AddCertificate(facts).ok());
  EXPECT_TRUE(store_->RevokeCertificate("0b", {.reason = "it was sold", .time_ms = 7}).ok());
  EXPECT_TRUE(store_->AddInvitation(SampleInvitation("secret", 100)).ok());
  PendingInvitation bobs = SampleInvitation("other", 100);
  bobs.owner = "bob";
  EXPECT_TRUE(store_->AddInvitation(bobs).ok());
  const Revocation revocation = {.reason = "its tenant was deleted", .time_ms = 8};
  EXPECT_EQ(*store_->RevokeOwner("ann", revocation), 2);
  EXPECT_EQ(*store_->RevokeOwner("ann", revocation), 0);
  EXPECT_EQ(*store_->RevokeOwner("carl", revocation), 0);
  EXPECT_EQ(Find("0a").revocation, revocation);
  EXPECT_EQ(Find("0b").revocation, (Revocation{.reason = "it was sold", .time_ms = 7}));
  EXPECT_EQ(Find("0c").revocation, std::nullopt);
  EXPECT_EQ(*store_->TakeInvitation("secret", 1), std::nullopt);
  EXPECT_EQ(*store_->TakeInvitation("other", 1), bobs);
}

TEST_P(FleetStoreTest, ACertificateIsShownOnceItsHolderHasShownIt) {
  for (const char* serial : {"0a", "0b"}) EXPECT_TRUE(store_->AddCertificate(Facts(serial, "desk")).ok());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(store_->SetShown("0b").ok());
  EXPECT_EQ(store_->SetShown("0c").code(), absl::StatusCode::kNotFound);
  Reopen();
  EXPECT_FALSE(Find("0a").is_shown);
  EXPECT_TRUE(Find("0b").is_shown);
}

TEST_P(FleetStoreTest, CertificatesThatAreUnknownOrKnownAlreadyAreErrors) {
  EXPECT_TRUE(store_->AddCertificate(Facts("0a", "desk")).ok());
  EXPECT_EQ(store_->AddCertificate(Facts("0a", "rack")).code(), absl::StatusCode::kAlreadyExists);
  const Revocation revocation = {.reason = "test"};
  EXPECT_EQ(store_->RevokeCertificate("desk", revocation).code(), absl::StatusCode::kNotFound);
  const absl::Status unknown = store_->RevokeIdentity("0a", revocation);
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      std::string(unknown.message()),
      AllOf(StartsWith(GetParam() == testing::kPostgres ? "postgresql://" : location_.folder().path()),
            HasSubstr("0a")));
  EXPECT_THAT(*store_->RevokedAmong({"0a"}), IsEmpty());
}

TEST_P(FleetStoreTest, AnInvitationCountsOnceAndBeforeItsEnd) {
  EXPECT_TRUE(store_->AddInvitation(SampleInvitation("secret", 100)).ok());
  EXPECT_EQ(store_->AddInvitation(SampleInvitation("secret", 900)).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(store_->AddInvitation(SampleInvitation("late", 100)).ok());
  EXPECT_EQ(*store_->TakeInvitation("guess", 99), std::nullopt);
  const std::optional<PendingInvitation> taken = *store_->TakeInvitation("secret", 99);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->role, FleetRole::kAgent);
  EXPECT_EQ(taken->owner, "ann");
  Reopen();
  EXPECT_EQ(*store_->TakeInvitation("secret", 99), std::nullopt);
  EXPECT_EQ(*store_->TakeInvitation("late", 100), std::nullopt);
  EXPECT_EQ(*store_->TakeInvitation("late", 99), std::nullopt);  // it was forgotten
}

TEST_P(FleetStoreTest, OneOfManyWhoTakeAnInvitationGetsIt) {
  constexpr int kRounds = 20, kTakers = 4;
  for (int round = 0; round < kRounds; ++round) {
    const std::string secret = absl::StrCat("secret ", round);
    EXPECT_TRUE(store_->AddInvitation(SampleInvitation(secret, 100)).ok());
    std::atomic<int> got = 0;
    std::vector<std::jthread> takers;
    for (int taker = 0; taker < kTakers; ++taker) {
      takers.emplace_back([&] {
        const auto taken = store_->TakeInvitation(secret, 1);
        EXPECT_TRUE(taken.ok()) << taken.status();
        if (taken.ok() && *taken) ++got;
      });
    }
    takers.clear();
    EXPECT_EQ(got, 1);
  }
}

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
    const auto store = SqlFleetStore::Open(path_);
    const bool done = store.ok() && (*store)->NextEpoch().ok() &&
                      (*store)->AddCertificate(Facts("0a", "desk")).ok() &&
                      (*store)->RevokeCertificate("0a", {.reason = "test"}).ok() &&
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
      store_->AddCertificate(Facts("", "desk")),
      store_->AddCertificate(Facts("0a", "two words")),
      store_->RevokeCertificate("0a", {}),
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
  EXPECT_TRUE(store_->AddCertificate(Facts("0a", "desk")).ok());
  EXPECT_TRUE(store_->RevokeCertificate("0a", {.reason = "test"}).ok());
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
  EXPECT_TRUE(store_->AddCertificate(Facts("0a", "desk")).ok());
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
  EXPECT_TRUE(store_->AddCertificate(Facts("0b", "rack")).ok());
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
  const absl::Status newer = SqlFleetStore::Open(path_).status();
  EXPECT_THAT(std::string(newer.message()), AllOf(HasSubstr("newer"), HasSubstr("--state")));
  Damage("PRAGMA application_id = 1");
  EXPECT_THAT(std::string(SqlFleetStore::Open(path_).status().message()), HasSubstr("another program's"));
}

}  // namespace
}  // namespace attune
