// Rows as JSON: torchbench's one record for each metric, and all of a row for another process.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include "benches/models/driver/names.hpp"
#include "benches/models/row.hpp"
#include "benches/models/settings.hpp"
#include "pace/base/c_numbers.hpp"
#include "pace/base/error.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/report/configuration.hpp"

namespace pace::benches::models {

using Json = nlohmann::ordered_json;

using report::Configuration;

namespace detail {

/// On one line. Replaces bytes that are not UTF-8.
[[nodiscard]] inline std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace detail

/// The common fields of a run's records.
struct RecordContext {
  Settings settings;
  Configuration configuration = {};
};

/// One line for each value of the row: numbers as `metric.benchmark_values`, texts in `metric.extra_info`. The message
/// and the row's result are pace's own, in `benchmark.extra_info`.
[[nodiscard]] inline std::string records_of(const Row& row, const std::string& suite, const RecordContext& context) {
  const Settings& settings = context.settings;
  std::string lines;
  for (const auto& [column, cell] : row.values) {
    Json extra = {{"device", row.device}, {"quantization", nullptr}, {"batch_size", row.batch_size}};
    extra["args"] = context.configuration;
    extra["result"] = to_string(row.result);
    extra["message"] = row.message;
    Json metric = {{"name", column}};
    if (const auto* text = std::get_if<std::string>(&cell)) {
      metric["benchmark_values"] = Json::array();
      metric["extra_info"] = {{"benchmark_values", Json::array({*text})}};
    } else {
      // JSON has no numbers that are not finite, so nlohmann writes null.
      const auto* real = std::get_if<double>(&cell);
      metric["benchmark_values"] = Json::array({real != nullptr ? Json(*real) : Json(std::get<std::int64_t>(cell))});
    }
    const Json record = {
        {"benchmark",
         {{"name", settings.compat ? "TorchInductor" : "pace"},
          {"mode", settings.training ? "training" : "inference"},
          {"dtype", settings.precision == Precision::amp ? settings.amp_dtype : to_string(settings.precision)},
          {"extra_info", std::move(extra)}}},
        {"model",
         {{"name", row.name}, {"type", "OSS model"}, {"backend", row.backend}, {"origins", Json::array({suite})}}},
        {"metric", std::move(metric)}};
    lines += detail::dump(record) + '\n';
  }
  return lines;
}

/// All of a row on one line, for row_from. Numbers go as they are, those that are not finite included.
[[nodiscard]] inline std::string to_line(const Row& row) {
  const auto real = [](double number) {
    char text[40];
    const CNumbers c_numbers;
    std::snprintf(text, sizeof text, "%a", number);
    return std::string(text);
  };
  Json values = Json::array(), raw = Json::array();
  for (const auto& [column, cell] : row.values) {
    if (const auto* number = std::get_if<double>(&cell))
      values.push_back({column, "real", real(*number)});
    else if (const auto* whole = std::get_if<std::int64_t>(&cell))
      values.push_back({column, "whole", *whole});
    else
      values.push_back({column, "text", std::get<std::string>(cell)});
  }
  Json compilation = Json::array();
  for (const auto& [phase, seconds] : row.compilation) compilation.push_back({phase, real(seconds)});
  for (const auto& repeat : row.raw_timings) {
    Json times = Json::array();
    for (const double time : repeat) times.push_back(real(time));
    raw.push_back(std::move(times));
  }
  return detail::dump({{"device", row.device},
                       {"name", row.name},
                       {"batch_size", row.batch_size},
                       {"backend", row.backend},
                       {"values", values},
                       {"message", row.message},
                       {"result", to_string(row.result)},
                       {"compilation", compilation},
                       {"raw_timings", raw}}) +
         '\n';
}

/// Throws Error if `line` is not one of to_line's.
[[nodiscard]] inline Row row_from(const std::string& line) {
  const auto real = [](const Json& text) {
    const CNumbers c_numbers;
    return std::strtod(text.get<std::string>().c_str(), nullptr);
  };
  try {
    const Json json = parse_json<Json>(line);
    Row row{.device = json.at("device"),
            .name = json.at("name"),
            .batch_size = json.at("batch_size"),
            .backend = json.at("backend"),
            .message = json.at("message")};
    const auto result = row_result_of(json.at("result").get<std::string>());
    if (!result) throw Error("a row that was handed over has no known result");
    row.result = *result;
    for (const auto& value : json.at("values")) {
      const std::string kind = value.at(1);
      Cell cell = real(kind == "real" ? value.at(2) : Json("0"));
      if (kind == "whole") cell = value.at(2).get<std::int64_t>();
      if (kind == "text") cell = value.at(2).get<std::string>();
      row.values.emplace_back(value.at(0).get<std::string>(), std::move(cell));
    }
    for (const auto& phase : json.at("compilation"))
      row.compilation.emplace_back(phase.at(0).get<std::string>(), real(phase.at(1)));
    for (const auto& repeat : json.at("raw_timings")) {
      auto& times = row.raw_timings.emplace_back();
      for (const auto& time : repeat) times.push_back(real(time));
    }
    return row;
  } catch (const nlohmann::json::exception& error) {
    throw Error(std::string("a row that was handed over cannot be read: ") + error.what());
  }
}

}  // namespace pace::benches::models
