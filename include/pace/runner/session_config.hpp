// What a measuring program may add to the common main function.
#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <string>

#include "pace/args/command_line.hpp"
#include "pace/core/options.hpp"
#include "pace/report/configuration.hpp"
#include "pace/runner/session_options.hpp"
#include "pace/timing/wall.hpp"

namespace pace::runner {

/// What a program adds to the common main function.
struct SessionConfig {
  /// Defaults of every comparison; the command line goes over them.
  Options options;
  /// The program's own options, which stand before pace's in the help.
  args::Groups own_options = {};
  /// Options may be written as `--seqLength`, too.
  bool camel_case = false;
  /// Runs between the parsing and the tests, and may complete the options. An Error that it throws ends the program with
  /// its message.
  std::function<void(SessionOptions&)> after_parse;
  /// Runs before the first test and before any file is opened for results, where there will be tests; takes in what the
  /// options name. An Error that it throws ends the program with its message. What it prints while tests run goes to the
  /// streams, which show it at once: Catch2 keeps what goes to std::cout until a test has ended.
  std::function<void(std::ostream& out, std::ostream& errors)> prepare;
  /// What was wrong with the inputs, although it stopped nothing; empty: nothing. Asked for after the tests, and fails the
  /// program.
  std::function<std::string()> complaint;
  /// Tests run in a process of their own; an implementation that ends it, by a crash or by not coming back, becomes a
  /// row, and a fresh process goes on. Command line: --isolation.
  bool isolated = false;
  /// The time by which a call that does not come back has hung. Tests have a clock of their own.
  std::function<Nanoseconds()> now = [] { return timing::WallClock().now(); };
  /// What, beside pace's own options, must be equal for --resume to go on from an earlier run's file. Asked for after
  /// `after_parse`. None: the program's runs cannot be resumed.
  std::function<report::Configuration()> configuration;
  /// Added to the environment in result files.
  std::map<std::string, std::string> environment;
};

}  // namespace pace::runner
