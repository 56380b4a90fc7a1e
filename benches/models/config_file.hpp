// Config from a YAML file with the sections of torchbench.yaml, and a few of pace's own.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "benches/models/config.hpp"
#include "benches/models/config_sections.hpp"
#include "benches/yaml/yaml_file.hpp"
#include "pace/base/error.hpp"
#include "pace/os/read_file.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::models {

/// Takes a sentence for a person, without a line end.
using Warn = std::function<void(const std::string&)>;

namespace detail {

/// Fills a Config from a document, and complains with the line.
class ConfigReader {
 public:
  ConfigReader(Config& config, std::string file, const std::set<std::string, std::less<>>& models, const Warn& warn)
      : sections_(sections_of(config)), file_(std::move(file)), models_(models), warn_(warn) {}

  void read(const YAML::Node& document) {
    if (document.IsNull()) return;
    if (!document.IsMap()) fail(document, "expected sections such as 'skip', found " + kind_of(document));
    read_sections(document, "");
    if (document.size() > 0 && !any_known_) fail(document, "expected sections such as 'skip', and this file has none");
  }

 private:
  /// Deeper than any that makes sense: an anchor may hold itself.
  static constexpr int deepest = 32;
  /// More than any file of models has. A few lines of anchors that hold each other several times are more than any
  /// machine can read.
  static constexpr std::size_t most_elements = 100'000;

  [[nodiscard]] Location place(const YAML::Node& node) const { return place_of(node, file_); }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& what) const {
    throw InputError(place(node), report::printable(what));
  }
  /// A file may hold escape sequences for the terminal.
  void warn(const YAML::Node& node, const std::string& what) const {
    warn_(report::printable(place(node).to_string() + ": " + what));
  }

  [[nodiscard]] std::string key_of(const YAML::Node& key) const {
    return key.IsScalar() ? key.Scalar() : (fail(key, "expected a name, found " + kind_of(key)), "");
  }

