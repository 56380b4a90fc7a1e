// Compiled by remote_test.sh alone, and so by the remote engine, for each run of it anew (RUN).
#ifndef RUN
#define RUN 0
#endif

int main() { return RUN < 0; }
