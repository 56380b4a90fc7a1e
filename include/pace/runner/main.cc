// The main function that pace_test and pace_binary link.
#include "pace/os/exit_guard.hpp"
#include "pace/runner/current_directory.hpp"
#include "pace/runner/session.hpp"

int main(int argc, char** argv) {
  const int code = pace::runner::main(argc, argv);
  // Destructors of thread-local objects run before all handlers of exit().
  if (code != 0) pace::detail::end_failed(code);
  return code;
}
