// The files of results of the kernels' bench, opened before anything is measured.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "benches/kernels/command_line.hpp"
#include "pace/os/output_file.hpp"
#include "pace/os/pages.hpp"

namespace pace::benches::kernels {

class ResultFiles {
 public:
  /// Opens them: that one cannot be written must not be found out after the measurement. Throws InputError.
  ResultFiles(const CommandLine& line, Pages pages)
      : pages_(std::move(pages)), of_pages_(pages_.results_file(line.json)) {
    open(line.csv, csv_);
    open(line.json, json_);
    if (of_pages_ != line.json && pages_.any()) open(of_pages_, json_of_pages_);
    open(line.bandwidth_output, bandwidth_);
    if (bandwidth_) bandwidth_->keep();
  }

  /// Null: it was not asked for.
  [[nodiscard]] OutputFile* csv() const { return csv_.get(); }
  [[nodiscard]] OutputFile* bandwidth() const { return bandwidth_.get(); }
  void write_json(const nlohmann::ordered_json& json) const {
    for (auto* const file : {json_.get(), json_of_pages_.get()})
      if (file != nullptr) file->append(json.dump(1) + '\n');
  }
  /// Closes the file of the summary of bandwidths as it was found.
  void leave_bandwidth() { bandwidth_.reset(); }

  /// Closes all files and makes the pages. Closing reports data that a network file system or a quota did not write.
  /// Returns whether all requested pages exist.
  [[nodiscard]] bool finish(std::ostream& log) {
    for (auto* const file : {csv_.get(), json_.get(), json_of_pages_.get(), bandwidth_.get()})
      if (file != nullptr) file->close();
    if (pages_.any()) pages_.add(of_pages_);
    return pages_.make("kernels", log);
  }

 private:
  static void open(const std::string& path, std::unique_ptr<OutputFile>& file) {
    if (!path.empty()) file = std::make_unique<OutputFile>(path);
  }

  Pages pages_;
  /// The results of the pages: another file if the file of --json cannot be read again.
  std::string of_pages_;
  std::unique_ptr<OutputFile> csv_, json_, json_of_pages_, bandwidth_;
};

}  // namespace pace::benches::kernels
