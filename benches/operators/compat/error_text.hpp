// An exception as Python would print it.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include <c10/util/Exception.h>

#include "pace/base/error.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::operators::compat {

namespace detail {

/// The class of LibTorch's errors in Python.
[[nodiscard]] inline std::string python_class(const c10::Error& error) {
  const auto is = [&]<class E>() { return dynamic_cast<const E*>(&error) != nullptr; };
  if (is.template operator()<c10::NotImplementedError>()) return "NotImplementedError";
  if (is.template operator()<c10::IndexError>()) return "IndexError";
  if (is.template operator()<c10::ValueError>()) return "ValueError";
  if (is.template operator()<c10::TypeError>()) return "TypeError";
  if (is.template operator()<c10::OutOfMemoryError>()) return "OutOfMemoryError";
  return "RuntimeError";
}

[[nodiscard]] inline std::pair<std::string, std::string> class_and_message(const std::exception& error) {
  if (const auto* torch = dynamic_cast<const c10::Error*>(&error))
    return {detail::python_class(*torch), torch->what_without_backtrace()};
  if (dynamic_cast<const Unsupported*>(&error) != nullptr) return {"Unsupported", error.what()};
  if (dynamic_cast<const InputError*>(&error) != nullptr) return {"InputError", error.what()};
  if (dynamic_cast<const Error*>(&error) != nullptr) return {"Error", error.what()};
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return {"MemoryError", error.what()};
  return {"RuntimeError", error.what()};
}

}  // namespace detail

/// Class and message, the latter fit for a terminal. LibTorch's errors have the class that they have in Python, and no
/// backtrace; pace's their own; all others are a RuntimeError.
[[nodiscard]] inline std::pair<std::string, std::string> describe(const std::exception& error) {
  auto [type, message] = detail::class_and_message(error);
  return {std::move(type), report::printable_lines(message)};
}

}  // namespace pace::benches::operators::compat
