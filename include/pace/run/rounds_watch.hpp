// RoundsWatch: whether a comparison is in its rounds.
#pragma once

#include <cstddef>
#include <string>

#include "pace/run/progress.hpp"

namespace pace {

/// While it exists, `in_rounds` tells whether the rounds of a comparison run. Displays show what they did before.
class RoundsWatch final : public Progress {
 public:
  /// `in_rounds`: set from now on, until this object ends.
  explicit RoundsWatch(bool& in_rounds) : in_rounds_(in_rounds), before_(progress()) { progress() = this; }
  ~RoundsWatch() override {
    progress() = before_;
    in_rounds_ = false;
  }
  void part(std::size_t number, std::size_t total) override {
    if (before_ != nullptr) before_->part(number, total);
  }
  void subject(const std::string& name) override {
    if (before_ != nullptr) before_->subject(name);
  }
  void step(const Step& step) override {
    in_rounds_ = step.what == "rounds";
    if (before_ != nullptr) before_->step(step);
  }

 private:
  bool& in_rounds_;
  Progress* before_;
};

}  // namespace pace
