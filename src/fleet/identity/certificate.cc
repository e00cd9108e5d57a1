#include "fleet/identity/certificate.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/status.h"
#include "fleet/identity/openssl_objects.h"
#include "fleet/identity/pem_file.h"

namespace attune {
namespace {

constexpr size_t kMostNameBytes = 64;  // the bound of X.520 for these parts of a name
constexpr int kSerialBytes = 16;
constexpr double kClocksDiffer = 300, kYear = 365.25 * 86400, kAuthoritySeconds = 10 * kYear;
constexpr double kMostSeconds = 20 * kYear;

struct RoleName {
  FleetRole role;
  std::string_view name;
};
constexpr std::array kRoles = {RoleName{FleetRole::kServer, "server"}, RoleName{FleetRole::kAgent, "agent"},
                               RoleName{FleetRole::kClient, "client"},
                               RoleName{FleetRole::kOperator, "operator"},
                               RoleName{FleetRole::kRunner, "runner"}};

using Request = std::unique_ptr<X509_REQ, FreeWith<X509_REQ_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, FreeWith<X509_EXTENSION_free>>;
using Store = std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>>;
using BigNumber = std::unique_ptr<BIGNUM, FreeWith<BN_free>>;

std::string NamePart(const X509_NAME* name, int nid) {
  std::array<char, kMostNameBytes + 2> text;
  const int size = X509_NAME_get_text_by_NID(const_cast<X509_NAME*>(name), nid, text.data(), text.size());
  return size < 0 ? "" : std::string(text.data(), static_cast<size_t>(size));
}

absl::Status AddNamePart(X509_NAME* name, const char* part, std::string_view text) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (X509_NAME_add_entry_by_txt(name, part, MBSTRING_UTF8, bytes, static_cast<int>(text.size()), -1, 0) == 1)
    return absl::OkStatus();
  return OpenSslError("cannot write a name");
}

absl::Status SetSerial(X509* certificate) {
  std::array<unsigned char, kSerialBytes> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return OpenSslError("no random numbers");
  bytes[0] = (bytes[0] & 0x7F) | 0x40;  // positive, and always of the same length
  const BigNumber number(BN_bin2bn(bytes.data(), bytes.size(), nullptr));
  if (number == nullptr || BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) == nullptr)
    return OpenSslError("cannot set the serial number");
  return absl::OkStatus();
}

absl::Status SetTimes(X509* certificate, double seconds, const Clock& clock) {
  const auto now = static_cast<time_t>(clock.WallMillis() / 1000);
  const auto begin = now - static_cast<time_t>(kClocksDiffer);
  const auto end = now + static_cast<time_t>(std::clamp(seconds, 1.0, kMostSeconds));
  if (ASN1_TIME_set(X509_getm_notBefore(certificate), begin) == nullptr ||
      ASN1_TIME_set(X509_getm_notAfter(certificate), end) == nullptr)
    return OpenSslError("cannot set the times");
  return absl::OkStatus();
}

absl::Status AddExtension(X509* certificate, const X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, const_cast<X509*>(issuer), certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  if (extension == nullptr || X509_add_ext(certificate, extension.get(), -1) != 1)
    return OpenSslError("cannot add an extension");
  return absl::OkStatus();
}

std::string TimeText(int64_t ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

std::string ThisMachinesClock(const Clock& clock) {
  return absl::StrCat("this machine's clock, which says ", TimeText(clock.WallMillis()),
                      ": is a clock wrong?");
}

bool IsAddress(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

bool IsHost(const std::string& host) {
  return !host.empty() && host.size() <= 253 && std::ranges::all_of(host, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == ':';
  });
}

// A new certificate for the public key with all that they have in common.
absl::StatusOr<X509Pointer> Begin(EVP_PKEY* key, double seconds, const Clock& clock) {
  X509Pointer certificate(X509_new());
  if (certificate == nullptr || X509_set_version(certificate.get(), X509_VERSION_3) != 1 ||
      X509_set_pubkey(certificate.get(), key) != 1)
    return OpenSslError("cannot make a certificate");
  RETURN_IF_ERROR(SetSerial(certificate.get()));
  RETURN_IF_ERROR(SetTimes(certificate.get(), seconds, clock));
  return certificate;
}

// Whether the key is one as PrivateKey::Generate() makes them.
bool IsOurs(const EVP_PKEY* key) {
  std::array<char, 32> group = {};
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, group.data(), group.size(), nullptr) == 1 &&
         OBJ_txt2nid(group.data()) == NID_X9_62_prime256v1;
}

