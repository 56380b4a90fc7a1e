#include "benches/operators/default_set.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/corpus/corpus.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using pace::benches::operators::Category;
using pace::benches::operators::choose_default_set;
using pace::benches::operators::read_default_set;

/// A file with that text, for as long as this lives.
class SetFile {
 public:
  explicit SetFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("pace_default_set_" + std::to_string(getpid()) + ".txt")) {
    std::ofstream(path_) << text;
  }
  ~SetFile() { std::filesystem::remove(path_); }
  SetFile(const SetFile&) = delete;
  SetFile& operator=(const SetFile&) = delete;
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

const std::string good =
    "# a comment\n"
    "\n"
    "[pointwise]\n"
    "aten.add.Tensor\n"
    "# in place\n"
    "aten.relu_.default first\n"
    "[matmul]\n"
    "aten.mm.default reported\n";

TEST_CASE("a default set is categories of operators, in the file's order") {
  const SetFile file(good);
  const auto categories = read_default_set(file.path());
  REQUIRE(categories.size() == 2);
  CHECK(categories[0].name == "pointwise");
  CHECK(categories[0].operators == std::vector<std::string>{"aten.add.Tensor", "aten.relu_.default"});
  CHECK(categories[1].name == "matmul");
  CHECK(categories[1].operators == std::vector<std::string>{"aten.mm.default"});
  CHECK(categories[0].first == std::vector<std::string>{"aten.relu_.default"});
  CHECK(categories[0].reported.empty());
  CHECK(categories[1].first.empty());
  CHECK(categories[1].reported == std::vector<std::string>{"aten.mm.default"});
}

TEST_CASE("without categories a first run is chosen: its operators, one sample each") {
  const SetFile file(good);
  pace::benches::operators::ReplayOptions options;
  const auto chosen = choose_default_set(options, file.path());
  REQUIRE(chosen.size() == 1);
  CHECK(chosen[0].name == "pointwise");
  CHECK(options.op == "aten.relu_.default");
  CHECK(options.max_samples == 1);
  const SetFile without("[a]\naten.add.Tensor\n");
  CHECK_THROWS_MATCHES(choose_default_set(options, without.path()), pace::InputError,
                       MessageMatches(ContainsSubstring("expected operators with 'first' after them")));
}

TEST_CASE("all of the set is chosen, or the categories that are named") {
  const SetFile file(good);
  pace::benches::operators::ReplayOptions options;
  CHECK(choose_default_set(options, file.path(), {pace::benches::operators::all_categories}).size() == 2);
  CHECK(options.op == "aten.add.Tensor,aten.relu_.default,aten.mm.default");
  CHECK(options.max_samples == pace::benches::operators::shipped_samples);
  CHECK(options.reported == std::set<std::string>{"aten.mm.default"});

  const auto chosen = choose_default_set(options, file.path(), {"matmul"});
  REQUIRE(chosen.size() == 1);
  CHECK(chosen[0].name == "matmul");
  CHECK(options.op == "aten.mm.default");
  CHECK(choose_default_set(options, file.path(), {"matmul", "pointwise"})[0].name == "pointwise");

  CHECK_THROWS_MATCHES(choose_default_set(options, file.path(), {"matmull"}), pace::InputError,
                       MessageMatches(ContainsSubstring("no category 'matmull'") &&
                                      ContainsSubstring("expected all, or some of pointwise, matmul")));
}

TEST_CASE("a file that is no default set is refused, with file and line") {
  const auto refused = [](const std::string& text, std::size_t line, const std::string& why) {
    const SetFile file(text);
    INFO(text);
    try {
      (void)read_default_set(file.path());
      FAIL_CHECK("nothing was thrown");
    } catch (const pace::InputError& error) {
      CHECK(error.where().file == file.path());
      CHECK(error.where().line == line);
      CHECK_THAT(error.what(), ContainsSubstring(why));
    }
  };
  refused("", 0, "found none");
  refused("# nothing\n", 0, "found none");
  refused("aten.add.Tensor\n[pointwise]\n", 1, "above the first operator");
  refused("[a]\n[b]\naten.add.Tensor\n", 1, "expected operators below [a]");
  refused("[a]\naten.add.Tensor\n\n[b]\n", 4, "expected operators below [b]");
  refused("[a]\naten.add.Tensor\n[a]\naten.mm.default\n", 3, "'[a]' is named twice");
  refused("[a]\naten.add.Tensor\n[b]\naten.add.Tensor\n", 4, "'aten.add.Tensor' is named twice");
  for (const std::string heading : {"[", "[]", "[a", "[a] ", "[a b]", "[A]"}) refused(heading + "\n", 1, "in brackets");
  for (const std::string op : {"aten.add", "add", "aten.add.Tensor ", " aten.add.Tensor",
                               "aten.add.Tensor, aten.mm.default", "aten..Tensor", ".add.Tensor", "aten.add."})
    refused("[a]\n" + op + "\n", 2, "expected an operator such as aten.add.Tensor");

  for (const std::string op : {"aten.add.Tensor last", "aten.add.Tensor first reported", "aten.add.Tensor  first"})
    refused("[a]\n" + op + "\n", 2, "with 'first' or 'reported' after it");

  CHECK_THROWS_MATCHES(
      read_default_set("/nowhere/default_set.txt"), pace::InputError,
      MessageMatches(ContainsSubstring("/nowhere/default_set.txt") && ContainsSubstring("cannot be read")));
}

TEST_CASE("the shipped set has four operators or more of every category, all of them recorded") {
  const auto corpus = pace::corpus::Corpus::from_directory(pace::benches::operators::shipped_corpus);
  std::set<std::string> names;
  for (const Category& category : read_default_set(pace::benches::operators::shipped_set)) {
    INFO(category.name);
    names.insert(category.name);
    CHECK(category.operators.size() >= 4);
    for (const auto& op : category.operators) {
      INFO(op);
      CHECK(corpus.find(op) != nullptr);
    }
  }
  pace::benches::operators::ReplayOptions options;
  // A newcomer waits for its packages, 3 s each.
  const auto first_run = choose_default_set(options, pace::benches::operators::shipped_set);
  CHECK(first_run.size() == names.size());  // some of each
  CHECK(std::count(options.op.begin(), options.op.end(), ',') < 12);
  CHECK(options.reported.empty());  // it judges the rows that it shows
  CHECK(names == std::set<std::string>{"attention", "convolution", "indexing", "matmul", "normalisation", "pointwise",
                                       "pooling", "reduction", "softmax"});
}

TEST_CASE("the samples of convolutions that the shipped set takes are of several kinds") {
  const auto corpus = pace::corpus::Corpus::from_directory(pace::benches::operators::shipped_corpus);
  std::string taken;
  for (const char* name : {"aten.convolution.default", "aten.convolution_backward.default"})
    for (std::size_t i = 0; i < pace::benches::operators::shipped_samples; ++i)
      taken += corpus.find(name)->samples.at(i).text;
  CHECK_THAT(taken, ContainsSubstring("False, [0, 0], 16)"));      // depthwise
  CHECK_THAT(taken, ContainsSubstring("[2, 2], False, [0, 0]"));   // dilated
  CHECK_THAT(taken, ContainsSubstring("True, [0, 0], 1, [True"));  // transposed
}

}  // namespace
