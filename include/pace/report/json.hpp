// Results as JSON: written as they come, one a line, and read back.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "pace/core/config.hpp"
#include "pace/core/options.hpp"
#include "pace/core/output_file.hpp"
#include "pace/core/result.hpp"
#include "pace/report/configuration.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/fields.hpp"
#include "pace/report/sink.hpp"
#include "pace/version.hpp"

namespace pace::report {

/// Keys keep the order in which they are written.
using Json = nlohmann::ordered_json;

/// The first line of a results file: what all its results share.
struct ResultsHeader {
  int version = schema_version;
  std::string pace_version = pace::version;
  Environment environment = {};
  /// Empty: runs of the program cannot be resumed.
  Configuration configuration = {};
  std::optional<Options> options = {};
  /// Until when the file may be used as a baseline, ISO 8601; none: it was not saved as one.
  std::optional<std::string> expires_utc = {};
};

/// A line of a results file, without its end, by the tables in schema.hpp. What does not exist, or is not finite, is null.
[[nodiscard]] Json to_json(const Result& result);
[[nodiscard]] Json to_json(const ResultsHeader& header);
[[nodiscard]] Json to_json(const Environment& environment);

/// What `to_json` made of a result; `phase`, `phases` and `recalled` are not in it. Throws Error, which names the key, if
/// something is missing or is not what it should be.
[[nodiscard]] Result result_from(const Json& json);
/// The same of a first line. Throws Error also for another version of the schema.
[[nodiscard]] ResultsHeader header_from(const Json& json);

/// Writes JSON Lines: the header, then one line for each result, in one system call, as soon as there is one. A file that
/// is cut off anywhere, as by a killed process, has lost no more than its last line.
class JsonSink final : public Sink {
 public:
  /// Opens the file. What it held stays until the first result, or finish(). `earlier` are results of an earlier process,
  /// or run, that this one goes on from: they are in the file from the beginning, which replaces what was there under the
  /// name, and are not written again when they are published. Throws Error.
  JsonSink(std::string path, const ResultsHeader& header, std::span<const Result> earlier = {});

  using Sink::write;
  void write(const Result& result) override;
  void finish() override;

 private:
  OutputFile file_;
  bool keeps_earlier_;
};

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/json-inl.hpp"
#endif
