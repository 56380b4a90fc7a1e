#include "pace/kernels/ranges.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <string>
#include <vector>

using namespace std::chrono_literals;
using pace::Nanoseconds;
using pace::kernel::kernels_of;
using pace::kernel::RangeEvent;

namespace {

/// Events written as they come: `at(3).begin("aten::mm").at(10).end()`.
struct Script {
  std::vector<RangeEvent> events;
  Nanoseconds now{};

  Script& at(double microseconds) { return now = Nanoseconds(1e3 * microseconds), *this; }
  Script& begin(const std::string& name, bool frame = false) {
    return events.push_back({.begins = true, .at = now, .name = name, .frame = frame}), *this;
  }
  Script& end() { return events.push_back({.begins = false, .at = now}), *this; }
};

std::string told(const std::vector<RangeEvent>& events, pace::kernel::RangeCost cost = {}) {
  std::string text;
  for (const auto& each : kernels_of(events, cost).kernels)
    text += each.symbol + ' ' + std::to_string(static_cast<int>(each.time.count())) + "; ";
  return text;
}

}  // namespace

TEST_CASE("a package's kernels, its calls of LibTorch with all that is inside them, and nothing else") {
  Script script;
  script.at(0).begin("inductor_wrapper_call");
  script.at(1).begin("graph_0_cpp_fused_add_0").at(5).end();
  script.at(6)
      .begin("aoti_torch_cpu_addmm_out")
      .at(7)
      .begin("aten::expand")
      .at(7.5)
      .begin("aten::as_strided")
      .at(8)
      .end();
  script.at(9).end().at(10).begin("aten::copy_").at(12).end().at(20).end();
  script.at(21).begin("graph_0_cpp_fused_sum_1").at(24).end().at(25).end();
  CHECK(told(script.events) ==
        "graph_0_cpp_fused_add_0 4000; aoti_torch_cpu_addmm_out 14000; graph_0_cpp_fused_sum_1 3000; ");
  CHECK(kernels_of(script.events).ranges == 7);
}

TEST_CASE("of operators inside each other the outermost counts, and what holds some is no kernel") {
  Script script;
  script.at(0).begin("forward", true).at(1).begin("my block");
  script.at(2)
      .begin("aten::linear")
      .at(3)
      .begin("aten::t")
      .at(4)
      .end()
      .at(5)
      .begin("aten::addmm")
      .at(9)
      .end()
      .at(10)
      .end();
  script.at(11).begin("aten::relu").at(12).end().at(13).end();
  script.at(14).begin("fused_kernel").at(16).end().at(20).end();
  script.at(21).begin("AddBackward0", true).at(22).end();
  CHECK(told(script.events) == "aten::linear 8000; aten::relu 1000; fused_kernel 2000; ");
}

TEST_CASE("a wrapper that announces nothing is no kernel, whatever it is called") {
  Script script;
  script.at(0).begin("inductor_wrapper_call").at(9).end();
  CHECK(kernels_of(script.events).kernels.empty());
  CHECK(kernels_of({}).ranges == 0);
}

TEST_CASE("what recording costs is taken away, and no time falls below nothing") {
  Script script;
  script.at(0)
      .begin("aten::linear")
      .at(1)
      .begin("aten::t")
      .at(2)
      .end()
      .at(3)
      .begin("aten::addmm")
      .at(8)
      .end()
      .at(9)
      .end();
  script.at(10).begin("aten::relu").at(10.05).end();
  const pace::kernel::RangeCost cost{.inside = 100ns, .all = 300ns};
  CHECK(told(script.events, cost) == "aten::linear 8300; aten::relu 0; ");  // 9000 - 100 - 2 * 300
}

TEST_CASE("ranges that do not pair are an error") {
  using Catch::Matchers::Message;
  CHECK_THROWS_MATCHES(kernels_of(Script().at(1).end().events), pace::Error,
                       Message("ranges of a call: one ended that had not begun; expected each to end once"));
  CHECK_THROWS_MATCHES(kernels_of(Script().begin("aten::mm").events), pace::Error,
                       Message("ranges of a call: 'aten::mm' has not ended; expected each to end once"));
}

TEST_CASE("the number of a graph is no part of a kernel's name") {
  using pace::kernel::is_compiled;
  using pace::kernel::without_graph;
  CHECK(without_graph("graph_12_cpp_fused_add_0") == "cpp_fused_add_0");
  CHECK(without_graph("cpp_fused_add_0") == "cpp_fused_add_0");
  CHECK(without_graph("graph_cpp_fused") == "graph_cpp_fused");
  CHECK(without_graph("graph_7") == "graph_7");
  CHECK(without_graph("graph_") == "graph_");
  CHECK(is_compiled("graph_3_cpp_fused_0"));
  CHECK_FALSE(is_compiled("graph_3_aten::mm"));
}
