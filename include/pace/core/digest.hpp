// Digest: a number that changes with the bytes that it was made of.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace pace {

/// FNV-1a, 64 bits (Fowler, Noll, Vo): equal on every machine and with every standard library, as std::hash is
/// not. It distinguishes builds and files, and withstands no attack.
class Digest {
 public:
  constexpr void add(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  /// 16 hexadecimal digits.
  [[nodiscard]] std::string text() const {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value_));
    return text.data();
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// The digest of these bytes alone.
[[nodiscard]] constexpr std::uint64_t digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.value();
}

}  // namespace pace
