# Finds the headers that a source reaches by its includes. Prints the path of the first header compiled ahead whose
# includes are all among them, if there is one. Writes the offered headers that are not among them into the file
# `unused`, for Bazel.
#
#   awk -v source=FILE -v unused=FILE -f closure.awk PARAMETERS
#
# PARAMETERS, one a line: `-I` and after it a folder that includes are looked for in; --input=HEADER, one that may be
# reached; --precompiled=INCLUDE[,INCLUDE...]=HEADER. Conditions around an include are not looked at: pace's own are
# about CUDA, whose headers are among the offered ones where it is.

previous == "-I" { folders[++folder_count] = $0 == "." ? "" : $0 "/" }
/^--input=/ { offered[substr($0, 9)] }
/^--precompiled=/ { split($0, parts, "="); includes_of[++ahead_count] = parts[2]; path_of[ahead_count] = parts[3] }
{ previous = $0 }

function visit(file,    line, folder, i, names, count) {
  if (file in used) return
  used[file]
  while ((getline line < file) > 0)
    if (match(line, /^#include [<"][^>"]+/)) names[++count] = substr(line, RSTART + 10, RLENGTH - 10)
  close(file)
  folder = file
  sub(/[^\/]*$/, "", folder)
  for (i = 1; i <= count; i++) find(names[i], folder)
}

# The file's own folder comes first, as for the compiler.
function find(name, folder,    i) {
  reached[name]
  if ((folder name) in offered) return visit(folder name)
  for (i = 1; i <= folder_count; i++)
    if ((folders[i] name) in offered) return visit(folders[i] name)
}

function reaches_all(includes,    names, count, i) {
  count = split(includes, names, ",")
  for (i = 1; i <= count; i++) if (!(names[i] in reached)) return 0
  return 1
}

# The first header after the N-th that may be put first; 0 if there is none.
function next_ahead(n) {
  while (++n <= ahead_count) if (reaches_all(includes_of[n])) return n
  return 0
}

END {
  visit(source)
  printf "" > unused
  for (file in offered) if (!(file in used)) print file > unused

  chosen = next_ahead(0)
  if (chosen) print path_of[chosen]
  # Each header was itself compiled after the next one in the list that it reaches.
  while (chosen) {
    kept[chosen]
    delete used
    delete reached
    count = split(includes_of[chosen], names, ",")
    for (i = 1; i <= count; i++) find(names[i], "")
    chosen = next_ahead(chosen)
  }
  for (i = 1; i <= ahead_count; i++) if (!(i in kept)) print path_of[i] > unused
}
