// Definitions of progress_line.hpp; see base/config.hpp.
#pragma once

#include "pace/report/progress_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "pace/os/terminal.hpp"
#include "pace/report/program_output.hpp"
#include "pace/report/text.hpp"

namespace pace::report {

PACE_INLINE std::string rough_duration(Nanoseconds time) {
  const auto seconds = static_cast<std::int64_t>(std::llround(std::max(0.0, time.count()) * 1e-9));
  if (seconds < 60) return std::to_string(seconds) + " s";
  const std::int64_t minutes = (seconds + 30) / 60;
  if (minutes < 60) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

PACE_INLINE ProgressLine::ProgressLine(ProgressDisplay display, std::string parts_of)
    : display_(std::move(display)),
      parts_of_(std::move(parts_of)),
      process_(::getpid()),
      start_(display_.now()),
      shown_at_(display_.rewrites ? Nanoseconds(-std::numeric_limits<double>::infinity()) : start_),
      part_began_(start_) {}

PACE_INLINE void ProgressLine::part(std::size_t number, std::size_t total) {
  part_began_ = display_.now();
  if (number_ == 0) first_ = number, start_ = part_began_;
  number_ = number;
  total_ = total;
}

PACE_INLINE void ProgressLine::go_on(std::size_t number, std::size_t total, std::size_t before, Nanoseconds so_far) {
  part(number, total);
  first_ = number - std::min(number, before);
  start_ = part_began_ - so_far;
}

PACE_INLINE void ProgressLine::subject(const std::string& name) {
  subject_ = printable(name);
  step_ = {};
}

PACE_INLINE void ProgressLine::step(const Step& step) {
  // The step before it has ended: its share must not stay on the screen while this one takes minutes, such as a
  // compiler.
  const bool ends_another = is_shown_ && step.what != step_.what;
  step_ = step;
  show(ends_another);
}

PACE_INLINE Nanoseconds ProgressLine::left() const {
  const Nanoseconds unknown(std::numeric_limits<double>::infinity());
  if (total_ == 0) return step_.left;
  const Nanoseconds now = display_.now();
  // Nothing is known of the parts to come before one of them is done.
  if (number_ <= first_) return number_ == total_ ? step_.left : unknown;
  const Nanoseconds each = (part_began_ - start_) / static_cast<double>(number_ - first_);
  const Nanoseconds of_this = std::max(Nanoseconds(0), each - (now - part_began_));
  return each * static_cast<double>(total_ - std::min(number_, total_)) + of_this;
}

PACE_INLINE std::string ProgressLine::text(std::size_t width) const {
  std::string before, after = step_.what;
  if (total_ > 0) before = '[' + std::to_string(number_) + '/' + std::to_string(total_) + ' ' + parts_of_ + "] ";
  // A step ends when the next one begins, and until then neither 100 % nor 0 s would be true.
  if (step_.share >= 0) after += ' ' + std::to_string(std::min(99L, std::lround(100 * step_.share))) + " %";
  if (const Nanoseconds time = left(); std::isfinite(time.count()) && time >= std::chrono::milliseconds(500))
    after += ", about " + rough_duration(time) + " left";
  if (subject_.empty()) return shortened(before + after, width);
  const std::size_t taken = display_width(before) + display_width(after) + 2;
  constexpr std::size_t least = 8;
  if (taken + least > width) return shortened(before + subject_ + ": " + after, width);
  return before + shortened(subject_, width - taken) + ": " + after;
}

PACE_INLINE void ProgressLine::show(bool at_once) {
  // Other processes that were forked from this one, such as the untouched one, share the terminal.
  if (::getpid() != process_) return;
  // Other threads may print meanwhile, which clears the line.
  const std::lock_guard lock(output_place().mutex);
  const Nanoseconds now = display_.now();
  const bool due = now - shown_at_ >= (display_.rewrites ? rewritten_every : plain_every);
  if (!due && !(at_once && display_.rewrites)) return;
  if (!display_.rewrites) {
    // It would otherwise stand behind other text.
    if (display_.column() > 0) return;
    shown_at_ = now;
    display_.write("pace: " + text(width_without_terminal - 6) + '\n');
    return;
  }
  const std::size_t column = display_.column(), width = display_.width();
  constexpr std::size_t least = 30;
  if (column + least > width) return;
  shown_at_ = now;
  // A line in the last column would be continued in the next row, and could not be cleared.
  std::string line = text(width - column - 2);
  std::string sequence;
  if (column == 0)
    sequence = "\r\033[K";
  else
    sequence = is_shown_ ? "\0338\033[K " : "\0337 ";
  display_.write(sequence + "\033[2m" + line + "\033[0m");
  is_shown_ = true;
  is_behind_text_ = column > 0;
}

PACE_INLINE void ProgressLine::clear() {
  if (::getpid() != process_) return;
  const std::lock_guard lock(output_place().mutex);
  if (!is_shown_) return;
  is_shown_ = false;
  // Behind other text, the cursor goes back to its end.
  display_.write(is_behind_text_ ? "\0338\033[K" : "\r\033[K");
  // It comes again with the next step, whenever that is.
  shown_at_ = Nanoseconds(-std::numeric_limits<double>::infinity());
}

PACE_INLINE ProgressDisplay display_on_stderr() {
  ProgressDisplay display;
  display.rewrites = may_rewrite_lines(STDERR_FILENO);
  display.write = [](const std::string& text) {
    // The line holds printable text and pace's own sequences, which std::cerr would spell out.
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto written = ::write(STDERR_FILENO, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  };
  display.width = [] { return columns_of(STDERR_FILENO); };
  display.column = [] { return output_place().column; };
  display.now = [] { return Nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); };
  return display;
}

PACE_INLINE ClearsLeftLine::ClearsLeftLine(bool shows_progress) {
  if (!shows_progress || !may_rewrite_lines(STDERR_FILENO)) return;
  clear_before_text([] {
    // Behind text of this process there is no line of another one.
    if (output_place().column == 0) display_on_stderr().write("\r\033[K");
  });
}

PACE_INLINE ClearsLeftLine::~ClearsLeftLine() { clear_before_text(nullptr); }

PACE_INLINE ShownProgress::ShownProgress(std::string parts_of) : line_(display_on_stderr(), std::move(parts_of)) {
  progress() = &line_;
  clear_before_text([this] { line_.clear(); });
}

PACE_INLINE ShownProgress::~ShownProgress() {
  progress() = nullptr;
  clear_before_text(nullptr);
}

}  // namespace pace::report
