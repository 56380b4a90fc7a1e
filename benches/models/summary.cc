// Sums up result files: bazel run //benches/models:summary -- print speedup_aot_inductor.csv
#include <iostream>

#include "benches/models/summary.hpp"
#include "benches/models/user_path.hpp"

int main(int argc, char** argv) {
  return pace::benches::models::summary(argc, argv, std::cout, std::cerr, pace::benches::models::from_where_one_stands);
}
