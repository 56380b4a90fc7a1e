"""How pace's own sources are compiled."""

# GCC collects garbage whenever its heap has doubled. For a file with LibTorch's headers that takes a quarter of the
# time and frees next to nothing, so below 1 GiB it need not. Other compilers ignore it.
LANGUAGE = ["-std=c++20", "--param=ggc-min-heapsize=1048576"]

# The code around the measured code: optimised, but more than this gains nothing, as the time is LibTorch's.
# This is for code that other workspaces build, too: their compiler may warn of more.
SURROUNDINGS_ANYWHERE = LANGUAGE + ["-O1"]

SURROUNDINGS = SURROUNDINGS_ANYWHERE + ["-Wall", "-Wextra", "-Werror"]

# The code that the library compiles once: it calls the measured code, but is no part of it. -O2 takes 1.3 times as
# long.
COMPILED = LANGUAGE + ["-O1"]