// The octets in hexadecimal; empty if there are none.
std::string HexOf(const ASN1_STRING* octets) {
  if (octets == nullptr) return "";
  return absl::BytesToHexString({reinterpret_cast<const char*>(ASN1_STRING_get0_data(octets)),
                                 static_cast<size_t>(ASN1_STRING_length(octets))});
}

absl::StatusOr<int64_t> MillisOf(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return OpenSslError("has a damaged time");
  return int64_t{timegm(&parts)} * 1000;
}

}  // namespace

std::string_view Name(FleetRole role) { return std::ranges::find(kRoles, role, &RoleName::role)->name; }

absl::StatusOr<FleetRole> FleetRoleNamed(std::string_view name) {
  const auto* const found = std::ranges::find(kRoles, name, &RoleName::name);
  if (found != kRoles.end()) return found->role;
  return InvalidInput("\"", Printable(name), "\" is not a role; there are server, agent, client, operator");
}

absl::Status CheckFleetIdentity(const FleetIdentity& who) {
  for (const auto& [what, text] : {std::pair("owner", &who.owner), std::pair("id", &who.id)}) {
    if (text->empty() || text->size() > kMostNameBytes)
      return InvalidInput(what, ": \"", Printable(*text), "\" does not have 1 to ", kMostNameBytes,
                          " characters");
    if (!std::ranges::all_of(*text, [](char c) { return c > ' ' && c < 127; }))
      return InvalidInput(what, ": \"", Printable(*text), "\" has characters other than ASCII's, or spaces");
  }
  return absl::OkStatus();
}

absl::StatusOr<CertificateFacts> ReadCertificate(std::string_view pem) {
  ASSIGN_OR_RETURN(const X509Pointer certificate, ParseCertificate(pem));
  const X509_NAME* subject = X509_get_subject_name(certificate.get());
  CertificateFacts facts;
  ASSIGN_OR_RETURN(facts.who.role, FleetRoleNamed(NamePart(subject, NID_organizationalUnitName)));
  facts.who.owner = NamePart(subject, NID_organizationName);
  facts.who.id = NamePart(subject, NID_commonName);
  RETURN_IF_ERROR(CheckFleetIdentity(facts.who));
  facts.serial = HexOf(X509_get0_serialNumber(certificate.get()));
  facts.authority = HexOf(X509_get0_authority_key_id(certificate.get()));
  if (facts.authority.empty()) return InvalidInput("does not say whose signature it has");
  ASSIGN_OR_RETURN(facts.begin_ms, MillisOf(X509_get0_notBefore(certificate.get())));
  ASSIGN_OR_RETURN(facts.end_ms, MillisOf(X509_get0_notAfter(certificate.get())));
  return facts;
}

int64_t IssuedMillis(const CertificateFacts& facts) {
  return facts.begin_ms + static_cast<int64_t>(1e3 * kClocksDiffer);
}

int64_t RenewalMillis(const CertificateFacts& facts) {
  const int64_t signed_ms = IssuedMillis(facts);
  return signed_ms + (facts.end_ms - signed_ms) / 3 * 2;
}

void PrivateKey::Free::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

absl::StatusOr<PrivateKey> PrivateKey::Generate() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  if (key == nullptr) return OpenSslError("cannot make a key");
  return PrivateKey(key);
}

absl::StatusOr<PrivateKey> PrivateKey::Read(std::string_view pem) {
  EVP_PKEY* key = PEM_read_bio_PrivateKey(ReadingBio(pem).get(), nullptr, NoPassword, nullptr);
  if (key != nullptr) return PrivateKey(key);
  ERR_clear_error();
  return InvalidInput("is not a private key in PEM");
}

