// The exceptions of pace. Their messages name the fault, its place, and the expectation.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

// -ffast-math sets it. Whatever tests for NaN and infinity is compiled away then: wrong outputs would pass.
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ && !defined(__CUDACC__)
#error "pace looks for NaN, which -ffast-math and -Ofast compile away: add -fno-finite-math-only behind them"
#endif

namespace pace {

/// A place in a user's input.
struct Location {
  std::string file;        ///< path of the file, or empty: unknown
  std::size_t line = 0;    ///< from 1; 0: unknown
  std::size_t column = 0;  ///< from 1; 0: unknown

  /// Returns `file:line:column` without the parts that are unknown; empty without a file.
  [[nodiscard]] std::string to_string() const {
    std::string text = file;
    if (!file.empty() && line != 0) {
      text += ':' + std::to_string(line);
      if (column != 0) text += ':' + std::to_string(column);
    }
    return text;
  }
};

/// Base of all exceptions that pace throws. The message names the fault and the expectation.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown for wrong input: a file that cannot be read, a malformed line, an unknown option.
class InputError : public Error {
 public:
  /// The text of the error is `where: message`, or `message` alone if `where` has no file.
  InputError(Location where, const std::string& message)
      : Error(where.file.empty() ? message : where.to_string() + ": " + message), where_(std::move(where)) {}

  /// The place of the error.
  [[nodiscard]] const Location& where() const noexcept { return where_; }

 private:
  Location where_;
};

/// Thrown where the input is well-formed but cannot be run here: not enough memory, no kernel on this device, or not
/// implemented.
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// Thrown where the machine lacks a device that was requested, or cannot use it.
class DeviceMissing : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

/// Thrown where this process cannot use a device any more, since a call or a kernel on it has failed with an error of
/// CUDA that all later calls return, such as an illegal address.
class DeviceLost : public Error {
 public:
  using Error::Error;
};

}  // namespace pace
