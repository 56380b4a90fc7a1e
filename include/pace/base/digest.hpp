// Digest: a 64-bit hash of bytes that is equal on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace pace {

/// The 64-bit FNV-1a hash (G. Fowler, L. C. Noll, K.-P. Vo). Unlike std::hash, it is equal on every machine and with
/// every standard library. It distinguishes builds and files; it is not a cryptographic hash.
class Digest {
 public:
  /// Appends `bytes` to the bytes that are hashed.
  constexpr void add(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  /// The hash of all bytes so far.
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  /// The hash as 16 hexadecimal digits.
  [[nodiscard]] std::string text() const {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value_));
    return text.data();
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// Returns the hash of `bytes`.
[[nodiscard]] constexpr std::uint64_t digest_of(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.value();
}

}  // namespace pace
