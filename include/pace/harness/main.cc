// The main function that pace_test and pace_binary link.
#include "pace/harness/compiled_main.hpp"

int main(int argc, char** argv) { return pace::harness::compiled_main(argc, argv); }
