// Results as JSON: written as they come, one a line, and read back.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "pace/base/config.hpp"
#include "pace/os/output_file.hpp"
#include "pace/report/configuration.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/fields.hpp"
#include "pace/report/sink.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/version.hpp"

namespace pace::report {

/// Keys keep the order in which they are written.
using Json = nlohmann::ordered_json;

/// The first line of a results file: what all its results share.
struct ResultsHeader {
  int version = schema_version;              ///< version of the schema that the file follows
  std::string pace_version = pace::version;  ///< version of pace that wrote the file
  Environment environment = {};              ///< machine, program and commit of the results
  /// Empty: runs of the program cannot be resumed.
  Configuration configuration = {};
  std::optional<Options> options = {};  ///< defaults of every comparison of the run; `alpha` is NaN with `suite_alpha`
  /// SuiteBudget::alpha of the run; none: each comparison has an error rate of its own.
  std::optional<double> suite_alpha = {};
  /// Until when the file may be used as a baseline, ISO 8601; none: it was not saved as one.
  std::optional<std::string> expires_utc = {};
};

/// Returns a result as one line of a results file, by the tables in schema.hpp. A value that does not exist, or is not
/// finite, is null.
[[nodiscard]] Json to_json(const Result& result);
/// Returns the first line of a results file, by the same tables.
[[nodiscard]] Json to_json(const ResultsHeader& header);
/// Returns an environment as an object, by the same tables.
[[nodiscard]] Json to_json(const Environment& environment);

/// Reads a result that `to_json` wrote; `phase`, `phases` and `recalled` are not in it. Throws Error, which names the
/// key, if a required key is missing or a value has another type than its key's.
[[nodiscard]] Result result_from(const Json& json);
/// Thrown for a results file of another version of the schema.
class OtherVersion : public Error {
 public:
  using Error::Error;
};

/// Reads the first line of a results file. Throws Error as result_from() does, and OtherVersion.
[[nodiscard]] ResultsHeader header_from(const Json& json);

/// Writes JSON Lines: the header, then one line for each result, in one system call, as soon as the result exists. A
/// file that is cut off anywhere, as by a killed process, has lost no more than its last line.
class JsonSink final : public Sink {
 public:
  /// Opens the file. Its former content stays until the first result, or finish(). `earlier` are results of an earlier
  /// process or run that this one continues: the file begins with them, which replaces the former content at once, and
  /// they are not written again when they are published. Throws Error if the file cannot be opened or written.
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
