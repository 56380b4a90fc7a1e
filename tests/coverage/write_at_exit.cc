// A process that ends by _exit(), as those do that tests fork, writes its counters first. Linked with --wrap=_exit.
extern "C" {

void __gcov_dump();
[[noreturn]] void __real__exit(int code);
[[noreturn]] void __real__Exit(int code);

[[noreturn]] void __wrap__exit(int code) {
  __gcov_dump();
  __real__exit(code);
}

[[noreturn]] void __wrap__Exit(int code) {
  __gcov_dump();
  __real__Exit(code);
}

}  // extern "C"
