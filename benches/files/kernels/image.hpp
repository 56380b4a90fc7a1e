// Reads a file of compiled kernels without a driver: architectures, names of kernels, sizes of their parameters.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"

namespace pace::benches::loaders {

/// An architecture of a GPU: 90 is compute capability 9.0. `a` is for that GPU alone, `f` for its family.
struct Architecture {
  int number = 0;
  char suffix = '\0';

  [[nodiscard]] std::string text() const {
    return std::to_string(number) + (suffix == '\0' ? "" : std::string(1, suffix));
  }
  bool operator==(const Architecture&) const = default;
};

/// Reads `90`, `90a` or `100f`, as it stands behind `sm_`. Nothing for anything else.
[[nodiscard]] inline std::optional<Architecture> parse_architecture(std::string_view text) {
  Architecture found;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), found.number);
  std::string_view rest = text.substr(static_cast<std::size_t>(stop - text.data()));
  if (problem != std::errc() || found.number < 10 || rest.size() > 1) return std::nullopt;
  if (!rest.empty() && rest != "a" && rest != "f") return std::nullopt;
  if (!rest.empty()) found.suffix = rest.front();
  return found;
}

/// A kernel as its file describes it.
struct KernelEntry {
  std::string symbol;  ///< mangled for C++
  /// Sizes of its parameters in bytes; none: the file does not say them.
  std::optional<std::vector<std::size_t>> parameters = {};
};

/// Kernels for one architecture.
struct KernelCode {
  Architecture architecture = {};
  bool is_ptx = false;
  /// None: they are compressed.
  std::optional<std::vector<KernelEntry>> kernels = {};

  [[nodiscard]] std::string text() const { return (is_ptx ? "PTX of compute_" : "sm_") + architecture.text(); }
  /// Whether a device of compute capability `device` (90 is 9.0) runs it. Machine code runs on the same major number if
  /// the device's minor is not lower; PTX runs on all that are not lower.
  [[nodiscard]] bool runs_on(int device) const {
    if (architecture.suffix == 'a') return device == architecture.number;
    if (is_ptx && architecture.suffix == '\0') return device >= architecture.number;
    return device / 10 == architecture.number / 10 && device >= architecture.number;
  }
};

namespace detail {

/// Reads numbers from bytes, and throws Error where there are none.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  [[nodiscard]] T at(std::size_t offset) const {
    T value{};
    std::memcpy(&value, part(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }
  [[nodiscard]] std::string_view part(std::size_t offset, std::size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      throw Error("it was cut: expected at least " + std::to_string(offset) + " bytes and " + std::to_string(size) +
                  " more, found " + std::to_string(bytes_.size()));
    return bytes_.substr(offset, size);
  }
  [[nodiscard]] std::string_view text(std::size_t offset) const {
    const std::string_view rest = part(offset, bytes_.size() - std::min(offset, bytes_.size()));
    return rest.substr(0, rest.find('\0'));
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

/// As LLVM's BinaryFormat/ELF.h has them; EM_CUDA is in <elf.h>.
inline constexpr unsigned char cuda_abi_8 = 8;
inline constexpr std::uint32_t accelerated_7 = 0x800, accelerated_8 = 0x8;
inline constexpr unsigned char entry_symbol = 0x10;  // STO_CUDA_ENTRY

/// Sizes of parameters in a section `.nv.info.KERNEL`. A record has a form, a key, and 16 bits: the value, or the size
/// of the data behind it. Nothing if a record is unknown, or a parameter has no size.
[[nodiscard]] inline std::optional<std::vector<std::size_t>> parameters_in(const Bytes& info) {
  constexpr unsigned char sized_form = 4, parameter_key = 0x17, bank_key = 0x0a;
  std::map<std::size_t, std::size_t> sizes;
  bool has_parameters = false;
  for (std::size_t at = 0; at + 4 <= info.size();) {
    const auto form = info.at<unsigned char>(at), key = info.at<unsigned char>(at + 1);
    const auto size = info.at<std::uint16_t>(at + 2);
    at += 4;
    if (form < 1 || form > sized_form) return std::nullopt;
    if (form != sized_form) continue;
    // An index, the number of the parameter, its offset, and flags. The flags' highest 14 bits are its size.
    if (key == parameter_key && size >= 12)
      sizes[info.at<std::uint16_t>(at + 4)] = info.at<std::uint32_t>(at + 8) >> 18;
    if (key == bank_key && size >= 8) has_parameters = info.at<std::uint16_t>(at + 6) > 0;
    at += size;
  }
  if (sizes.empty() && has_parameters) return std::nullopt;
  std::vector<std::size_t> all;
  for (const auto& [number, size] : sizes) {
    if (number != all.size() || size == 0) return std::nullopt;
    all.push_back(size);
  }
  return all;
}

/// A cubin, which is an ELF file.
[[nodiscard]] inline KernelCode read_cubin(std::string_view image) {
  const Bytes bytes(image);
  const auto header = bytes.at<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_CUDA)
    throw Error("it is an ELF file, but not of compiled kernels (a cubin)");
  // The last part.
  static_cast<void>(bytes.part(header.e_phoff, std::size_t{header.e_phnum} * header.e_phentsize));
  KernelCode code;
  if (header.e_ident[EI_ABIVERSION] >= cuda_abi_8) {
    code.architecture.number = static_cast<int>(header.e_flags >> 8 & 0xff);
    if ((header.e_flags & accelerated_8) != 0) code.architecture.suffix = 'a';
  } else {
    code.architecture.number = static_cast<int>(header.e_flags & 0xff);
    if ((header.e_flags & accelerated_7) != 0) code.architecture.suffix = 'a';
  }
  const auto section = [&](std::size_t index) {
    return bytes.at<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto content = [&](const Elf64_Shdr& of) { return Bytes(bytes.part(of.sh_offset, of.sh_size)); };
  const Bytes names = content(section(header.e_shstrndx));
  std::map<std::string, std::optional<std::vector<std::size_t>>, std::less<>> parameters;
  std::vector<KernelEntry> kernels;
  constexpr std::string_view info = ".nv.info.";
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto each = section(i);
    const std::string_view name = names.text(each.sh_name);
    if (name.starts_with(info)) parameters[std::string(name.substr(info.size()))] = parameters_in(content(each));
    if (each.sh_type != SHT_SYMTAB) continue;
    const Bytes symbols = content(each), texts = content(section(each.sh_link));
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = symbols.at<Elf64_Sym>(at);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & entry_symbol) != 0)
        kernels.push_back({.symbol = std::string(texts.text(symbol.st_name))});
    }
  }
  for (auto& kernel : kernels)
    if (const auto found = parameters.find(kernel.symbol); found != parameters.end()) kernel.parameters = found->second;
  code.kernels = std::move(kernels);
  return code;
}