  void read_sections(const YAML::Node& map, const std::string& inside) {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      const std::string name = inside + key_of(entry.first);
      if (!seen.insert(name).second) fail(entry.first, "section '" + name + "' is there twice");
      if (const auto section = sections_.find(name); section != sections_.end()) {
        any_known_ = true;
        std::visit([&](const auto& target) { fill(target, entry.first, entry.second, name); }, section->second);
      } else if (const auto next = sections_.lower_bound(name + '.');
                 next != sections_.end() && next->first.starts_with(name + '.')) {
        any_known_ = true;
        if (entry.second.IsNull()) continue;
        if (!entry.second.IsMap())
          fail(entry.second, "section '" + name + "': expected sections such as '" + next->first + "', found " +
                                 kind_of(entry.second));
        read_sections(entry.second, name + '.');
      } else {
        warn(entry.first, "there is no section '" + name + "'; it is left out");
      }
    }
  }

  void know(const YAML::Node& node, const std::string& model, const std::string& section) {
    if (!models_.contains(model)) warn(node, "section '" + section + "': no model is called '" + model + '\'');
  }

  void fill(Names* names, const YAML::Node&, const YAML::Node& list, const std::string& section) {
    if (!list.IsNull() && !list.IsSequence())
      fail(list, "section '" + section + "': expected a list of models, found " + kind_of(list));
    flatten(list, section, 0, [&](const YAML::Node& node) {
      know(node, node.Scalar(), section);
      names->insert(node.Scalar());
    });
  }
  void fill(const Ignored& ignored, const YAML::Node& key, const YAML::Node& list, const std::string& section) {
    flatten(list, section, 0, [](const YAML::Node&) {});
    if (*ignored.reason != '\0') warn(key, "section '" + section + "' has no effect: " + ignored.reason);
  }

  template <class Take>
  void flatten(const YAML::Node& list, const std::string& section, int depth, const Take& take) {
    if (depth > deepest) fail(list, "section '" + section + "': lists within lists without end");
    if (++elements_ > most_elements)
      fail(list, "section '" + section + "': expected at most " + std::to_string(most_elements) +
                     " elements in all lists, aliases included");
    if (list.IsNull()) return;
    if (list.IsMap()) fail(list, "section '" + section + "': expected a list of models, found a map");
    if (list.IsScalar()) return take(list);
    for (const auto& each : list) flatten(each, section, depth + 1, take);
  }

  void fill(Whole* numbers, const YAML::Node&, const YAML::Node& map, const std::string& section) {
    fill_numbers(*numbers, map, section, "a whole number above 0", [](std::int64_t number) { return number > 0; });
  }
  void fill(Real* numbers, const YAML::Node&, const YAML::Node& map, const std::string& section) {
    fill_numbers(*numbers, map, section, "a number from 0 to 1",
                 [](double number) { return number >= 0 && number <= 1; });
  }
  template <class Number, class Good>
  void fill_numbers(std::map<std::string, Number, std::less<>>& numbers, const YAML::Node& map,
                    const std::string& section, const char* expected, const Good& good) {
    for_each_model(map, section, [&](const YAML::Node& key, const YAML::Node& value) {
      Number number{};
      if (!value.IsScalar() || !YAML::convert<Number>::decode(value, number) || !good(number))
        fail(value,
             "section '" + section + "', '" + key.Scalar() + "': expected " + expected + ", found " + kind_of(value));
      numbers[key.Scalar()] = number;
    });
  }

  template <class Take>
  void for_each_model(const YAML::Node& map, const std::string& section, const Take& take) {
    if (map.IsNull()) return;
    if (!map.IsMap()) fail(map, "section '" + section + "': expected models and what they get, found " + kind_of(map));
    std::set<std::string> seen;
    for (const auto& entry : map) {
      if (!seen.insert(key_of(entry.first)).second)
        fail(entry.first, "section '" + section + "': '" + entry.first.Scalar() + "' is there twice");
      know(entry.first, entry.first.Scalar(), section);
      take(entry.first, entry.second);
    }
  }

  void fill(Expectations* expected, const YAML::Node&, const YAML::Node& map, const std::string& section) {
    for_each_model(map, section, [&](const YAML::Node& model, const YAML::Node& modes) {
      const std::string name = "section 'expected', '" + model.Scalar() + '\'';
      if (!modes.IsMap()) fail(modes, name + ": expected modes such as 'training', found " + kind_of(modes));
      for (const auto& entry : modes) {
        const std::string mode = key_of(entry.first);
        const std::string_view before = std::string_view(mode).substr(0, mode.find('/'));
        static const std::set<std::string_view> precisions{"float32", "float16", "bfloat16", "amp"};
        const bool known = before == "training" || before == "inference";
        if (!known ||
            (before.size() < mode.size() && !precisions.contains(std::string_view(mode).substr(before.size() + 1))))
          fail(entry.first, name +
                                ": expected training or inference, or one of them with a precision, such as "
                                "training/amp; found '" +
                                mode + '\'');
        const YAML::Node status = entry.second.IsMap() ? entry.second["status"] : YAML::Node();
        const YAML::Node reason = entry.second.IsMap() ? entry.second["reason"] : YAML::Node();
        const YAML::Node backend = entry.second.IsMap() ? entry.second["backend"] : YAML::Node();
        if (!status || !status.IsScalar() || !reason || !reason.IsScalar() || (backend && !backend.IsScalar()))
          fail(entry.second, name + ", '" + mode + "': expected {status: ..., reason: ...}, and perhaps a backend");
        (*expected)[model.Scalar()][mode] = {status.Scalar(), reason.Scalar(), backend ? backend.Scalar() : ""};
      }
    });
  }

  std::map<std::string, Target, std::less<>> sections_;
  std::string file_;
  const std::set<std::string, std::less<>>& models_;
  const Warn& warn_;
  /// The elements of all lists so far.
  std::size_t elements_ = 0;
  bool any_known_ = false;
};

}  // namespace detail

/// The settings of a YAML text. Lists in lists are flattened, so that anchors can stand in them; a section without
/// anything is an empty one. Unknown sections and models are warned about by their names and lines. Throws InputError
/// with `file` and the line.
[[nodiscard]] inline Config parse_config(const std::string& text, const std::string& file,
                                         const std::set<std::string, std::less<>>& models, const Warn& warn) {
  Config config;
  try {
    detail::ConfigReader(config, file, models, warn).read(parse_yaml(text, file));
  } catch (const YAML::Exception& error) {
    throw InputError({file}, "expected YAML: " + error.msg);
  }
  config.slow.insert(config.very_slow.begin(), config.very_slow.end());
  return config;
}

}  // namespace pace::benches::models
