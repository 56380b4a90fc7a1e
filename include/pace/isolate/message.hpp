// MessageWriter, MessageReader: messages between processes of one program, as bytes.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/result/result.hpp"

namespace pace::detail {

/// Thrown when reading more values than a message has.
struct MessageEndsEarly : Error {
  MessageEndsEarly() : Error("a message of another process ends too early") {}
};

/// Appends values to a message. Both processes run the same code, so a value is its bytes.
class MessageWriter {
 public:
  template <class T>
  MessageWriter& operator<<(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  MessageWriter& operator<<(const std::string& text) {
    *this << text.size();
    bytes_ += text;
    return *this;
  }
  MessageWriter& operator<<(const Objection& objection) {
    return *this << objection.severity << objection.why << objection.remedy;
  }
  template <class T>
  MessageWriter& operator<<(const std::vector<T>& values) {
    *this << values.size();
    for (const auto& each : values) *this << each;
    return *this;
  }

  /// Appends each of `values`.
  template <class... T>
  void pass(const T&... values) {
    (*this << ... << values);
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads the values of a message in order. Throws MessageEndsEarly at its end.
class MessageReader {
 public:
  explicit MessageReader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  MessageReader& operator>>(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&value, take(sizeof value), sizeof value);
    return *this;
  }
  MessageReader& operator>>(std::string& text) {
    const auto size = read<std::size_t>();
    text.assign(take(size), size);
    return *this;
  }
  MessageReader& operator>>(Objection& objection) {
    return *this >> objection.severity >> objection.why >> objection.remedy;
  }
  template <class T>
  MessageReader& operator>>(std::vector<T>& values) {
    const auto size = read<std::size_t>();
    values.clear();
    for (std::size_t i = 0; i < size; ++i) *this >> values.emplace_back();
    return *this;
  }
  /// Reads each of `values`.
  template <class... T>
  void pass(T&... values) {
    (*this >> ... >> values);
  }
  template <class T>
  [[nodiscard]] T read() {
    T value{};
    *this >> value;
    return value;
  }

 private:
  [[nodiscard]] const char* take(std::size_t size) {
    if (size > bytes_.size() - at_) throw MessageEndsEarly();
    const char* const from = bytes_.data() + at_;
    at_ += size;
    return from;
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace pace::detail