/// PTX without comments.
[[nodiscard]] inline std::string without_comments(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) {
      at += std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      at += end == std::string_view::npos ? rest.size() : end + 2;
    } else {
      kept += text[at++];
    }
  }
  return kept;
}

/// The words of PTX: names, numbers and types with the points in them, and single characters.
class PtxWords {
 public:
  explicit PtxWords(std::string_view text) : text_(text) {}
  /// Empty at the end.
  [[nodiscard]] std::string_view next() {
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' || c == '%';
    };
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      at_ = text_.find('"', at_ + 1);
      at_ = at_ == std::string_view::npos ? text_.size() : at_ + 1;
    } else if (at_ < text_.size() && !is_word(text_[at_])) {
      ++at_;
    } else {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// The size of `.u64`, `.b8`, `.f16x2` and other types; nothing for another word.
[[nodiscard]] inline std::optional<std::size_t> bytes_of_ptx_type(std::string_view word) {
  if (word.size() < 3 || word[0] != '.' || std::string_view("busf").find(word[1]) == std::string_view::npos)
    return std::nullopt;
  std::size_t bits = 0;
  const std::string_view digits = word.substr(2);
  const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (problem != std::errc() || bits == 0) return std::nullopt;
  if (const std::string_view rest = digits.substr(static_cast<std::size_t>(stop - digits.data())); rest == "x2")
    bits *= 2;
  else if (!rest.empty())
    return std::nullopt;
  return bits / 8;
}

/// The parameters behind the name of an entry: `(.param .u64 a, .param .align 8 .b8 b[128])`.
[[nodiscard]] inline std::vector<std::size_t> read_ptx_parameters(PtxWords& words) {
  std::vector<std::size_t> sizes;
  bool in_brackets = false;
  for (auto word = words.next(); !word.empty() && word != ")"; word = words.next()) {
    if (word == ".param") {
      sizes.push_back(0);
    } else if (word == "[") {
      in_brackets = true;
    } else if (word == "]") {
      in_brackets = false;
    } else if (in_brackets && !sizes.empty()) {
      std::size_t count = 0;
      std::from_chars(word.data(), word.data() + word.size(), count);
      sizes.back() *= count;
    } else if (const auto bytes = bytes_of_ptx_type(word); bytes && !sizes.empty() && sizes.back() == 0) {
      sizes.back() = *bytes;
    }
  }
  return sizes;
}

[[nodiscard]] inline KernelCode read_ptx(std::string_view image) {
  const std::string text = without_comments(image);
  PtxWords words(text);
  KernelCode code{.is_ptx = true};
  std::vector<KernelEntry> kernels;
  bool has_target = false;
  for (auto word = words.next(); !word.empty(); word = words.next()) {
    if (word == ".target") {
      const auto target = words.next();
      const auto found = target.starts_with("sm_") ? parse_architecture(target.substr(3)) : std::nullopt;
      if (!found) throw Error("its .target is '" + std::string(target) + "'; expected such as sm_90");
      code.architecture = *found;
      has_target = true;
    } else if (word == ".entry") {
      KernelEntry kernel{.symbol = std::string(words.next())};
      // Without parameters there may be no brackets.
      const auto next = words.next();
      kernel.parameters = next == "(" ? read_ptx_parameters(words) : std::vector<std::size_t>{};
      kernels.push_back(std::move(kernel));
    }
  }
  if (!has_target) throw Error("it has no line .target; expected PTX");
  code.kernels = std::move(kernels);
  return code;
}

inline constexpr std::uint32_t fatbin_magic = 0xba55ed50;

/// A fatbin: code for several architectures one behind the other, each behind a header. The header holds its kind (16
/// bits), a version (16), its size (32), the size of the code (64), at 28 the architecture, at 40 flags. PTX is
/// compressed, unless nvcc was called with --no-compress; so may be machine code. Throws Error where it finds none.
[[nodiscard]] inline std::vector<KernelCode> read_fatbin(std::string_view image) {
  constexpr std::uint16_t ptx_kind = 1, machine_kind = 2;
  constexpr std::uint64_t compressed_flags = 0xf000, accelerated_flag = std::uint64_t{1} << 20;
  const Bytes bytes(image);
  std::vector<KernelCode> all;
  const std::size_t first = bytes.at<std::uint16_t>(6);
  const auto end = first + bytes.at<std::uint64_t>(8);
  static_cast<void>(bytes.part(first, end - first));
  for (std::size_t at = first; at < end;) {
    const auto kind = bytes.at<std::uint16_t>(at);
    const auto header = bytes.at<std::uint32_t>(at + 4);
    const auto size = bytes.at<std::uint64_t>(at + 8);
    const auto flags = bytes.at<std::uint64_t>(at + 40);
    if (header < 48) throw Error("one of its headers has " + std::to_string(header) + " bytes; expected at least 48");
    const std::string_view content = bytes.part(at + header, size);
    at += header + size;
    if (kind != ptx_kind && kind != machine_kind) continue;
    KernelCode code{.is_ptx = kind == ptx_kind};
    if ((flags & compressed_flags) == 0)
      code = code.is_ptx ? read_ptx(content.substr(0, content.find('\0'))) : read_cubin(content);
    code.architecture.number = bytes.at<int>(at - size - header + 28);
    if ((flags & accelerated_flag) != 0) code.architecture.suffix = 'a';
    all.push_back(std::move(code));
  }
  if (all.empty()) throw Error("it is a fatbin without code");
  return all;
}

}  // namespace detail

