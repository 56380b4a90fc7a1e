// fastrnns' two kinds of JSON: `oss`, one object of means, and `pep`, one line for each time.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "benches/rnn/bench_result.hpp"
#include "benches/rnn/python_text.hpp"

namespace pace::benches::rnn {

/// `other`: a word that is neither oss nor pep; then fastrnns prints nothing at all.
enum class JsonFormat { none, oss, pep, other };

namespace detail {

/// Calls `use(key, models, means, times)` for each group and then for its backward half.
template <class Use>
void for_each_half(const std::vector<GroupResults>& groups, Use&& use) {
  for (const auto& each : groups) {
    use(each.group, each.models, &BenchResult::avg_fwd, &BenchResult::info_fwd);
    use(each.group + "-backward", each.models, &BenchResult::avg_bwd, &BenchResult::info_bwd);
  }
}

}  // namespace detail

/// `{"lstm": {"aten": 3.5}, "lstm-backward": {"aten": 8.25}}` and a newline, as json.dumps writes it.
inline void print_oss(const std::vector<GroupResults>& groups, std::ostream& out) {
  std::string text = "{";
  detail::for_each_half(groups, [&text](const std::string& key, const auto& models, auto mean, auto /*times*/) {
    text += (text.size() == 1 ? "" : ", ") + json_string(key) + ": {";
    for (const auto& model : models)
      text += (&model == models.data() ? "" : ", ") + json_string(model.name) + ": " + json_number(model.*mean);
    text += '}';
  });
  out << text << "}\n";
}

/// `Caffe2Observer {"type": "NET", "metric": "lstm-aten", "unit": "ms", "value": "3.5"}`, a line for each time.
inline void print_pep(const std::vector<GroupResults>& groups, std::ostream& out) {
  detail::for_each_half(groups, [&out](const std::string& key, const auto& models, auto /*mean*/, auto times) {
    for (const auto& model : models)
      for (const float time : model.*times)
        out << R"(Caffe2Observer {"type": "NET", "metric": )" << json_string(key + '-' + model.name)
            << R"(, "unit": "ms", "value": )" << json_string(python_str(time)) << "}\n";
  });
}

inline void print_json(JsonFormat format, const std::vector<GroupResults>& groups, std::ostream& out) {
  if (format == JsonFormat::oss) print_oss(groups, out);
  if (format == JsonFormat::pep) print_pep(groups, out);
}

}  // namespace pace::benches::rnn
