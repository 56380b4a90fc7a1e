// ResultFiles: where the rows of a run go: CSV, JSON beside it, raw timings.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "benches/models/driver/baseline_file.hpp"
#include "benches/models/driver/json_record.hpp"
#include "benches/models/driver/known_model.hpp"
#include "benches/models/driver/names.hpp"
#include "benches/models/driver/npy.hpp"
#include "benches/models/driver/result_csv.hpp"
#include "benches/models/driver/text_files.hpp"
#include "benches/models/row.hpp"
#include "pace/base/error.hpp"
#include "pace/os/new_folders.hpp"
#include "pace/os/output_file.hpp"
#include "pace/os/read_file.hpp"
#include "pace/os/same_file.hpp"

namespace pace::benches::models {

struct OutputOptions {
  /// One file for all back ends; empty: one for each, by its default name.
  std::string file = {};
  /// Where default names are; empty: here.
  std::string directory = {};
  /// The name that `--inductor` and `--nothing` give the file; empty: mode and back end.
  std::string experiment_file = {};
  /// An older file of results.
  std::string baseline = {};
  /// Its content, if it has been read already.
  std::optional<std::string> baseline_text = {};
  std::string tag = {};
  bool disabled = false, raw_timings = false;
};

/// The fate of an earlier run's results under the same names.
enum class EarlierResults {
  kept,
  /// When the first row is written, or the run ends without one: a run that cannot start loses nothing.
  replaced
};

class ResultFiles {
 public:
  /// Throws InputError if the older file cannot be read.
  ResultFiles(OutputOptions options, RecordContext context, std::vector<KnownModel> models)
      : options_(std::move(options)), context_(std::move(context)), models_(std::move(models)) {
    if (options_.baseline_text)
      baseline_.emplace(options_.baseline, *options_.baseline_text);
    else if (!options_.baseline.empty())
      baseline_.emplace(options_.baseline);
  }

  /// The CSV file of a back end's rows; empty: there is none.
  [[nodiscard]] std::string path_for(const std::string& backend) const {
    const Mode mode = context_.settings.mode;
    if (options_.disabled || mode == Mode::operator_inputs) return {};
    if (!options_.file.empty()) return options_.file;
    const std::string first = mode == Mode::performance ? "speedup" : has_statuses(mode) ? "accuracy" : to_string(mode);
    std::string name = first + '_' + file_word(backend) + ".csv";
    if (!options_.experiment_file.empty()) name = options_.experiment_file;
    if (mode == Mode::find_batch_size) name = "batch_sizes.csv";
    return (std::filesystem::path(options_.directory) / name).string();
  }

  /// Every CSV file of the run, in the order of its back ends.
  [[nodiscard]] std::vector<std::string> paths() const {
    std::vector<std::string> paths;
    for (const auto& backend : candidates(context_.settings))
      if (const auto path = path_for(backend); !path.empty() && std::ranges::find(paths, path) == paths.end())
        paths.push_back(path);
    return paths;
  }

  /// The file of records that stands beside a CSV file.
  [[nodiscard]] static std::string records_path(const std::string& csv) { return stem_of(csv) + ".json"; }
  /// The file of compile times, as torchbench names it.
  [[nodiscard]] static std::string compilation_path(const std::string& csv) {
    return stem_of(csv) + "_compilation_metrics.csv";
  }
  /// `path` less its `.csv`.
  [[nodiscard]] static std::string stem_of(const std::string& path) {
    return path.ends_with(".csv") ? path.substr(0, path.size() - 4) : path;
  }

