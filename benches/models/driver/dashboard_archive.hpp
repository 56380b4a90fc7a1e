// An archive of a dashboard's runs: a folder that holds a folder of result files for each date.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

#include "benches/models/driver/dashboard.hpp"
#include "pace/base/error.hpp"
#include "pace/os/new_folders.hpp"

namespace pace::benches::models {

/// A run of an archive.
struct ArchivedRuns {
  std::string date;  ///< the name of its folder
  DashboardRuns runs;
};

/// Whether `name` is a date such as 2026-11-25, after which more may follow, as in 2026-11-25-night.
[[nodiscard]] inline bool is_archive_date(const std::string& name) {
  static const std::regex date("[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([-_T.][-_.A-Za-z0-9]*)?");
  return std::regex_match(name, date);
}

/// Returns the runs of all folders in `archive` that are named by a date, by their names; other folders are no runs. An
/// archive that is not there yet has none. Throws InputError where one of them cannot be read or holds no results.
[[nodiscard]] inline std::vector<ArchivedRuns> read_archive(const std::string& archive) {
  std::vector<std::string> dates;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(archive, error)) {
    std::error_code unreadable;
    if (entry.is_directory(unreadable) && is_archive_date(entry.path().filename().string()))
      dates.push_back(entry.path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throw InputError({archive}, "cannot be read: " + error.message() + "; expected a folder of dated folders");
  std::ranges::sort(dates);
  std::vector<ArchivedRuns> found;
  for (const auto& date : dates)
    found.push_back({date, read_dashboard((std::filesystem::path(archive) / date).string())});
  return found;
}

/// Throws InputError if `archive` has a folder `date` already.
inline void require_new_date(const std::string& archive, const std::string& date) {
  const auto place = std::filesystem::path(archive) / date;
  std::error_code ignored;
  if (std::filesystem::exists(place, ignored))
    throw InputError({place.string()}, "is there already; expected a --date that the archive has not");
}

/// Copies the result files of `folder` to the folder `date` of `archive`, which has all of them or is not there. Throws
/// InputError if it is there already, and Error if a file cannot be copied.
inline void add_to_archive(const std::string& folder, const std::string& archive, const std::string& date) {
  require_new_date(archive, date);
  const auto place = std::filesystem::path(archive) / date;
  // Its name is no date, so that read_archive leaves it out.
  const auto partial = std::filesystem::path(archive) / ("." + date + "." + std::to_string(::getpid()) + ".tmp");
  std::error_code error;
  // A process of the same number may have been killed here.
  std::filesystem::remove_all(partial, error);
  const NewFolders folders(partial);
  try {
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const auto name = entry.path().filename();
      if (!dashboard_key(name.string())) continue;
      std::filesystem::copy_file(entry.path(), partial / name, error);
      if (error) throw Error((place / name).string() + " cannot be written: " + error.message());
    }
    if (error) throw Error(folder + " cannot be read: " + error.message());
    std::filesystem::rename(partial, place, error);
    if (error) throw Error(place.string() + " cannot be written: " + error.message());
  } catch (...) {
    std::filesystem::remove_all(partial, error);
    throw;
  }
}

}  // namespace pace::benches::models
