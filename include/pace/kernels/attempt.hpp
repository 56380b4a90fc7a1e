// Attempts for one kernel. Their failures must not prevent the measurement of the others.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>

#include "pace/base/error.hpp"
#include "pace/kernels/kernel.hpp"
#include "pace/kernels/knowledge.hpp"
#include "pace/kernels/report.hpp"

namespace pace::kernel {

/// Runs `body()` and returns the message of its exception, in one line; empty if it does not throw. Rethrows
/// DeviceLost, after which no other kernel could be timed.
template <class Body>
[[nodiscard]] std::string failure_of(Body&& body) {
  std::string text;
  try {
    std::forward<Body>(body)();
    return text;
  } catch (const DeviceLost&) {
    throw;
  } catch (const c10::Error& error) {
    text = error.what_without_backtrace();
  } catch (const std::exception& error) {
    text = error.what();
  }
  text = text.substr(0, text.find('\n'));
  return text.empty() ? "it failed without a message" : text;
}

/// As apply_knowledge(); the exception of a provider becomes a note of `report`.
inline std::vector<Build> learn(const std::vector<Provider>& providers, Kernel& kernel, KernelReport& report) {
  std::vector<Build> builds;
  if (const auto failure = failure_of([&] { builds = apply_knowledge(providers, kernel); }); !failure.empty())
    report.notes.push_back(kernel.name + ": its record could not be read: " + failure);
  return builds;
}

}  // namespace pace::kernel
