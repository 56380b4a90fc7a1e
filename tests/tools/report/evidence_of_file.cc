// Prints the evidence that the gates of a results file had after each cycle, for report_test.py. Each expectation of a
// speed-up is a line, an array of [p_above, p_below].
#include <cstddef>
#include <exception>
#include <iostream>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/gate/panel.hpp"
#include "pace/gate/times.hpp"
#include "pace/report/results_file.hpp"

namespace {

void print(const pace::Result& result, const pace::ImplementationResult& baseline,
           const pace::ImplementationResult& row) {
  const std::vector<std::vector<pace::Nanoseconds>> samples{baseline.samples, row.samples};
  const std::size_t rounds = row.context.rounds_per_cycle;
  for (const auto& judgement : row.judgements) {
    if (!judgement.speed) continue;
    const double limit = judgement.speed->limit;
    pace::gate::Panel panel({});
    panel.watch((judgement.speed->guard ? pace::NoSlowerThan(limit) : pace::SpeedupAtLeast(limit)).demand(), 1, 0);
    auto points = nlohmann::json::array();
    for (std::size_t first = 0; first + rounds <= row.samples.size(); first += rounds) {
      panel.add_cycle(samples, first, rounds, result.iterations);
      points.push_back({panel.watched()[0].p_above, panel.watched()[0].p_below});
    }
    std::cout << points.dump() << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto file = pace::report::read_results_file(argc > 1 ? argv[1] : "");
    for (const auto& result : file.results)
      for (const auto& baseline : result.implementations)
        for (const auto& row : result.implementations)
          if (baseline.is_baseline && !row.is_baseline) print(result, baseline, row);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