absl::StatusOr<std::string> PrivateKey::Pem() const {
  return ToPem([&](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

absl::StatusOr<std::string> PrivateKey::Request() const {
  const attune::Request request(X509_REQ_new());
  if (request == nullptr || X509_REQ_set_pubkey(request.get(), key_.get()) != 1 ||
      X509_REQ_sign(request.get(), key_.get(), EVP_sha256()) == 0)
    return OpenSslError("cannot make a request");
  return ToPem([&](BIO* bio) { return PEM_write_bio_X509_REQ(bio, request.get()); });
}

absl::Status PrivateKey::CheckIsKeyOf(std::string_view certificate_pem) const {
  ASSIGN_OR_RETURN(const X509Pointer certificate, ParseCertificate(certificate_pem));
  if (X509_check_private_key(certificate.get(), key_.get()) == 1) return absl::OkStatus();
  ERR_clear_error();
  return InvalidInput("the key is not that of the certificate");
}

void CertificateAuthority::Free::operator()(X509* certificate) const { X509_free(certificate); }

absl::StatusOr<CertificateAuthority> CertificateAuthority::Create(const Clock& clock) {
  ASSIGN_OR_RETURN(PrivateKey key, PrivateKey::Generate());
  ASSIGN_OR_RETURN(X509Pointer certificate, Begin(key.key_.get(), kAuthoritySeconds, clock));
  X509_NAME* name = X509_get_subject_name(certificate.get());
  RETURN_IF_ERROR(AddNamePart(name, "CN", "Attune fleet authority"));
  if (X509_set_issuer_name(certificate.get(), name) != 1) return OpenSslError("cannot write a name");
  const std::pair<int, const char*> extensions[] = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                                                    {NID_key_usage, "critical,keyCertSign"},
                                                    {NID_subject_key_identifier, "hash"}};
  for (const auto& [nid, value] : extensions)
    RETURN_IF_ERROR(AddExtension(certificate.get(), certificate.get(), nid, value));
  if (X509_sign(certificate.get(), key.key_.get(), EVP_sha256()) == 0) return OpenSslError("cannot sign");
  ASSIGN_OR_RETURN(std::string pem, CertificateToPem(certificate.get()));
  return Of(std::move(key), std::move(pem));
}

absl::StatusOr<CertificateAuthority> CertificateAuthority::Read(std::string_view certificate_pem,
                                                                std::string_view key_pem) {
  ASSIGN_OR_RETURN(PrivateKey key, PrivateKey::Read(key_pem));
  RETURN_IF_ERROR(key.CheckIsKeyOf(certificate_pem));
  return Of(std::move(key), std::string(certificate_pem));
}

absl::StatusOr<CertificateAuthority> CertificateAuthority::Of(PrivateKey key, std::string certificate_pem) {
  ASSIGN_OR_RETURN(X509Pointer certificate, ParseCertificate(certificate_pem));
  CertificateAuthority authority(std::move(key));
  authority.id_ = HexOf(X509_get0_subject_key_id(certificate.get()));
  if (authority.id_.empty()) return InvalidInput("is not an authority's certificate");
  ASSIGN_OR_RETURN(const int64_t begin_ms, MillisOf(X509_get0_notBefore(certificate.get())));
  authority.created_ms_ = begin_ms + static_cast<int64_t>(1e3 * kClocksDiffer);
  authority.certificate_.reset(certificate.release());
  authority.pem_ = std::move(certificate_pem);
  return authority;
}

absl::StatusOr<std::string> CertificateAuthority::Sign(std::string_view request_pem, const FleetIdentity& who,
                                                       double seconds, const std::vector<std::string>& hosts,
                                                       const Clock& clock) const {
  RETURN_IF_ERROR(CheckFleetIdentity(who));
  const attune::Request request(
      PEM_read_bio_X509_REQ(ReadingBio(request_pem).get(), nullptr, NoPassword, nullptr));
  EVP_PKEY* key = request == nullptr ? nullptr : X509_REQ_get0_pubkey(request.get());
  // Other keys than ours may be of any kind and size, and take any time to verify.
  if (key == nullptr || !IsOurs(key) || X509_REQ_verify(request.get(), key) != 1) {
    ERR_clear_error();
    return InvalidInput("is not a request for a certificate that is signed by its key");
  }
  ASSIGN_OR_RETURN(const X509Pointer certificate, Begin(key, seconds, clock));
  X509_NAME* name = X509_get_subject_name(certificate.get());
  RETURN_IF_ERROR(AddNamePart(name, "O", who.owner));
  RETURN_IF_ERROR(AddNamePart(name, "OU", Name(who.role)));
  RETURN_IF_ERROR(AddNamePart(name, "CN", who.id));
  if (X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get())) != 1)
    return OpenSslError("cannot write a name");
  const bool is_server = who.role == FleetRole::kServer;
  std::vector<std::pair<int, std::string>> extensions = {
      {NID_basic_constraints, "critical,CA:FALSE"},
      {NID_key_usage, "critical,digitalSignature"},
      {NID_ext_key_usage, is_server ? "serverAuth" : "clientAuth"},
      {NID_authority_key_identifier, "keyid"}};
  std::vector<std::string> names;
  for (const std::string& host : hosts) {
    if (!IsHost(host)) return InvalidInput("\"", Printable(host), "\" is not a host's name or address");
    names.push_back(absl::StrCat(IsAddress(host) ? "IP:" : "DNS:", host));
  }
  if (!names.empty()) extensions.emplace_back(NID_subject_alt_name, absl::StrJoin(names, ","));
  for (const auto& [nid, value] : extensions)
    RETURN_IF_ERROR(AddExtension(certificate.get(), certificate_.get(), nid, value));
  if (X509_sign(certificate.get(), key_.key_.get(), EVP_sha256()) == 0) return OpenSslError("cannot sign");
  return CertificateToPem(certificate.get());
}