/// The codes in a cubin, a fatbin or a PTX file: each architecture with its kernels. Throws InputError, which names
/// `path`.
[[nodiscard]] inline std::vector<KernelCode> read_image(std::string_view image, const std::string& path) {
  try {
    if (image.empty()) throw Error("it is empty");
    if (image.starts_with(ELFMAG)) return {detail::read_cubin(image)};
    if (image.size() >= 16 && detail::Bytes(image).at<std::uint32_t>(0) == detail::fatbin_magic)
      return detail::read_fatbin(image);
    if (image.substr(0, std::min<std::size_t>(image.size(), 64)).find('\0') == std::string_view::npos)
      return {detail::read_ptx(image)};
    throw Error("it is none of these");
  } catch (const Error& error) {
    throw InputError({path}, std::string("expected compiled kernels (a cubin, a fatbin or PTX): ") + error.what());
  }
}

/// The architectures in words.
[[nodiscard]] inline std::string texts_of(const std::vector<KernelCode>& codes) {
  std::string all;
  for (const auto& code : codes) all += (all.empty() ? "" : ", ") + code.text();
  return all.empty() ? "nothing" : all;
}

/// The one that a device of compute capability `device` runs: machine code before PTX, the newest first; null: none.
[[nodiscard]] inline const KernelCode* code_for(const std::vector<KernelCode>& codes, int device) {
  const KernelCode* best = nullptr;
  const auto rank = [](const KernelCode& code) {
    return std::tuple(!code.is_ptx, code.architecture.number, code.architecture.suffix);
  };
  for (const auto& code : codes)
    if (code.runs_on(device) && (best == nullptr || rank(code) > rank(*best))) best = &code;
  return best;
}

}  // namespace pace::benches::loaders
