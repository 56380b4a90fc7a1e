// A sink of a program's own, in one file: a list of medians, in the file that OWN_SINK_FILE names. Nothing else of
// pace, or of the program, knows of it.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "pace/base/format.hpp"
#include "pace/os/output_file.hpp"
#include "pace/report/sink.hpp"

namespace {

class MedianList final : public pace::report::Sink {
 public:
  explicit MedianList(std::string path) : file_(std::move(path)) {}

  void write(const pace::Result& result) override {
    for (const auto& each : result.implementations)
      if (each.time) file_.append(result.name + " / " + each.name + ": " + pace::format_time(each.time->median) + '\n');
  }
  void finish() override { file_.close(); }

 private:
  pace::OutputFile file_;
};

const pace::report::OwnSink own_sink([](const pace::report::Environment&) -> std::unique_ptr<pace::report::Sink> {
  const char* path = std::getenv("OWN_SINK_FILE");
  return path == nullptr ? nullptr : std::make_unique<MedianList>(path);
});

}  // namespace
