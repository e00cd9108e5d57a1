#include "io/wav.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace attune {
namespace {

using ::testing::ElementsAre;

template <typename T>
std::string Bytes(std::initializer_list<T> values) {
  std::string out;
  for (T value : values) out.append(reinterpret_cast<const char*>(&value), sizeof(T));
  return out;
}

std::string Chunk(const std::string& id, const std::string& content) {
  return id + Bytes<uint32_t>({static_cast<uint32_t>(content.size())}) + content +
         std::string(content.size() % 2, '\0');
}

std::string Format(uint16_t format, uint16_t channels, uint16_t bits) {
  const auto frame = static_cast<uint16_t>(channels * bits / 8);
  return Chunk("fmt ", Bytes<uint16_t>({format, channels}) + Bytes<uint32_t>({16000, 16000u * frame}) +
                           Bytes<uint16_t>({frame, bits}));
}

std::string File(const std::string& chunks) {
  return "RIFF" + Bytes<uint32_t>({static_cast<uint32_t>(4 + chunks.size())}) + "WAVE" + chunks;
}

std::string Message(const std::string& bytes) {
  return std::string(ParseWav(bytes, "a.wav").status().message());
}

TEST(Wav, ReadsPcm) {
  const auto sound = ParseWav(
      File(Format(1, 1, 16) + Chunk("LIST", "odd") + Chunk("data", Bytes<int16_t>({0, 16384, -32768}))),
      "a.wav");
  ASSERT_TRUE(sound.ok()) << sound.status();
  EXPECT_EQ(sound->sample_rate, 16000);
  EXPECT_THAT(sound->samples.shape(), ElementsAre(1, 3));
  EXPECT_THAT(sound->samples.as<float>(), ElementsAre(0.0f, 0.5f, -1.0f));
}

TEST(Wav, ReadsFloatAndMixesChannels) {
  const auto sound =
      ParseWav(File(Format(3, 2, 32) + Chunk("data", Bytes<float>({0.5f, 0.25f, -1.0f, 1.0f}))), "a.wav");
  ASSERT_TRUE(sound.ok()) << sound.status();
  EXPECT_THAT(sound->samples.as<float>(), ElementsAre(0.375f, 0.0f));
}

TEST(Wav, RefusesWhatItCannotRead) {
  EXPECT_EQ(Message("RIFF"), "a.wav: not a WAVE file");
  EXPECT_EQ(Message(File("")), "a.wav: no format before the samples");
  EXPECT_EQ(Message(File(Format(1, 1, 16))), "a.wav: no samples");
  EXPECT_EQ(Message(File(Format(1, 0, 16) + Chunk("data", ""))), "a.wav: it has no channels");
  EXPECT_EQ(Message(File(Format(1, 1, 24) + Chunk("data", "123"))),
            "a.wav: format 1 of 24 bits; 16-bit PCM and 32-bit float are read");
  const std::string whole = File(Format(1, 1, 16) + Chunk("data", "12345678"));
  EXPECT_EQ(Message(whole.substr(0, whole.size() - 1)), "a.wav: cut short: a chunk of 8 bytes has 7");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(ParseWav(whole.substr(0, size), "a").ok());
}

}  // namespace
}  // namespace attune
