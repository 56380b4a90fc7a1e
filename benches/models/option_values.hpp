// The values of the models' bench's options.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "benches/models/settings.hpp"
#include "benches/models/suite.hpp"
#include "pace/args/value.hpp"

namespace pace::benches::models::detail {

/// Parts between commas, added to `to`; `good` says whether a part is one of those expected.
[[nodiscard]] inline args::Value comma_list(std::vector<std::string>& to, std::string placeholder, std::string expected,
                                            std::function<bool(const std::string&)> good = {}) {
  return {std::move(placeholder), std::move(expected),
          [&to, good = std::move(good)](const std::string& text) {
            for (std::size_t begin = 0; begin <= text.size();) {
              const std::size_t end = std::min(text.find(',', begin), text.size());
              to.push_back(text.substr(begin, end - begin));
              if (to.back().empty() || (good && !good(to.back()))) return false;
              begin = end + 1;
            }
            return true;
          },
          ""};
}

/// A finite number that `good` accepts, into a double or an optional one.
template <class To, class Good>
[[nodiscard]] args::Value real(To& to, std::string placeholder, std::string expected, Good good) {
  return {std::move(placeholder), std::move(expected),
          [&to, good](const std::string& text) {
            double& number = args::detail::Target<To>::of(to);
            return args::read_number(text, number) && std::isfinite(number) && good(number);
          },
          args::detail::number_now(to)};
}

[[nodiscard]] inline bool is_mode_of_inductor(const std::string& mode, std::vector<std::string>& config) {
  if (mode == "max-autotune-no-cudagraphs")
    config.insert(config.end(), {"max_autotune=true", "coordinate_descent_tuning=true"});
  return mode == "default" || mode == "max-autotune-no-cudagraphs";
}

/// `key=value` with Python's words as JSON has them.
[[nodiscard]] inline bool is_inductor_option(const std::string& text, std::vector<std::string>& config) {
  const std::size_t sign = text.find('=');
  if (sign == 0 || sign == std::string::npos || sign + 1 == text.size()) return false;
  std::string value = text.substr(sign + 1);
  if (value == "True" || value == "False") value = value == "True" ? "true" : "false";
  if (value == "None") value = "null";
  config.push_back(text.substr(0, sign + 1) + value);
  return true;
}

/// The value of flags that resolve() heeds.
inline const args::Value sets_nothing{};

[[nodiscard]] inline args::Value below(double& to, double limit, std::string placeholder) {
  return real(to, std::move(placeholder), "a number between 0 and " + args::detail::shortest(limit),
              [limit](double number) { return number > 0 && number < limit; });
}

[[nodiscard]] inline args::Value at_most_1(double& to) {
  return real(to, "share", "a number above 0 and at most 1", [](double number) { return number > 0 && number <= 1; });
}

/// A flag that stands for one option of Inductor.
[[nodiscard]] inline args::Value configures(Settings& settings, const char* option) {
  return {"", "",
          [&settings, option](const std::string&) { return settings.inductor_config.emplace_back(option), true; }, ""};
}

[[nodiscard]] inline args::Value suite(std::optional<Suite>& to) {
  return {"torchbench|huggingface|timm|own|all", "torchbench, huggingface, timm, own or all",
          [&to](const std::string& text) {
            to = text == "all" ? std::nullopt : std::optional(suite_of(text));
            return true;
          },
          "all"};
}

[[nodiscard]] inline args::Value devices(std::vector<std::string>& to) {
  return comma_list(to, "cpu|cuda[:N]", "cpu, cuda or cuda:N", [](const std::string& each) {
    static const std::regex device("cpu|cuda(:[0-9]{1,3})?");
    return std::regex_match(each, device);
  });
}

[[nodiscard]] inline args::Value device_indices(std::string& to) {
  return {"number", "a number, or several with commas",
          [&to](const std::string& text) {
            static const std::regex indices(
                "([0-9]{1,3}|(GPU|MIG)-[-0-9a-fA-F/]{1,80})(,([0-9]{1,3}|(GPU|MIG)-[-0-9a-fA-F/]{1,80}))*");
            return std::regex_match(to = text, indices);
          },
          ""};
}

/// The first list replaces the default.
[[nodiscard]] inline args::Value back_ends(std::vector<std::string>& to) {
  return {"a,b", "back ends",
          [&to, first = true](const std::string& text) mutable {
            if (std::exchange(first, false)) to.clear();
            return comma_list(to, "", "").read(text);
          },
          "aot_inductor"};
}

}  // namespace pace::benches::models::detail
