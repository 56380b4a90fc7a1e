// The self-test's own options, beside pace's and Catch2's.
#include "benches/selftest/settings.hpp"
#include "pace/runner/compiled_main.hpp"

namespace {

Catch::Clara::Parser with_settings(Catch::Clara::Parser parser) {
  using pace::runner::detail::option;
  auto& settings = pace::benches::selftest::settings();
  const auto count = [&settings](const std::string& text, std::size_t& number, std::size_t least, std::size_t most) {
    settings.long_form = true;
    return pace::runner::read_between(text, number, least, most);
  };
  parser |=
      option("--gates", "number", "selftest: A/A gates; power takes a tenth a line, two at least (defaults to 200)",
             "a whole number from 1 to 10000000",
             [&settings, count](const std::string& text) { return count(text, settings.gates, 1, 10'000'000); });
  parser |= option("--bias-processes", "number", "selftest: processes that measure placement (defaults to 4)",
                   "a whole number from 3 to 1000",
                   [&settings, count](const std::string& text) { return count(text, settings.processes, 3, 1000); });
  parser |= option("--log", "file", "selftest: write one line of CSV per A/A gate, as it ends", "a file name",
                   [&settings](const std::string& text) { return settings.log = text, !text.empty(); });
  return parser;
}

}  // namespace

int main(int argc, char** argv) {
  pace::runner::SessionConfig config;
  config.extend_cli = with_settings;
  config.prepare = [](std::ostream&, std::ostream&) { pace::benches::selftest::open_log(); };
  return pace::runner::compiled_main(argc, argv, config);
}
