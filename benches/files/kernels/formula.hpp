// Formulas of sizes, such as `ceil_div(n, 1024) * size(x, 0)`: numbers, names, operators and a few functions.
#pragma once

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"

namespace pace::benches::loaders {

/// A value of a formula. Whole numbers are exact.
struct Number {
  bool is_whole = true;
  std::int64_t whole = 0;
  double real = 0;

  [[nodiscard]] static Number of(std::int64_t value) { return {true, value, static_cast<double>(value)}; }
  [[nodiscard]] static Number of(double value) { return {false, 0, value}; }
  [[nodiscard]] std::string text() const { return is_whole ? std::to_string(whole) : std::to_string(real); }
};

/// The facts of a tensor that a formula may use.
struct Extent {
  std::vector<std::int64_t> sizes, strides;
};

/// The values of names. Tensors are also known by their positions: `size(0, 1)`.
struct Scope {
  std::map<std::string, Number> numbers;
  std::map<std::string, Extent> tensors;
};

/// A formula that was read: `+ - * / // %`, brackets, `ceil_div`, `round_up`, `min`, `max`, `next_power_of_2`, and of
/// tensors `numel(x)`, `size(x, 0)` and `stride(x, 0)`.
class Formula {
 public:
  /// Throws Error with the found and the expected text.
  explicit Formula(std::string text) : text_(std::move(text)) {
    // Its depth is bounded by its length.
    if (text_.size() > 500)
      throw Error("expected a formula of at most 500 characters, found " + std::to_string(text_.size()));
    skip_spaces();
    root_ = read_sum();
    if (at_ < text_.size()) refuse("expected an operator");
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Whether it is a name alone.
  [[nodiscard]] bool is_name() const { return root_.kind == Node::Kind::name; }

  /// Throws Error for a name that is not in `scope`, and for arithmetic that has no result.
  [[nodiscard]] Number value(const Scope& scope) const { return value_of(root_, scope); }
  /// As value(), but throws unless it is a whole number.
  [[nodiscard]] std::int64_t whole(const Scope& scope) const {
    const Number number = value(scope);
    if (number.is_whole) return number.whole;
    // 2^53: whole numbers up to here are exact.
    if (number.real != std::floor(number.real) || std::abs(number.real) > 9007199254740992.0)
      throw Error("expected a whole number, found " + number.text());
    return static_cast<std::int64_t>(number.real);
  }

 private:
  struct Node {
    enum class Kind { number, name, call } kind = Kind::number;
    Number number = {};
    std::string name = {};  ///< of a size, an operator or a function
    std::vector<Node> arguments = {};
  };

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(what + ", found " + (at_ < text_.size() ? '\'' + text_.substr(at_) + '\'' : "the end"));
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  [[nodiscard]] bool takes(std::string_view token) {
    if (!std::string_view(text_).substr(at_).starts_with(token)) return false;
    at_ += token.size();
    skip_spaces();
    return true;
  }

  [[nodiscard]] Node read_sum() {
    Node left = read_product();
    while (true) {
      const char* const name = takes("+") ? "+" : takes("-") ? "-" : nullptr;
      if (name == nullptr) return left;
      left = call(name, std::move(left), read_product());
    }
  }
  [[nodiscard]] Node read_product() {
    Node left = read_factor();
    while (true) {
      const char* const name = takes("*") ? "*" : takes("//") ? "//" : takes("/") ? "/" : takes("%") ? "%" : nullptr;
      if (name == nullptr) return left;
      left = call(name, std::move(left), read_factor());
    }
  }
  [[nodiscard]] static Node call(const char* name, Node left, Node right) {
    Node node{.kind = Node::Kind::call, .name = name};
    node.arguments.push_back(std::move(left));
    node.arguments.push_back(std::move(right));
    return node;
  }
  [[nodiscard]] Node read_factor() {
    if (takes("-")) return call("-", Node{}, read_factor());
    if (takes("(")) {
      Node inner = read_sum();
      if (!takes(")")) refuse("expected ')'");
      return inner;
    }
    if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
      return read_number();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    if (begin == at_) refuse("expected a number, a name or a bracket");
    Node node{.kind = Node::Kind::name, .name = text_.substr(begin, at_ - begin)};
    skip_spaces();
    if (takes("(")) read_arguments(node);
    return node;
  }
  [[nodiscard]] Node read_number() {
    const char *const begin = text_.data() + at_, *const end = text_.data() + text_.size();
    double real = 0;
    const auto [stop, problem] = std::from_chars(begin, end, real);
    if (problem != std::errc()) refuse("expected a number");
    std::int64_t whole = 0;
    const auto [whole_stop, whole_problem] = std::from_chars(begin, stop, whole);
    Node node;
    node.number = whole_problem == std::errc() && whole_stop == stop ? Number::of(whole) : Number::of(real);
    at_ += static_cast<std::size_t>(stop - begin);
    skip_spaces();
    return node;
  }
  void read_arguments(Node& node) {
    static const std::map<std::string, std::size_t, std::less<>> functions = {
        {"ceil_div", 2},        {"round_up", 2}, {"min", 2},  {"max", 2},
        {"next_power_of_2", 1}, {"numel", 1},    {"size", 2}, {"stride", 2}};
    node.kind = Node::Kind::call;
    const auto known = functions.find(node.name);
    if (known == functions.end()) {
      std::string all;
      for (const auto& [name, count] : functions) all += (all.empty() ? "" : ", ") + name;
      throw Error("there is no function '" + node.name + "'; expected one of " + all);
    }
    do node.arguments.push_back(read_sum());
    while (takes(","));
    if (!takes(")")) refuse("expected ')' or ','");
    if (node.arguments.size() != known->second)
      throw Error(node.name + ": expected " + std::to_string(known->second) + " arguments, found " +
                  std::to_string(node.arguments.size()));
  }

  [[nodiscard]] static std::string names_of(const auto& map) {
    std::string all;
    for (const auto& [name, value] : map) all += (all.empty() ? "" : ", ") + name;
    return all.empty() ? "none" : all;
  }

  [[nodiscard]] static Number value_of(const Node& node, const Scope& scope) {
    if (node.kind == Node::Kind::number) return node.number;
    if (node.kind == Node::Kind::name) {
      const auto found = scope.numbers.find(node.name);
      if (found == scope.numbers.end())
        throw Error("there is no size '" + node.name + "'; expected one of: " + names_of(scope.numbers));
      return found->second;
    }
    if (node.name == "numel" || node.name == "size" || node.name == "stride") return of_tensor(node, scope);
    const Number left = value_of(node.arguments[0], scope);
    return node.arguments.size() == 1 ? Number::of(next_power_of_2(left))
                                      : combined(node.name, left, value_of(node.arguments[1], scope));
  }

  [[nodiscard]] static Number of_tensor(const Node& node, const Scope& scope) {
    const Node& first = node.arguments[0];
    const std::string name = first.kind == Node::Kind::name     ? first.name
                             : first.kind == Node::Kind::number ? first.number.text()
                                                                : "";
    const auto found = scope.tensors.find(name);
    if (found == scope.tensors.end())
      throw Error(node.name + ": there is no tensor '" + name +
                  "' among the inputs; expected one of: " + names_of(scope.tensors));
    const Extent& extent = found->second;
    if (node.name == "numel") {
      std::int64_t elements = 1;
      for (const auto size : extent.sizes) elements *= size;
      return Number::of(elements);
    }
    const Number wanted = value_of(node.arguments[1], scope);
    const auto rank = static_cast<std::int64_t>(extent.sizes.size());
    const std::int64_t dimension = wanted.whole < 0 ? wanted.whole + rank : wanted.whole;
    if (!wanted.is_whole || dimension < 0 || dimension >= rank)
      throw Error(node.name + ": '" + name + "' has no dimension " + wanted.text() + "; it has " +
                  std::to_string(rank));
    return Number::of((node.name == "size" ? extent.sizes : extent.strides)[static_cast<std::size_t>(dimension)]);
  }

  [[nodiscard]] static std::int64_t next_power_of_2(const Number& number) {
    if (!number.is_whole || number.whole > std::int64_t{1} << 62)
      throw Error("next_power_of_2: expected a whole number up to 2^62, found " + number.text());
    std::int64_t power = 1;
    while (power < number.whole) power *= 2;
    return power;
  }

  /// Holds every result of two whole numbers of 64 bits.
  __extension__ typedef __int128 Wide;

  /// Division that rounds down, as Python's.
  [[nodiscard]] static Wide floor_div(Wide left, Wide right) {
    const Wide quotient = left / right;
    return left % right != 0 && (left < 0) != (right < 0) ? quotient - 1 : quotient;
  }

  [[nodiscard]] static Number combined(const std::string& name, const Number& left, const Number& right) {
    const bool whole = left.is_whole && right.is_whole;
    if (name == "min" || name == "max") {
      const bool is_less = whole ? right.whole < left.whole : right.real < left.real;
      const bool is_more = whole ? right.whole > left.whole : right.real > left.real;
      // The first of two that are equal, as in Python: one may be whole and the other not.
      return (name == "min" ? is_less : is_more) ? right : left;
    }
    const bool is_division = name != "+" && name != "-" && name != "*";
    if (is_division && right.real == 0) throw Error(left.text() + ' ' + name + " 0: a division by zero");
    if (!whole) return combined_reals(name, left, right);
    const Wide a = left.whole, b = right.whole;
    if (name == "/" && a % b != 0) return Number::of(left.real / right.real);
    // ceil_div, and round_up, which is a multiple.
    const Wide parts = is_division ? -floor_div(-a, b) : 0;
    const Wide result = name == "+"          ? a + b
                        : name == "-"        ? a - b
                        : name == "*"        ? a * b
                        : name == "/"        ? a / b
                        : name == "//"       ? floor_div(a, b)
                        : name == "%"        ? a - floor_div(a, b) * b
                        : name == "ceil_div" ? parts
                                             : parts * b;
    const auto narrow = static_cast<std::int64_t>(result);
    if (narrow != result) throw Error(left.text() + ' ' + name + ' ' + right.text() + ": expected less than 2^63");
    return Number::of(narrow);
  }
  [[nodiscard]] static Number combined_reals(const std::string& name, const Number& left, const Number& right) {
    if (name == "+") return Number::of(left.real + right.real);
    if (name == "-") return Number::of(left.real - right.real);
    if (name == "*") return Number::of(left.real * right.real);
    if (name == "/") return Number::of(left.real / right.real);
    throw Error(name + ": expected whole numbers, found " + left.text() + " and " + right.text());
  }

  std::string text_;
  std::size_t at_ = 0;
  Node root_;
};

}  // namespace pace::benches::loaders
