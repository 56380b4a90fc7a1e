// ResultFiles: where the rows of a run go: CSV, JSON beside it, raw timings.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/families/models/driver/baseline_file.hpp"
#include "pace/families/models/driver/json_record.hpp"
#include "pace/families/models/driver/known_model.hpp"
#include "pace/families/models/driver/names.hpp"
#include "pace/families/models/driver/npy.hpp"
#include "pace/families/models/driver/result_csv.hpp"
#include "pace/families/models/row.hpp"

namespace pace::families::models {

struct OutputOptions {
  /// One file for all back ends; empty: one for each, by its default name.
  std::string file = {};
  /// Where default names are; empty: here.
  std::string directory = {};
  /// Of `--inductor` and `--nothing`, which have a name of their own; empty: mode and back end.
  std::string experiment_file = {};
  /// An older file of results.
  std::string baseline = {};
  std::string tag = {};
  bool disabled = false, raw_timings = false;
};

class ResultFiles {
 public:
  /// Throws InputError if the older file cannot be read.
  ResultFiles(OutputOptions options, RecordContext context, std::vector<KnownModel> models)
      : options_(std::move(options)), context_(std::move(context)), models_(std::move(models)) {
    if (!options_.baseline.empty()) baseline_.emplace(options_.baseline);
  }

  /// The CSV file of a back end's rows; empty: there is none.
  [[nodiscard]] std::string path_for(const std::string& backend) const {
    const Mode mode = context_.settings.mode;
    if (options_.disabled || mode == Mode::operator_inputs) return {};
    if (!options_.file.empty()) return options_.file;
    std::string name = mode == Mode::performance ? "speedup" : mode == Mode::tolerance ? "tolerance"
                       : mode == Mode::throughput ? "throughput" : "accuracy";
    name += '_' + file_word(backend) + ".csv";
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
  /// `path` less its `.csv`.
  [[nodiscard]] static std::string stem_of(const std::string& path) {
    return path.ends_with(".csv") ? path.substr(0, path.size() - 4) : path;
  }

  /// Removes what an earlier run left under these names. Throws Error if that cannot be.
  void remove_old() const {
    for (const auto& path : paths())
      for (const auto& each : {path, records_path(path)})
        if (std::remove(each.c_str()) != 0 && errno != ENOENT)
          throw Error("cannot remove '" + each + "': " + std::strerror(errno));
  }

  /// The row as it is written: with the columns of the baseline file, and its message.
  [[nodiscard]] Row compared(Row row) const {
    if (baseline_ && context_.settings.mode == Mode::performance) baseline_->add_to(row);
    return row;
  }

  /// Writes a row that compared() has returned, at once. Throws Error if it cannot be written.
  void add(const Row& row) const {
    const std::string path = path_for(row.backend);
    if (path.empty()) return;
    if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
      std::error_code error;
      std::filesystem::create_directories(folder, error);
      if (error) throw Error("cannot make the folder '" + folder.string() + "': " + error.message());
    }
    // First the records: a row in the CSV file is one that --resume need not run again.
    append(records_path(path), records_of(row, suite_of_model(row.name), context_));
    if (context_.settings.mode == Mode::find_batch_size) {
      if (row.passed) append(path, row.name + ',' + std::to_string(row.batch_size) + '\n');
    } else {
      add_row(path, columns_of(row), context_.settings.compat);
    }
    if (options_.raw_timings && !row.raw_timings.empty()) write_npy(raw_path(path, row), row.raw_timings);
  }

 private:
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
    if (shared()) columns.emplace_back("backend", row.backend);
    return columns;
  }

  [[nodiscard]] std::string suite_of_model(const std::string& name) const {
    for (const auto& model : models_)
      if (model.name == name) return to_string(model.suite);
    return {};
  }

  static void append(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::app | std::ios::binary);
    file << text << std::flush;
    if (!file) throw Error("cannot write to '" + path + '\'');
  }

  OutputOptions options_;
  RecordContext context_;
  std::vector<KnownModel> models_;
  std::optional<BaselineFile> baseline_;
};

}  // namespace pace::families::models
