// The kind of a file, by its content alone: names can be anything.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>
#include <caffe2/serialize/inline_container.h>

#include "benches/files/loaders/checksums.hpp"
#include "pace/base/error.hpp"
#include "pace/base/message_parts.hpp"

namespace pace::benches::loaders {

/// Returns the first line of an exception's message, as a reason.
[[nodiscard]] inline std::string first_line(const std::exception& error) {
  const auto* const torch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch != nullptr ? torch->what_without_backtrace() : error.what();
  return as_reason(text.substr(0, text.find('\n')));
}

/// Returns an exception's message, for use in another one: all of pace's own, and the first line of others.
[[nodiscard]] inline std::string reason_of(const std::exception& error) {
  return dynamic_cast<const Error*>(&error) != nullptr ? error.what() : first_line(error);
}

/// A file before it is loaded: its first bytes and, of a zip archive, the names of its records. Nothing of the file is
/// executed or unpickled to find these.
class Content {
 public:
  /// Throws InputError, which names the file, if it cannot be read, is empty, or is an archive that was cut.
  explicit Content(std::string path) : path_(std::move(path)) {
    namespace fs = std::filesystem;
    std::error_code problem;
    const auto status = fs::status(path_, problem);
    if (!fs::exists(status)) throw InputError({path_}, "no such file");
    if (fs::is_directory(status)) throw InputError({path_}, "expected a file, found a folder");
    if (!fs::is_regular_file(status)) throw InputError({path_}, "expected a regular file");
    std::array<char, 20> begin{};
    std::ifstream file(path_, std::ios::binary);
    if (!file) throw InputError({path_}, "the file cannot be read");
    file.read(begin.data(), begin.size());
    head_.assign(begin.data(), static_cast<std::size_t>(file.gcount()));
    if (head_.empty()) throw InputError({path_}, "the file is empty");
    if (!is_archive()) return;
    try {
      reader_ = std::make_unique<caffe2::serialize::PyTorchStreamReader>(path_);
      for (auto& name : reader_->getAllRecords()) records_.push_back(std::move(name));
      for (const auto& [name, checksum] : checksums_of(path_)) checksums_[name.substr(name.find('/') + 1)] = checksum;
    } catch (const std::exception& error) {
      const std::string text = first_line(error);  // a paragraph with the reason in its first sentence
      throw InputError({path_}, "this archive was cut or damaged, or is no archive of LibTorch's: " +
                                    text.substr(0, text.find(". This")));
    }
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_archive() const { return head_.starts_with("PK\3\4"); }
  /// Whether it is a library or a program, as the linker writes it.
  [[nodiscard]] bool is_elf() const {
    return head_.starts_with(
        "\x7f"
        "ELF");
  }
  /// Whether it is machine code for GPUs: a cubin, which is ELF for the machine 190, or a fatbin.
  [[nodiscard]] bool is_kernel_image() const {
    return (is_elf() && head_.size() >= 20 && head_.substr(18, 2) == std::string_view("\xbe\0", 2)) ||
           head_.starts_with("\x50\xed\x55\xba");
  }
  /// Whether it comes from `torch.save` before that wrote archives, or is another pickle.
  [[nodiscard]] bool is_pickle() const { return head_.starts_with("\x80"); }

  /// Names of the archive's records, without the name of its outermost folder.
  [[nodiscard]] const std::vector<std::string>& records() const { return records_; }
  [[nodiscard]] bool has(const std::string& record) const {
    return std::ranges::find(records_, record) != records_.end();
  }
  [[nodiscard]] bool has_below(std::string_view folder) const {
    return std::ranges::any_of(records_, [&](const std::string& name) { return name.starts_with(folder); });
  }
  /// The names between `before` and `after` in the names of records: `a` of `models/a.json`; sorted, each once.
  [[nodiscard]] std::vector<std::string> names_between(std::string_view before, std::string_view after) const {
    std::set<std::string> names;
    for (const auto& record : records_) {
      if (!record.starts_with(before)) continue;
      const auto end = record.find(after, before.size());
      if (end != std::string::npos && end > before.size())
        names.insert(record.substr(before.size(), end - before.size()));
    }
    return {names.begin(), names.end()};
  }
  /// The bytes of a record. Throws InputError if there is no such record, or its checksum is wrong.
  [[nodiscard]] std::string read(const std::string& record) const {
    std::string bytes;
    try {
      const auto [data, size] = reader_->getRecord(record);
      bytes.assign(static_cast<const char*>(data.get()), size);
    } catch (const std::exception& error) {
      throw InputError({path_}, "the record " + record + " cannot be read: " + first_line(error));
    }
    // A checksum of 0 was not computed.
    const auto expected = checksums_.find(record);
    if (expected == checksums_.end() || expected->second == 0) return bytes;
    if (const std::uint32_t found = crc32_of(bytes); found != expected->second)
      throw InputError({path_}, "the record " + record + " is damaged: expected bytes with the checksum " +
                                    hex(expected->second) + ", found " + std::to_string(bytes.size()) +
                                    " bytes with the checksum " + hex(found));
    return bytes;
  }
  /// Throws InputError for the first record with a wrong checksum.
  void require_intact() const {
    for (const auto& record : records_) (void)read(record);
  }
  /// The archive, for code that reads records itself.
  [[nodiscard]] caffe2::serialize::PyTorchStreamReader& reader() const { return *reader_; }

  /// Describes the file, for a message that expected another kind.
  [[nodiscard]] std::string describe() const {
    if (is_kernel_image()) return "compiled kernels (a cubin or a fatbin); a YAML file says how one is launched";
    if (is_elf()) return "a shared library or a program";
    if (is_pickle()) return "a pickle of Python";
    if (!is_archive()) return "neither an archive of LibTorch's nor a shared library";
    if (has("serialized_exported_program.json"))
      return "an exported program in a format that this LibTorch does not read; export it with this LibTorch's version";
    if (has("data.pkl") && !has("constants.pkl"))
      return "values that torch.save has written, without the code of a module; tools/export.py exports modules";
    return "an archive of another kind";
  }

 private:
  [[nodiscard]] static std::string hex(std::uint32_t number) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%08x", number);
    return text.data();
  }

  std::string path_, head_;
  std::unique_ptr<caffe2::serialize::PyTorchStreamReader> reader_;
  std::vector<std::string> records_;
  /// By the names of the records.
  std::map<std::string, std::uint32_t> checksums_;
};

}  // namespace pace::benches::loaders
