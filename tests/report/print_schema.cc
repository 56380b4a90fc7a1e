// Prints the tables of keys for docs/results.md.
#include <iostream>

#include "tests/report/schema_text.hpp"

int main() { std::cout << schema::text(); }
