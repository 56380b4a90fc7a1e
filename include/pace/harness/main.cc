// The main function that pace_test and pace_binary link.
#include "pace/harness/session.hpp"

int main(int argc, char** argv) { return pace::harness::main(argc, argv); }
