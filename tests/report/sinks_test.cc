// Files that cannot be written, and sinks that fail while others go on.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <vector>

#include "pace/report/fan_out.hpp"
#include "pace/report/output_file.hpp"
#include "tests/report/sample_results.hpp"
#include "tests/report/temporary_file.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using pace::report::OutputFile;

TEST_CASE("a file that cannot be opened is named with the system's reason") {
  CHECK_THROWS_MATCHES(OutputFile("/nonexistent/results.csv"), pace::Error,
                       Message("cannot open '/nonexistent/results.csv': No such file or directory"));
  CHECK_THROWS_MATCHES(OutputFile("/"), pace::Error, Message("cannot open '/': Is a directory"));
}

TEST_CASE("a full disk is an error at the write, not a silence") {
  OutputFile file("/dev/full");
  CHECK_THROWS_MATCHES(file.append("x"), pace::Error, Message("cannot write '/dev/full': No space left on device"));
  CHECK_THROWS_MATCHES(file.replace_tail("", "x"), pace::Error,
                       Message("cannot write '/dev/full': No space left on device"));
}

TEST_CASE("what cannot be rewritten in place says what was expected instead") {
  const TemporaryFile placeholder;
  const std::string pipe = placeholder.path() + ".pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  {
    OutputFile file(pipe);
    CHECK_THROWS_WITH(file.replace_tail("", "x"), ContainsSubstring("a regular file was expected"));
  }
  ::close(reader);
  std::filesystem::remove(pipe);
}

TEST_CASE("opening empties a file; append and replace_tail do what they say") {
  const TemporaryFile temporary;
  OutputFile(temporary.path()).append("old content that is longer");
  OutputFile file(temporary.path());
  CHECK(temporary.content().empty());
  file.append("abc");
  file.append("]}");
  file.replace_tail("]}", ",def]}");
  CHECK(temporary.content() == "abc,def]}");
  file.close();
  CHECK(temporary.content() == "abc,def]}");
}

TEST_CASE("an append that does not fit is taken back whole") {
  const TemporaryFile temporary;
  OutputFile file(temporary.path());
  file.append("first row\n");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const rlimit limit{15, old_limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  bool threw = false;
  try {
    file.append("second row\n");
  } catch (const pace::Error&) {
    threw = true;
  }
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  CHECK(threw);
  CHECK(temporary.content() == "first row\n");
  file.append("third row\n");
  CHECK(temporary.content() == "first row\nthird row\n");
}

namespace {

struct Recorder final : pace::report::Sink {
  explicit Recorder(std::vector<std::string>& names) : names_(names) {}
  void write(const pace::Result& result) override { names_.push_back(result.name); }
  void finish() override { names_.emplace_back("finish"); }
  std::vector<std::string>& names_;
};

struct Failing final : pace::report::Sink {
  explicit Failing(int& calls) : calls_(calls) {}
  void write(const pace::Result&) override {
    ++calls_;
    throw pace::Error("disk full");
  }
  void finish() override { ++calls_; }
  int& calls_;
};

struct FailingAtLast final : pace::report::Sink {
  void write(const pace::Result&) override {}
  void finish() override { throw 42; }
};

}  // namespace

TEST_CASE("a sink that fails is told of once, and keeps nothing from the others") {
  std::vector<std::string> complaints, names;
  int calls = 0;
  pace::report::FanOut sinks([&](const std::string& message) { complaints.push_back(message); });
  sinks.add(std::make_unique<Failing>(calls));
  sinks.add(std::make_unique<Recorder>(names));
  sinks.add(std::make_unique<FailingAtLast>());
  sinks.write(sample::comparison("a"));
  sinks.write(sample::comparison("b"));
  CHECK(sinks.failures() == 1);
  sinks.finish();
  CHECK(names == std::vector<std::string>{"a", "b", "finish"});
  CHECK(calls == 1);
  CHECK(sinks.failures() == 2);
  REQUIRE(complaints.size() == 2);
  CHECK(complaints[0] == "disk full");
}