  /// Makes the files this run's alone until it ends, and ends lines of theirs that were cut off. Throws Error where
  /// another run writes to one of them, and InputError where one is no file of results, which would be lost.
  void claim(EarlierResults earlier) {
    for (const auto& path : paths()) {
      if (claimed_.contains(path)) continue;
      struct stat info{};
      const bool exists = ::stat(path.c_str(), &info) == 0;
      // Such as /dev/null, beside which no file can be.
      if (exists && S_ISCHR(info.st_mode)) continue;
      require_regular(path, "results");
      if (options_.baseline == path || (exists && same_file(options_.baseline, path)))
        throw InputError({path}, "is the file of --baseline, too, which this run would replace");
      folders_.emplace_back(std::filesystem::path(path).parent_path());
      const auto beside = records_path(path);
      require_regular(beside, "results");
      auto records = std::make_unique<OutputFile>(beside);
      require_results(beside, path, exists && info.st_size > 0);
      require_compilation(compilation_path(path));
      const bool replaces = earlier == EarlierResults::replaced;
      if (!replaces) records->keep_lines();
      if (!replaces && sizes_alone() && exists) OutputFile(path).keep_lines();
      claimed_.emplace(path, Claimed{std::move(records), replaces});
    }
  }

  /// Keeps the first `bytes` of the records beside a CSV file that claim() has kept. Throws Error.
  void keep_records(const std::string& csv, std::size_t bytes) {
    if (const auto found = claimed_.find(csv); found != claimed_.end())
      found->second.records->keep_first(static_cast<off_t>(bytes));
  }

  /// Throws InputError where the older file is about none of the models that are run.
  void require_baseline_of(const std::vector<ChosenModel>& models) const {
    if (!baseline_ || models.empty()) return;
    if (std::ranges::any_of(models, [&](const auto& model) { return baseline_->has(model.name); })) return;
    throw InputError({options_.baseline}, "--baseline: expected results of the models that are run (" +
                                              listed(names_of(models)) + "), found none of theirs");
  }

  /// After the last row: where there was none, results of an earlier run are removed now. Throws Error, also for
  /// failures of closing the files.
  void end() {
    for (auto& [path, claimed] : claimed_) {
      if (claimed.replaces_earlier) {
        replace_earlier(path, claimed);
        remove(claimed.records->path());
      } else {
        claimed.records->close();
      }
      claimed.records.reset();
    }
  }

  /// The row as it is written: with the columns of the baseline file, and its message.
  [[nodiscard]] Row compared(Row row) const {
    if (baseline_ && context_.settings.mode == Mode::performance) baseline_->add_to(row);
    return row;
  }

  /// Writes a row that compared() has returned, at once. Throws Error if it cannot be written, and as claim().
  void add(const Row& row) {
    const std::string path = path_for(row.backend);
    if (path.empty()) return;
    claim(EarlierResults::kept);
    if (const auto found = claimed_.find(path); found != claimed_.end()) {
      replace_earlier(path, found->second);
      // First the records: a row in the CSV file is one that --resume need not run again.
      found->second.records->append(records_of(row, suite_of_model(row.name), context_));
    }
    if (sizes_alone()) {
      if (row.result == RowResult::passed) append_text(path, row.name + ',' + std::to_string(row.batch_size) + '\n');
    } else {
      add_row(path, columns_of(row), context_.settings.compat);
    }
    add_compilation(row);
    if (options_.raw_timings && !row.raw_timings.empty()) write_text(raw_path(path, row), to_npy(row.raw_timings));
  }

  /// Writes the row's compile time, if it has one, to the file beside the row's. Throws as add().
  void add_compilation(const Row& row) {
    const std::string path = path_for(row.backend);
    if (path.empty() || row.compilation.empty()) return;
    claim(EarlierResults::kept);
    // Beside /dev/null there is no file.
    if (!claimed_.contains(path)) return;
    Columns columns{{"dev", row.device}, {"name", row.name}, {"batch_size", row.batch_size}};
    if (!options_.tag.empty()) columns.emplace_back("tag", options_.tag);
    columns.emplace_back("backend", row.backend);
    columns.insert(columns.end(), row.compilation.begin(), row.compilation.end());
    add_row(compilation_path(path), columns);
  }

 private:
  /// A CSV file, by the records beside it: those are never replaced, so that a lock on them holds.
  struct Claimed {
    std::unique_ptr<OutputFile> records;
    bool replaces_earlier;
  };

