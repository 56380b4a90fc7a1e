// --resume: the files of an interrupted run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "benches/models/driver/names.hpp"
#include "benches/models/driver/result_files.hpp"
#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/os/read_file.hpp"
#include "pace/report/configuration.hpp"
#include "pace/report/csv_text.hpp"

namespace pace::benches::models {

namespace detail {

/// Cuts a row off that an interrupted run has left without its end, so that its model is run again and the next row
/// begins a line. Throws the file system's error.
inline void drop_unfinished_row(const std::string& path) {
  const std::string text = read_file(path, "the results of the run that --resume goes on from");
  bool quoted = false;
  std::size_t end = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) end = i + 1;
  }
  if (end < text.size()) std::filesystem::resize_file(path, end);
}

}  // namespace detail

class EarlierRun {
 public:
  /// Nothing where there are no files. They must have been claimed (EarlierResults::kept). Cuts off an incomplete last
  /// row, and the last records if they have no row: the run was killed between them, and their model is run again.
  /// Throws InputError if the records were made with other options, or are no records.
  EarlierRun(ResultFiles& files, const Settings& settings, const Configuration& configuration)
      : backends_(candidates(settings)) {
    for (const auto& path : files.paths()) {
      const auto records = read_records(ResultFiles::records_path(path), configuration);
      report::CsvTable table;
      if (std::error_code ignored; std::filesystem::exists(path, ignored)) {
        detail::drop_unfinished_row(path);
        table = settings.mode == Mode::find_batch_size ? sizes(path) : report::read_csv(path);
      }
      if (records.empty() && !table.rows.empty())
        throw InputError({ResultFiles::records_path(path)},
                         "--resume: expected the records of the earlier run, with its options; found none");
      for (std::size_t i = 0; i < table.rows.size(); ++i) {
        // Batch sizes depend on the requested device.
        const std::string device = table.column("dev") ? table.text(i, "dev") : "";
        if (const auto own = table.text(i, "backend"); !own.empty())
          rows_.insert({device, table.text(i, "name"), own});
        else
          for (const auto& backend : backends_)
            if (files.path_for(backend) == path) rows_.insert({device, table.text(i, "name"), backend});
      }
      // A model without a batch size has records alone.
      if (settings.mode == Mode::find_batch_size) continue;
      const auto last = std::ranges::find_if(std::views::reverse(records),
                                             [this](const RecordLine& record) { return has_row(record.key); });
      files.keep_records(path, last == std::views::reverse(records).end() ? 0 : last->end);
    }
  }

  /// Whether the model has a row for each device and back end.
  [[nodiscard]] bool has(const std::string& model, const std::vector<std::string>& devices) const {
    for (const auto& device : devices)
      for (const auto& backend : backends_)
        if (!has_row({device, model, backend})) return false;
    return true;
  }

  /// The results of the model's rows on these devices.
  [[nodiscard]] std::vector<RowResult> results(const std::string& model,
                                               const std::vector<std::string>& devices) const {
    std::vector<RowResult> results;
    for (const auto& device : devices)
      for (const auto& backend : backends_)
        if (const auto found = result(model, device, backend)) results.push_back(*found);
    return results;
  }

  /// The result of a row; nothing if there is no such row.
  [[nodiscard]] std::optional<RowResult> result(const std::string& model, const std::string& device,
                                                const std::string& backend) const {
    const Key key{device, model, backend};
    const auto found = results_.find(key);
    if (found == results_.end() || !has_row(key)) return std::nullopt;
    return found->second;
  }

 private:
  /// Device, model, back end.
  using Key = std::tuple<std::string, std::string, std::string>;

  struct RecordLine {
    Key key;
    /// Where the line ends in its file.
    std::size_t end;
  };

  [[nodiscard]] bool has_row(const Key& key) const {
    const auto& [device, model, backend] = key;
    return rows_.contains(key) || rows_.contains({"", model, backend});
  }

  [[nodiscard]] static report::CsvTable sizes(const std::string& path) {
    report::CsvTable table = report::read_csv(path);
    table.rows.insert(table.rows.begin(), table.header);
    table.header = {"name", "batch_size"};
    return table;
  }

  [[nodiscard]] std::vector<RecordLine> read_records(const std::string& path, const Configuration& configuration) {
    std::istringstream file(read_file(path, "the records of the run that --resume goes on from"));
    std::size_t number = 0, end = 0;
    std::vector<RecordLine> records;
    for (std::string line; std::getline(file, line);) {
      ++number;
      end += line.size() + 1;
      Json record;
      try {
        record = parse_json<Json>(line);
        const auto& extra = record.at("benchmark").at("extra_info");
        if (const auto found = report::differences(extra.at("args").get<Configuration>(), configuration);
            !found.empty())
          throw InputError({path, number}, "--resume: the earlier run had other options (" + found +
                                               "); give the same, or write to another file");
        // The last record counts: the model may have been run again.
        const auto& model = record.at("model");
        const auto result = row_result_of(extra.at("result").get<std::string>());
        if (!result)
          throw InputError({path, number},
                           "--resume: expected a result such as 'passed', found " + extra.at("result").dump());
        const Key key{extra.at("device"), model.at("name"), model.at("backend")};
        results_[key] = *result;
        records.push_back({key, end});
      } catch (const nlohmann::json::exception& error) {
        throw InputError({path, number},
                         std::string("--resume: expected a record of the earlier run: ") + error.what());
      } catch (const InputError&) {
        throw;
      } catch (const Error& error) {
        throw InputError({path, number},
                         std::string("--resume: expected a record of the earlier run; it ") + error.what());
      }
    }
    return records;
  }

  std::vector<std::string> backends_;
  std::set<Key> rows_;
  std::map<Key, RowResult> results_;
};

}  // namespace pace::benches::models
