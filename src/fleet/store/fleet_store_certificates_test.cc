// Certificates and invitations among what the fleet's server keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "fleet/store/fleet_store_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class FleetCertificatesTest : public FleetStoreTest {
 protected:
  IssuedCertificate Find(const std::string& serial) {
    const auto found = store_->FindCertificate(serial);
    EXPECT_TRUE(found.ok() && found->has_value()) << serial << found.status();
    return found.ok() && *found ? **found : IssuedCertificate();
  }
};

TEST_P(FleetCertificatesTest, CertificatesAreRevokedByIdentity) {
  for (const CertificateFacts& facts : {SampleFacts("0a", "desk"), SampleFacts("0b", "rack")})
    EXPECT_TRUE(store_->AddCertificate(facts).ok());
  const std::set<std::string> all = {"0a", "0b", "0c", "0d"};
  EXPECT_THAT(*store_->RevokedAmong(all), IsEmpty());
  EXPECT_TRUE(store_->RevokeIdentity("rack", {.reason = "the key was lost", .time_ms = 7}).ok());
  EXPECT_THAT(*store_->RevokedAmong(all), ElementsAre("0b"));
  EXPECT_TRUE(store_->AddCertificate(SampleFacts("0c", "rack")).ok());
  EXPECT_TRUE(store_->RevokeIdentity("rack", {.reason = "it was sold", .time_ms = 8}).ok());
  Reopen();
  EXPECT_THAT(*store_->RevokedAmong(all), ElementsAre("0b", "0c"));
  EXPECT_THAT(*store_->RevokedAmong({"0a", "0c"}), ElementsAre("0c"));
  EXPECT_EQ(*store_->NumRevoked(1999), 2);
  EXPECT_EQ(*store_->NumRevoked(2000), 0);  // they could not be used any more
  const auto valid = store_->ValidCertificates(1999);
  ASSERT_THAT(*valid, SizeIs(1));
  EXPECT_EQ(valid->front().revocation, std::nullopt);
  EXPECT_EQ(valid->front().facts.who, SampleFacts("0a", "desk").who);
  EXPECT_EQ(valid->front().facts.begin_ms, 1000);
  EXPECT_EQ(valid->front().facts.end_ms, 2000);
  EXPECT_EQ(valid->front().facts.authority, "ca");
  EXPECT_THAT(*store_->ValidCertificates(2000), IsEmpty());
  EXPECT_EQ(Find("0b").revocation, (Revocation{.reason = "the key was lost", .time_ms = 7}));
  EXPECT_EQ(Find("0c").revocation, (Revocation{.reason = "it was sold", .time_ms = 8}));
  EXPECT_EQ(*store_->FindCertificate("0d"), std::nullopt);
}

TEST_P(FleetCertificatesTest, CertificatesThatHaveEndedAreForgotten) {
  for (const auto& [serial, end_ms] :
       std::map<std::string, int64_t>{{"0a", 2000}, {"0b", 2001}, {"0c", 2000}})
    EXPECT_TRUE(store_->AddCertificate(SampleFacts(serial, serial == "0c" ? "rack" : "desk", end_ms)).ok());
  EXPECT_TRUE(store_->RevokeIdentity("rack", {.reason = "test"}).ok());
  EXPECT_TRUE(store_->ForgetCertificates(1999).ok());
  EXPECT_THAT(*store_->RevokedAmong({"0c"}), SizeIs(1));
  EXPECT_TRUE(store_->ForgetCertificates(2000).ok());
  EXPECT_EQ(*store_->FindCertificate("0a"), std::nullopt);
  EXPECT_EQ(*store_->FindCertificate("0c"), std::nullopt);
  EXPECT_EQ(Find("0b").facts.serial, "0b");
}

TEST_P(FleetCertificatesTest, RevokedOnesAreFoundAmongMany) {
  std::set<std::string> serials;
  for (int i = 100; i < 250; ++i) serials.insert(absl::StrCat(i));
  const std::set<std::string> revoked = {"100", "163", "164", "249"};
  for (const std::string& serial : serials)
    ASSERT_TRUE(store_->AddCertificate(SampleFacts(serial, revoked.contains(serial) ? "rack" : "desk")).ok());
  EXPECT_TRUE(store_->RevokeIdentity("rack", {.reason = "test"}).ok());
  EXPECT_EQ(*store_->RevokedAmong(serials), revoked);
  serials.erase("249");
  EXPECT_THAT(*store_->RevokedAmong(serials), SizeIs(3));
  EXPECT_THAT(*store_->RevokedAmong({}), IsEmpty());
}

TEST_P(FleetCertificatesTest, AllOfAnOwnerIsRevoked) {
  CertificateFacts of_bob = SampleFacts("0c", "other");
  of_bob.who.owner = "bob";
  for (const CertificateFacts& facts : {SampleFacts("0a", "desk"), SampleFacts("0b", "rack"), of_bob})
    EXPECT_TRUE(store_->AddCertificate(facts).ok());
  EXPECT_TRUE(store_->RevokeIdentity("rack", {.reason = "it was sold", .time_ms = 7}).ok());
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

TEST_P(FleetCertificatesTest, ACertificateIsShownOnceItsHolderHasShownIt) {
  for (const char* serial : {"0a", "0b"})
    EXPECT_TRUE(store_->AddCertificate(SampleFacts(serial, "desk")).ok());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(store_->SetShown("0b").ok());
  EXPECT_EQ(store_->SetShown("0c").code(), absl::StatusCode::kNotFound);
  Reopen();
  EXPECT_FALSE(Find("0a").is_shown);
  EXPECT_TRUE(Find("0b").is_shown);
}

TEST_P(FleetCertificatesTest, CertificatesThatAreUnknownOrKnownAlreadyAreErrors) {
  EXPECT_TRUE(store_->AddCertificate(SampleFacts("0a", "desk")).ok());
  EXPECT_EQ(store_->AddCertificate(SampleFacts("0a", "rack")).code(), absl::StatusCode::kAlreadyExists);
  const Revocation revocation = {.reason = "test"};
  const absl::Status unknown = store_->RevokeIdentity("0a", revocation);
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      std::string(unknown.message()),
      AllOf(StartsWith(GetParam() == testing::kPostgres ? "postgresql://" : location_.folder().path()),
            HasSubstr("0a")));
  EXPECT_THAT(*store_->RevokedAmong({"0a"}), IsEmpty());
}

TEST_P(FleetCertificatesTest, AnInvitationCountsOnceAndBeforeItsEnd) {
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

TEST_P(FleetCertificatesTest, OneOfManyWhoTakeAnInvitationGetsIt) {
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

INSTANTIATE_TEST_SUITE_P(EveryDatabase, FleetCertificatesTest, testing::EveryDatabase(), testing::DatabaseOf);

}  // namespace
}  // namespace attune