absl::Status VerifyCertificate(std::string_view certificate_pem, std::string_view authorities_pem) {
  ASSIGN_OR_RETURN(const X509Pointer certificate, ParseCertificate(certificate_pem));
  ASSIGN_OR_RETURN(const PemParts authorities, SplitPem(authorities_pem));
  const Store store(X509_STORE_new());
  const StoreContext context(X509_STORE_CTX_new());
  // An authority that has not signed itself may be a forgery around an authority's public key.
  if (store == nullptr || context == nullptr ||
      X509_STORE_set_flags(store.get(), X509_V_FLAG_CHECK_SS_SIGNATURE) != 1)
    return OpenSslError("cannot verify a certificate");
  for (const std::string& pem : authorities.certificates) {
    ASSIGN_OR_RETURN(const X509Pointer authority, ParseCertificate(pem));
    if (X509_STORE_add_cert(store.get(), authority.get()) != 1)
      return OpenSslError("cannot add an authority");
  }
  if (X509_STORE_CTX_init(context.get(), store.get(), certificate.get(), nullptr) != 1)
    return OpenSslError("cannot verify a certificate");
  if (X509_verify_cert(context.get()) == 1) return absl::OkStatus();
  ERR_clear_error();
  const int error = X509_STORE_CTX_get_error(context.get());
  const char* const reason = X509_verify_cert_error_string(error);
  if (error != X509_V_ERR_CERT_NOT_YET_VALID) return absl::UnauthenticatedError(reason);
  return absl::UnavailableError(absl::StrCat(reason, ", by ", ThisMachinesClock(SystemClock())));
}

absl::Status CheckHasBegun(std::string_view certificate_pem, const Clock& clock) {
  ASSIGN_OR_RETURN(const X509Pointer certificate, ParseCertificate(certificate_pem));
  ASSIGN_OR_RETURN(const int64_t begin_ms, MillisOf(X509_get0_notBefore(certificate.get())));
  if (clock.WallMillis() >= begin_ms) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("the certificate counts only from ", TimeText(begin_ms),
                                             " on, by ", ThisMachinesClock(clock)));
}

absl::StatusOr<std::string> KeyFingerprint(std::string_view certificate_pem) {
  ASSIGN_OR_RETURN(const X509Pointer certificate, ParseCertificate(certificate_pem));
  unsigned char* bytes = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate.get()), &bytes);
  if (size <= 0) return OpenSslError("has no public key");
  std::string fingerprint = Sha256Hex({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)});
  OPENSSL_free(bytes);
  return fingerprint;
}

}  // namespace attune
