// Parts that a measuring program may add to the common main function.
#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "pace/args/command_line.hpp"
#include "pace/report/configuration.hpp"
#include "pace/result/options.hpp"
#include "pace/runner/session_options.hpp"
#include "pace/timing/wall.hpp"

namespace pace::runner {

/// Parts that a program adds to the common main function.
struct SessionConfig {
  /// Defaults of every comparison; options of the command line replace them.
  Options options;
  /// The program's own options, which stand before pace's in the help.
  args::Groups own_options = {};
  /// Names of pace's options that the program's own options of the same names replace.
  std::vector<std::string> replaced = {};
  /// Accepts `--seqLength` for `--seq-length`.
  bool camel_case = false;
  /// Runs between the parsing and the tests, and may complete the options. An Error that it throws ends the program
  /// with its message.
  std::function<void(SessionOptions&)> after_parse;
  /// Runs before the first test and before any file is opened for results, if there will be tests; reads the inputs
  /// that the options name. An Error that it throws ends the program with its message. The streams show text at once,
  /// also while tests run: Catch2 keeps text for std::cout until a test has ended.
  std::function<void(std::ostream& out, std::ostream& errors)> prepare;
  /// Returns a fault of the inputs that stopped no test; empty: there was none. It is called after the tests, and a
  /// fault makes the program fail.
  std::function<std::string()> complaint;
  /// Runs the tests in a process of their own. An implementation that crashes or hangs becomes a row, and a fresh
  /// process goes on. The option --isolation replaces this value.
  bool isolated = false;
  /// The clock of the call timeout, after which a call counts as hung; tests replace it.
  std::function<Nanoseconds()> now = [] { return timing::WallClock().now(); };
  /// Returns the facts that must be equal, beside the options, for --resume to continue from an earlier run's file,
  /// such as the content of files. An entry with the name of one of `own_options` takes the place of its given value.
  /// It is called after `after_parse`. None: the program's runs cannot be resumed.
  std::function<report::Configuration()> configuration;
  /// Prints the names of the measurements, one a line, for --list. It is called after `prepare`. None: the names of the
  /// test cases are printed. With it, failures name these cases, and no place in the program's code, which its user did
  /// not write.
  std::function<void(std::ostream& out)> list;
  /// The word for the parts of the run that the program itself reports (Progress::part), in the plural, such as
  /// `samples`; empty: the test cases are the parts.
  std::string progress_parts = {};
  /// Options of the program that a command to repeat one case leaves out.
  std::vector<std::string> not_repeated = {};
  /// Entries that are added to the environment in results files.
  std::map<std::string, std::string> environment;
};

}  // namespace pace::runner
