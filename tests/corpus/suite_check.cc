// Reads a directory of recorded operator inputs and prints its contents, the speed of reading and the
// memory used. By hand:
//   suite_check DIRECTORY [--operators N] [--distinct N] [--calls N]
// The numbers are what Compat loading must find; a difference, a reject or a changed text makes the exit code 1.
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>

#include "pace/corpus/corpus.hpp"
#include "pace/corpus/text.hpp"

namespace {

struct Figures {
  std::int64_t operators, distinct, calls;
};

Figures figures(const pace::corpus::Corpus& corpus) {
  return {static_cast<std::int64_t>(corpus.operators().size()), static_cast<std::int64_t>(corpus.distinct_samples()),
          corpus.calls()};
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int check(const std::filesystem::path& directory, const std::map<std::string, std::int64_t>& expected) {
  using namespace pace::corpus;
  const double before = peak_mib();
  const auto start = std::chrono::steady_clock::now();
  LoadOptions options;
  options.on_error = OnError::collect;
  const Corpus corpus = Corpus::from_directory(directory, options);
  std::int64_t same = 0, changed = 0, refused = 0;
  for (const auto& op : corpus.operators()) {
    for (const auto& sample : op.samples) {
      try {
        ++(to_text(parse_call(sample, op.name)) == sample.text ? same : changed);
      } catch (const pace::Unsupported& error) {
        std::printf("refused: %s\n", error.what());
        ++refused;
      }
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double peak = peak_mib();

  options.compat = true;
  const Figures fix = figures(corpus), compat = figures(Corpus::from_directory(directory, options));
  std::int64_t files = 0, bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".txt") continue;
    ++files;
    bytes += static_cast<std::int64_t>(entry.file_size());
  }
  std::printf("%s: %ld files, %ld bytes\n", directory.c_str(), long(files), long(bytes));
  std::printf("  %-8s %9s %9s %9s\n", "", "operators", "distinct", "calls");
  std::printf("  %-8s %9ld %9ld %9ld\n", "compat", long(compat.operators), long(compat.distinct), long(compat.calls));
  std::printf("  %-8s %9ld %9ld %9ld\n", "fix", long(fix.operators), long(fix.distinct), long(fix.calls));
  std::printf("  written again as recorded: %ld, differently: %ld, refused: %ld, rejects: %zu\n", long(same),
              long(changed), long(refused), corpus.rejects().size());
  std::printf("  load + parse + write: %.3f s, peak resident memory: %.1f MiB (%.1f before)\n", seconds.count(), peak,
              before);
  for (const auto& reject : corpus.rejects()) std::printf("reject: %s\n", reject.message.c_str());

  bool good = changed == 0 && refused == 0 && corpus.rejects().empty();
  const std::map<std::string, std::int64_t> found{
      {"--operators", compat.operators}, {"--distinct", compat.distinct}, {"--calls", compat.calls}};
  for (const auto& [what, number] : expected) {
    if (found.at(what) == number) continue;
    std::printf("expected %s %ld in Compat, found %ld\n", what.c_str(), long(number), long(found.at(what)));
    good = false;
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::int64_t> expected;
    bool usable = argc >= 2 && argc % 2 == 0;
    for (int i = 2; usable && i + 1 < argc; i += 2) {
      const std::string option = argv[i];
      usable = option == "--operators" || option == "--distinct" || option == "--calls";
      expected[option] = std::stoll(argv[i + 1]);
    }
    if (!usable) {
      std::fprintf(stderr, "usage: %s DIRECTORY [--operators N] [--distinct N] [--calls N]\n", argv[0]);
      return 2;
    }
    return check(argv[1], expected);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
