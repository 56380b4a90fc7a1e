// A test with a shared library of its own.
int answer();

int main() { return answer() == 42 ? 0 : 1; }
