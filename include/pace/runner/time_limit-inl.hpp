// Definitions of time_limit.hpp; see base/config.hpp.
#pragma once

#include "pace/runner/time_limit.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "pace/base/c_numbers.hpp"
#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/os/bazel.hpp"

namespace pace::runner {

PACE_INLINE Nanoseconds process_age(const std::string& root, const std::string& process) {
  std::ifstream file(root + "/proc/" + process + "/stat");
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  // The second field is the program's name in parentheses, which may hold blanks and parentheses.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  constexpr int start_time = 22;
  for (int number = 3; number <= start_time; ++number) fields >> field;
  timespec now{};
  const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (!fields || !(per_second > 0) || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return {};
  const CNumbers c_numbers;
  const double start = std::strtod(field.c_str(), nullptr) / per_second;
  return std::chrono::duration<double>(
      std::max(0.0, static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) - start));
}

PACE_INLINE std::optional<RunContext::Deadline> deadline_of(Nanoseconds limit, Nanoseconds now, Nanoseconds age) {
  const std::string text = environment_variable("TEST_TIMEOUT");
  std::optional<RunContext::Deadline> deadline;
  if (!text.empty()) {
    char* end = nullptr;
    const CNumbers c_numbers;
    const double seconds = std::strtod(text.c_str(), &end);
    if (*end != '\0' || !(seconds > 0) || !std::isfinite(seconds))
      throw InputError({}, "TEST_TIMEOUT: invalid value '" + text + "'; expected a number of seconds above 0");
    const Nanoseconds timeout = std::chrono::duration<double>(seconds);
    deadline = {
        now - age + share_of_timeout * timeout,
        "measuring ends after " + format_percent(share_of_timeout) + " of the " + format_time(timeout) +
            " that this test may take (TEST_TIMEOUT); try: a larger size or timeout of the test, more shards, or a "
            "smaller --budget"};
  }
  const Nanoseconds own = now - age + limit;
  if (std::isfinite(limit.count()) && (!deadline || own < deadline->time))
    deadline = {own,
                "measuring ends " + format_time(limit) + " after the start (--time-limit); try: a longer --time-limit"};
  return deadline;
}

}  // namespace pace::runner
