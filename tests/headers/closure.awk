# What a source reaches by its includes. Prints the path of the first precompiled header whose one include is among it,
# if any is, and writes the headers that were offered and are not among it into the file `unused`, for Bazel.
#
#   awk -v source=FILE -v unused=FILE -f closure.awk PARAMETERS
#
# PARAMETERS, one a line: `-I` and after it a folder that includes are looked for in; --input=HEADER, one that may be
# reached; --precompiled=INCLUDE=HEADER. Conditions around an include are not looked at: pace's own are about CUDA, whose
# headers are among the offered ones where it is.

previous == "-I" { folders[++folder_count] = $0 }
/^--input=/ { offered[substr($0, 9)] }
/^--precompiled=/ { split($0, parts, "="); ahead[++ahead_count] = parts[2]; path_of[parts[2]] = parts[3] }
{ previous = $0 }

function visit(file,    line, name, i, names, count) {
  used[file]
  while ((getline line < file) > 0)
    if (match(line, /^#include [<"][^>"]+/)) names[++count] = substr(line, RSTART + 10, RLENGTH - 10)
  close(file)
  for (i = 1; i <= count; i++) find(names[i])
}

function find(name,    i, file) {
  if (name in reached) return
  reached[name]
  for (i = 1; i <= folder_count; i++) {
    file = folders[i] "/" name
    if (file in offered) {
      visit(file)
      return
    }
  }
}

END {
  visit(source)
  printf "" > unused
  for (file in offered) if (!(file in used)) print file > unused
  for (i = 1; i <= ahead_count; i++)
    if (ahead[i] in reached) {
      print path_of[ahead[i]]
      exit
    }
}
