// The main function that pace_test and pace_binary link.
#include "pace/runner/session.hpp"

int main(int argc, char** argv) { return pace::runner::main(argc, argv); }
