// The main function that pace_test and pace_binary link.
#include "pace/runner/compiled_main.hpp"

int main(int argc, char** argv) { return pace::runner::compiled_main(argc, argv); }
