// The self-test's own options, beside pace's and Catch2's.
#include <cstddef>
#include <ostream>
#include <string>

#include "benches/selftest/settings.hpp"
#include "pace/runner/session.hpp"

namespace {

namespace args = pace::args;

/// A number that asks for more than the short form.
args::Value long_form(std::size_t& number, std::size_t least, std::size_t most) {
  args::Value value = args::whole(number, least, most);
  value.read = [read = value.read](const std::string& text) {
    pace::benches::selftest::settings().long_form = true;
    return read(text);
  };
  return value;
}

args::Groups own_options() {
  auto& settings = pace::benches::selftest::settings();
  return {{"Self-test",
           {{"--gates", "A/A gates, and gates of twins; power takes a tenth a line, two at least",
             long_form(settings.gates, 1, 10'000'000)},
            {"--bias-processes", "processes that measure placement", long_form(settings.processes, 3, 1000)},
            {"--log", "write one line of CSV per A/A gate, as it ends", args::file(settings.log)}}}};
}

}  // namespace

int main(int argc, char** argv) {
  pace::runner::SessionConfig config;
  config.own_options = own_options();
  config.prepare = [](std::ostream&, std::ostream&) { pace::benches::selftest::open_log(); };
  return pace::runner::main(argc, argv, config);
}
