// A strict reader of the XML that tests look at, so that the writer is not its own judge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xml {

struct Element {
  std::string name, text;
  std::map<std::string, std::string> attributes;
  std::vector<Element> children;

  [[nodiscard]] std::vector<const Element*> all(const std::string& child) const {
    std::vector<const Element*> found;
    for (const auto& each : children)
      if (each.name == child) found.push_back(&each);
    return found;
  }
  [[nodiscard]] const Element& only(const std::string& child) const {
    const auto found = all(child);
    if (found.size() != 1) throw std::runtime_error("not exactly one <" + child + "> in <" + name + ">");
    return *found[0];
  }
  /// The value of the `property` of that name.
  [[nodiscard]] std::string property(const std::string& key) const {
    for (const auto* each : only("properties").all("property"))
      if (each->attributes.at("name") == key) return each->attributes.at("value");
    return "";
  }
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  Element document() {
    take("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    blanks();
    Element root = element();
    blanks();
    if (!rest_.empty()) fail("text after the root");
    return root;
  }

 private:
  Element element() {
    Element made;
    take("<");
    made.name = until(" \n/>");
    while (blanks(), rest_.front() != '/' && rest_.front() != '>') {
      const std::string key = until("=");
      take("=\"");
      made.attributes.emplace(key, decoded(until("\"")));
      take("\"");
    }
    if (rest_.front() == '/') return take("/>"), made;
    take(">");
    while (!rest_.starts_with("</")) {
      if (rest_.starts_with("<"))
        made.children.push_back(element());
      else
        made.text += decoded(until("<"));
    }
    take("</" + made.name + ">");
    return made;
  }

  std::string until(std::string_view ends) {
    const auto end = rest_.find_first_of(ends);
    if (end == std::string_view::npos) fail("cut off");
    std::string found(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return found;
  }
  void take(std::string_view expected) {
    if (!rest_.starts_with(expected)) fail("expected " + std::string(expected));
    rest_.remove_prefix(expected.size());
  }
  void blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
    if (rest_.empty()) rest_ = "";
  }
  std::string decoded(const std::string& text) {
    static const std::map<std::string, std::string> entities{{"amp", "&"},   {"lt", "<"},   {"gt", ">"},
                                                             {"quot", "\""}, {"apos", "'"}, {"#10", "\n"},
                                                             {"#13", "\r"},  {"#9", "\t"}};
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (static_cast<unsigned char>(text[i]) < 0x20 && text[i] != '\n') fail("a control character");
      if (text[i] == '<') fail("a bare <");
      if (text[i] != '&') {
        out += text[i];
        continue;
      }
      const auto end = text.find(';', i);
      if (end == std::string::npos || !entities.contains(text.substr(i + 1, end - i - 1))) fail("a bare &");
      out += entities.at(text.substr(i + 1, end - i - 1));
      i = end;
    }
    return out;
  }
  [[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error("XML: " + what + " before: " + std::string(rest_.substr(0, 60)));
  }

  std::string_view rest_;
};

inline Element parse(std::string_view text) { return Reader(text).document(); }

}  // namespace xml
