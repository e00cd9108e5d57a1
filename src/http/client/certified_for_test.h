// Keys with certificates, for tests.
#ifndef ATTUNE_HTTP_CLIENT_CERTIFIED_FOR_TEST_H_
#define ATTUNE_HTTP_CLIENT_CERTIFIED_FOR_TEST_H_

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "base/file.h"

namespace attune::testing {

// A key and its certificate, made for a test. Authorities sign others.
class Certified {
 public:
  // `names`: as in subjectAltName; empty: an authority. A null issuer: it signs itself.
  explicit Certified(const std::string& names, const Certified* issuer = nullptr, bool is_expired = false)
      : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), certificate_(X509_new(), X509_free) {
    constexpr long kDay = 86'400;
    X509_set_version(certificate_.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_.get()), issuer == nullptr ? 1 : 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate_.get()), -2 * kDay);
    X509_gmtime_adj(X509_getm_notAfter(certificate_.get()), is_expired ? -kDay : kDay);
    X509_set_pubkey(certificate_.get(), key_.get());
    // Nobody takes one issuer for another.
    const std::string name = KeyDigest();
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate_.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.data()),
                               static_cast<int>(name.size()), -1, 0);
    const Certified& by = issuer == nullptr ? *this : *issuer;
    X509_set_issuer_name(certificate_.get(), X509_get_subject_name(by.certificate_.get()));
    Extend(NID_basic_constraints, names.empty() ? "critical,CA:TRUE" : "CA:FALSE");
    if (!names.empty()) Extend(NID_subject_alt_name, names);
    X509_sign(certificate_.get(), by.key_.get(), EVP_sha256());
  }

  std::string Pem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_X509(bio.get(), certificate_.get());
    return TextOf(bio.get());
  }
  std::string KeyPem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return TextOf(bio.get());
  }
  std::string KeyDigest() const {
    unsigned char* bytes = nullptr;
    const int size = i2d_PUBKEY(key_.get(), &bytes);
    std::string digest = Sha256Hex({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)});
    OPENSSL_free(bytes);
    return digest;
  }

 private:
  static std::string TextOf(BIO* bio) {
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio, &text);
    return {text, static_cast<size_t>(size)};
  }
  void Extend(int what, const std::string& value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str());
    X509_add_ext(certificate_.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
  const std::unique_ptr<X509, decltype(&X509_free)> certificate_;
};

}  // namespace attune::testing

#endif  // ATTUNE_HTTP_CLIENT_CERTIFIED_FOR_TEST_H_
