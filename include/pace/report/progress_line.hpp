// ProgressLine: what a run does now and how long it still takes, in one line of a terminal that is rewritten in place,
// or in a plain line now and then where the text is kept.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>

#include "pace/base/config.hpp"
#include "pace/base/units.hpp"
#include "pace/run/progress.hpp"

namespace pace::report {

/// The stream on which a ProgressLine is shown. Tests have one without a terminal.
struct ProgressDisplay {
  /// Writes text as it is, escape sequences included, and at once.
  std::function<void(const std::string& text)> write;
  /// Whether a line may be rewritten; otherwise there is a plain line now and then.
  bool rewrites = false;
  /// Returns the number of columns of a line.
  std::function<std::size_t()> width;
  /// Returns the number of columns of a line of other text that is not ended yet.
  std::function<std::size_t()> column;
  /// Returns the time since some moment.
  std::function<Nanoseconds()> now;
};

/// Shows the progress of a run on a ProgressDisplay. In a process that was forked from the one that made the object,
/// nothing is shown.
class ProgressLine final : public Progress {
 public:
  /// A line is rewritten at most this often for one step.
  static constexpr Nanoseconds rewritten_every = std::chrono::milliseconds(200);
  /// A plain line comes at most this often.
  static constexpr Nanoseconds plain_every = std::chrono::seconds(30);

  /// `parts_of` is what the parts of the run are, in the plural, such as `tests`.
  ProgressLine(ProgressDisplay display, std::string parts_of);
  /// Clears the line.
  ~ProgressLine() override { clear(); }

  void part(std::size_t number, std::size_t total) override;
  void subject(const std::string& name) override;
  void step(const Step& step) override;

  /// Begins part `number` of `total`, after `before` parts that took `so_far` in other processes.
  void go_on(std::size_t number, std::size_t total, std::size_t before, Nanoseconds so_far);

  /// Removes the line from the terminal, since other text follows. The next step shows it again.
  void clear();

 private:
  /// The time that the rest of the run takes, if each part takes as long as those before; infinite: unknown.
  [[nodiscard]] Nanoseconds left() const;
  /// The line in at most `width` columns.
  [[nodiscard]] std::string text(std::size_t width) const;
  /// Shows the line if it is due; on a terminal, `at_once` in any case.
  void show(bool at_once);

  ProgressDisplay display_;
  std::string parts_of_;
  pid_t process_;
  Nanoseconds start_, shown_at_, part_began_;
  std::size_t number_ = 0, total_ = 0, first_ = 0;
  std::string subject_;
  Step step_;
  /// Whether the terminal shows the line, and whether behind other text.
  bool is_shown_ = false, is_behind_text_ = false;
};

/// Returns the display on the standard error: a line that is rewritten on a terminal, plain lines otherwise.
[[nodiscard]] ProgressDisplay display_on_stderr();

/// Shows the progress of this process on the standard error while the object lives.
class ShownProgress {
 public:
  /// See ProgressLine.
  explicit ShownProgress(std::string parts_of);
  ShownProgress(const ShownProgress&) = delete;
  ShownProgress& operator=(const ShownProgress&) = delete;
  ~ShownProgress();
  /// See ProgressLine::go_on().
  void go_on(std::size_t number, std::size_t total, std::size_t before, Nanoseconds so_far) {
    line_.go_on(number, total, before, so_far);
  }

 private:
  ProgressLine line_;
};

/// While the object lives, a line of progress that another process has left on the terminal, such as one that crashed,
/// is cleared before this process prints.
class ClearsLeftLine {
 public:
  /// Does nothing if no progress is shown.
  explicit ClearsLeftLine(bool shows_progress);
  ClearsLeftLine(const ClearsLeftLine&) = delete;
  ClearsLeftLine& operator=(const ClearsLeftLine&) = delete;
  ~ClearsLeftLine();
};

/// Returns a time as `40 s`, `12 min` or `3 h 12 min`.
[[nodiscard]] std::string rough_duration(Nanoseconds time);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/progress_line-inl.hpp"
#endif
