// Checks result files: bazel run //benches/models:check -- accuracy --actual A.csv --expected E.csv
#include <iostream>

#include "benches/models/check.hpp"
#include "benches/models/user_path.hpp"

int main(int argc, char** argv) {
  return pace::benches::models::check(argc, argv, std::cout, std::cerr, pace::benches::models::from_where_one_stands);
}
