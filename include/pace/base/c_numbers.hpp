// CNumbers: printf and strtod with a decimal point, whatever the user's language is.
#pragma once

#include <locale.h>

namespace pace {

/// While an object lives, printf, strtod and their kin write and read numbers in this thread as the C locale does.
/// Other threads and streams of C++ keep their locale. A test, or a library that it calls, may ask for the user's
/// language at any time (`setlocale`), and a file with `0,5` is not read as one with `0.5`. A stream of pace's own is
/// imbued with `std::locale::classic()` instead.
class CNumbers {
 public:
  CNumbers() : before_(::uselocale(classic())) {}
  CNumbers(const CNumbers&) = delete;
  CNumbers& operator=(const CNumbers&) = delete;
  ~CNumbers() { ::uselocale(before_); }

 private:
  // Never freed: destructors of static objects may still write numbers. Without memory for it the locale stays.
  [[nodiscard]] static ::locale_t classic() {
    static const ::locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }

  ::locale_t before_;
};

}  // namespace pace
