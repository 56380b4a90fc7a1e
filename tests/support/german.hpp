// Numbers as German writes them, 1.234,5, for tests of files that must not have them so.
#pragma once

#include <clocale>
#include <locale>
#include <string>

namespace german {

/// Streams that are made while an object lives write German numbers; the machine need not have German.
class Streams {
 public:
  Streams() : before_(std::locale::global(std::locale(std::locale::classic(), new CommaAndDots))) {}
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() { std::locale::global(before_); }

 private:
  class CommaAndDots : public std::numpunct<char> {
   protected:
    [[nodiscard]] char do_decimal_point() const override { return ','; }
    [[nodiscard]] char do_thousands_sep() const override { return '.'; }
    [[nodiscard]] std::string do_grouping() const override { return "\3"; }
  };

  std::locale before_;
};

/// printf and strtod have a decimal comma while an object lives, where the machine has a language with one.
class C {
 public:
  C() {
    for (const char* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "es_ES.UTF-8", "ru_RU.UTF-8", "pt_BR.UTF-8"})
      if (std::setlocale(LC_NUMERIC, name) != nullptr && *std::localeconv()->decimal_point == ',') return;
    installed_ = false;
  }
  C(const C&) = delete;
  C& operator=(const C&) = delete;
  ~C() { std::setlocale(LC_NUMERIC, "C"); }
  /// Returns whether there is such a language.
  [[nodiscard]] bool installed() const { return installed_; }

 private:
  bool installed_ = true;
};

}  // namespace german
