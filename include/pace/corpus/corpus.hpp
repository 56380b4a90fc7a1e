// Corpus: recorded operator inputs of one or many models, with the calls of each operator and their counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/corpus/blocks.hpp"
#include "pace/corpus/json_trace.hpp"
#include "pace/corpus/load.hpp"
#include "pace/corpus/parse.hpp"

namespace pace::corpus {

/// Parses the text of a sample. Throws as parse_call() does for a text; `op` names the operator in messages.
[[nodiscard]] inline Call parse_call(const Sample& sample, std::string_view op = {}) {
  return parse_call(sample.text, sample.where, op);
}

/// A collection of recorded calls. Calls of an operator with equal texts are one sample with a count. Operators and
/// samples keep the order in which they were first seen.
class Corpus {
 public:
  /// Reads one file, usually of one model, as text or as JSON (see JsonReader). Throws InputError if it is missing, not
  /// text, malformed (unless `options.on_error` is `collect`), or holds no operator.
  [[nodiscard]] static Corpus from_file(const std::filesystem::path& path, const LoadOptions& options = {}) {
    detail::Blocks blocks(options.on_error);
    const std::string text = detail::read_text_file(path, options.pipes);
    if (detail::looks_like_json(text))
      detail::JsonReader(blocks, path.string()).read(text);
    else
      detail::TextReader(blocks, path.string()).read(text);
    if (blocks.operators.empty() && blocks.rejects.empty()) {
      throw InputError({path.string()}, "expected recorded operator inputs ('Operator: NAME' lines), found none");
    }
    Corpus corpus;
    corpus.rejects_ = std::move(blocks.rejects);
    corpus.add_blocks(blocks.operators, options.compat);
    return corpus;
  }

  /// Reads every `*.txt` and `*.json` file of a directory and merges them, in the order of their names unless
  /// `options.as_listed`. Throws InputError if the directory is missing or has no such file, and as from_file() does
  /// for each file; if `options.on_error` is `collect`, an unusable file becomes one Reject.
  [[nodiscard]] static Corpus from_directory(const std::filesystem::path& path, const LoadOptions& options = {}) {
    const Location where{path.string()};
    std::error_code error;
    if (!std::filesystem::exists(path, error)) throw InputError(where, "no such directory");
    if (!std::filesystem::is_directory(path, error)) throw InputError(where, "expected a directory, found a file");
    std::vector<std::filesystem::path> files;
    std::filesystem::directory_iterator entry(path, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (entry->path().extension() == ".txt" || entry->path().extension() == ".json") files.push_back(entry->path());
    }
    if (error) throw InputError(where, "the directory cannot be listed: " + error.message());
    if (files.empty()) throw InputError(where, "expected files named *.txt or *.json in the directory, found none");
    if (!options.as_listed) std::sort(files.begin(), files.end());
    Corpus corpus;
    // A pipe in the directory is probably no input; reading it would wait for a writer.
    auto of_each = options;
    of_each.pipes = false;
    for (const auto& file : files) {
      try {
        corpus.merge(from_file(file, of_each));
      } catch (const InputError& bad_file) {
        if (options.on_error == OnError::stop) throw;
        corpus.rejects_.push_back({bad_file.where(), bad_file.what()});
      }
    }
    return corpus;
  }

  /// Makes a corpus from `blocks`. Operators without samples are left out, and blocks of one name are merged.
  [[nodiscard]] static Corpus from_samples(const std::vector<OperatorSamples>& blocks) {
    Corpus corpus;
    for (const auto& block : blocks)
      if (!block.samples.empty()) corpus.add(block);
    return corpus;
  }

  /// Adds the samples, counts and rejects of `other`. Invalidates pointers from find().
  void merge(const Corpus& other) {
    if (&other == this) return merge(Corpus(other));
    rejects_.insert(rejects_.end(), other.rejects_.begin(), other.rejects_.end());
    for (const auto& op : other.operators_) add(op);
  }

  /// All operators, with their samples.
  [[nodiscard]] const std::vector<OperatorSamples>& operators() const { return operators_; }
  /// Malformed lines and files that were left out; empty unless LoadOptions::on_error was `collect`.
  [[nodiscard]] const std::vector<Reject>& rejects() const { return rejects_; }

  /// The samples of an operator; nullptr for an unknown one. Valid until the next merge().
  [[nodiscard]] const OperatorSamples* find(std::string_view name) const {
    const auto found = index_.find(std::string(name));
    return found == index_.end() ? nullptr : &operators_[found->second];
  }

  /// Recorded calls of an operator: the sum of its counts, saturated at 2^63 - 1; 0 for an unknown operator.
  [[nodiscard]] std::int64_t call_frequency(std::string_view name) const {
    const auto* op = find(name);
    return op == nullptr ? 0 : sum(*op);
  }

  /// Number of distinct samples of all operators together.
  [[nodiscard]] std::size_t distinct_samples() const {
    std::size_t total = 0;
    for (const auto& op : operators_) total += op.samples.size();
    return total;
  }
  /// Number of recorded calls of all operators together, saturated at 2^63 - 1.
  [[nodiscard]] std::int64_t calls() const {
    std::int64_t total = 0;
    for (const auto& op : operators_) total = saturating_sum(total, sum(op));
    return total;
  }

 private:
  static std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {  // counts are never negative
    const auto most = std::numeric_limits<std::int64_t>::max();
    return a > most - b ? most : a + b;
  }
  static std::int64_t sum(const OperatorSamples& op) {
    std::int64_t total = 0;
    for (const auto& sample : op.samples) total = saturating_sum(total, sample.count);
    return total;
  }

  /// The blocks of one file.
  void add_blocks(const std::vector<OperatorSamples>& blocks, bool last_one_wins) {
    std::unordered_map<std::string_view, const OperatorSamples*> last;
    if (last_one_wins) {
      for (const auto& block : blocks) last[block.name] = &block;
    }
    for (const auto& block : blocks) {
      if (!last_one_wins) {
        add(block);
      } else if (const auto*& winner = last[block.name]; winner != nullptr) {
        add(*winner);  // in the place of the first block of that name
        winner = nullptr;
      }
    }
  }

  void add(const OperatorSamples& added) {
    const auto [entry, is_new] = index_.try_emplace(added.name, operators_.size());
    const std::size_t op = entry->second;
    if (is_new) operators_.push_back({added.name, {}});
    auto& samples = operators_[op].samples;
    for (const auto& sample : added.samples) {
      // The key is a hash without the text: where keys are equal, the texts are compared.
      const std::size_t key = std::hash<std::string_view>{}(sample.text) * 31 + op;
      auto [known, end] = lookup_.equal_range(key);
      while (known != end && !(known->second.first == op && samples[known->second.second].text == sample.text)) ++known;
      if (known != end) {
        auto& count = samples[known->second.second].count;
        count = saturating_sum(count, sample.count);
      } else {
        lookup_.emplace(key, std::pair(op, samples.size()));
        samples.push_back(sample);
      }
    }
  }

  std::vector<OperatorSamples> operators_;
  std::vector<Reject> rejects_;
  std::unordered_map<std::string, std::size_t> index_;
  std::unordered_multimap<std::size_t, std::pair<std::size_t, std::size_t>> lookup_;  // text -> operator and sample
};

}  // namespace pace::corpus
