// Catch2's main, but that all tests skipped is no failure: a machine without a GPU has nothing to say of one.
#include <catch2/catch_session.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  // Catch2's exit code if every test that ran was skipped.
  constexpr int all_skipped = 4;
  const int code = Catch::Session().run(argc, argv);
  if (code == all_skipped) std::printf("skipped: every test of this program needs a GPU\n");
  return code == all_skipped ? 0 : code;
}