  static void replace_earlier(const std::string& path, Claimed& claimed) {
    if (!std::exchange(claimed.replaces_earlier, false)) return;
    remove(path);
    remove(compilation_path(path));
    claimed.records->clear();
  }

  static void remove(const std::string& path) {
    if (std::remove(path.c_str()) != 0 && errno != ENOENT)
      throw Error("cannot remove '" + path + "': " + std::strerror(errno));
  }

  /// Returns the size of a file, 0 where there is none. Throws InputError unless it is a regular file.
  static off_t require_regular(const std::string& path, const char* what) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return 0;
    if (!S_ISREG(info.st_mode))
      throw InputError({path},
                       std::string("is no regular file; expected a name under which ") + what + " can be written");
    return info.st_size;
  }

  /// A file of batch sizes has lines of `name,size` and no header.
  [[nodiscard]] bool sizes_alone() const { return context_.settings.mode == Mode::find_batch_size; }

  /// Throws InputError unless an earlier run wrote the files, or they are empty.
  void require_results(const std::string& records, const std::string& csv, bool has_csv) const {
    if (std::error_code ignored; std::filesystem::file_size(records, ignored) > 0) {
      // As records_of() begins each line, and torchbench does.
      if (read_file(records, "records of results").starts_with("{\"benchmark\":")) return;
      throw InputError({records}, "holds no records of results, which the run would write there, beside '" + csv +
                                      "'; give another --output, or move the file away");
    }
    if (!has_csv) return;
    const auto table = report::read_csv(csv);
    if (sizes_alone() ? table.header.size() != 2 : !table.column("name"))
      throw InputError({csv}, std::string("is no file of results; expected ") +
                                  (sizes_alone() ? "lines of name,size" : "a column 'name'") +
                                  ", another --output, or no file of that name");
  }

  /// Throws InputError for a file that is none of add_compilation()'s, or of torchbench's.
  static void require_compilation(const std::string& path) {
    if (require_regular(path, "compilation metrics") == 0) return;
    const auto table = report::read_csv(path);
    if (!table.column("name") || !table.column("batch_size"))
      throw InputError({path},
                       "is no file of compilation metrics; expected columns 'name' and 'batch_size', another "
                       "--output, or no file of that name");
  }

  /// Back ends have configurations behind a colon, and devices have numbers there.
  [[nodiscard]] static std::string file_word(std::string text) {
    std::ranges::replace_if(text, [](char c) { return c == ':' || c == '/' || c == ','; }, '_');
    return text;
  }

  [[nodiscard]] bool shared() const { return paths().size() < candidates(context_.settings).size(); }

  [[nodiscard]] std::string raw_path(const std::string& path, const Row& row) const {
    return stem_of(path) + "-raw_timings-" + row.name + '-' + file_word(row.device) +
           (shared() ? '-' + file_word(row.backend) : "") + ".npy";
  }

  [[nodiscard]] Columns columns_of(const Row& row) const {
    Columns columns{{"dev", row.device}, {"name", row.name}, {"batch_size", row.batch_size}};
    if (!options_.tag.empty()) columns.emplace_back("tag", options_.tag);
    columns.insert(columns.end(), row.values.begin(), row.values.end());
    if (!context_.settings.compat) columns.emplace_back("result", to_string(row.result));
    if (shared()) columns.emplace_back("backend", row.backend);
    return columns;
  }

  [[nodiscard]] std::string suite_of_model(const std::string& name) const {
    for (const auto& model : models_)
      if (model.name == name) return to_string(model.suite);
    return {};
  }

  OutputOptions options_;
  RecordContext context_;
  std::vector<KnownModel> models_;
  std::optional<BaselineFile> baseline_;
  /// The folders of the claimed files, which outlive them: a run that cannot start leaves none.
  std::deque<NewFolders> folders_;
  std::map<std::string, Claimed> claimed_;
};

}  // namespace pace::benches::models
