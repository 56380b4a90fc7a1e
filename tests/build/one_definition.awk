# Types that are defined in several files under one qualified name: where two of them meet in one program, the linker
# keeps the functions of one and uses them for both, without a word.
#
#   awk -f one_definition.awk FILE...
#
# Reads classes, structs, unions and enumerations at namespace scope. Anonymous namespaces, specialisations and
# declarations without a body have no part in it, nor have two definitions in one file, which the compiler sees. Prints
# each such name with its places, and ends with 1 if there is one.

BEGIN { files = 0 }

FNR == 1 {
  if (depth != 0 && files > 0) { print previous ": braces do not match"; bad = 1 }
  depth = 0; words = 0; comment = 0; raw = ""; continued = 0; previous = FILENAME; ++files
}

{ read_line($0) }

function read_line(line,   c, rest, found) {
  # Directives, with the lines that continue them.
  if (!comment && raw == "" && (continued || line ~ /^[ \t]*#/)) { continued = line ~ /\\$/; return }
  while (line != "") {
    if (raw != "") {
      found = index(line, raw)
      if (!found) return
      line = substr(line, found + length(raw)); raw = ""
      continue
    }
    if (comment) {
      found = index(line, "*/")
      if (!found) return
      line = substr(line, found + 2); comment = 0
      continue
    }
    if (match(line, /^[ \t\r]+/)) { line = substr(line, RLENGTH + 1); continue }
    if (match(line, /^\/\//)) return
    if (match(line, /^\/\*/)) { comment = 1; line = substr(line, 3); continue }
    if (match(line, /^(u8|u|U|L)?R"[^(]*\(/)) {
      rest = substr(line, 1, RLENGTH)
      line = substr(line, RLENGTH + 1)
      rest = substr(rest, index(rest, "\"") + 1)
      raw = ")" substr(rest, 1, length(rest) - 1) "\""
      add("\"\"")
      continue
    }
    if (match(line, /^"([^"\\]|\\.)*"/)) { line = substr(line, RLENGTH + 1); add("\"\""); continue }
    if (match(line, /^'([^'\\]|\\.)*'/)) { line = substr(line, RLENGTH + 1); add("0"); continue }
    # Digits with their separators, which are no quotes.
    if (match(line, /^[0-9]([0-9A-Za-z_.]|'[0-9A-Za-z])*/)) { line = substr(line, RLENGTH + 1); add("0"); continue }
    if (match(line, /^[A-Za-z_][A-Za-z_0-9]*/)) { c = substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 1); add(c); continue }
    if (substr(line, 1, 2) == "::") { add("::"); line = substr(line, 3); continue }
    c = substr(line, 1, 1); line = substr(line, 2)
    if (c == "{") open()
    else if (c == "}") close_scope()
    else if (c == ";") words = 0
    else add(c)
  }
}

function add(word) { word_of[++words] = word }

# Every scope has a name of its own: the text that it adds to qualified names, "?" in an anonymous namespace, "-" in
# anything else.
function open(   i, name) {
  name = "-"
  i = 1
  if (word_of[i] == "inline") ++i
  if (words >= i && word_of[i] == "namespace") {
    name = ""
    for (++i; i <= words; ++i) name = name word_of[i]
    if (name == "") name = "?"
  } else if (words == 2 && word_of[1] == "extern") {
    name = "+"
  } else if (at_namespace_scope()) {
    note_type()
  }
  scope[++depth] = name
  words = 0
}

function close_scope() { if (depth > 0) --depth; words = 0 }

function at_namespace_scope(   i) {
  for (i = 1; i <= depth; ++i) if (scope[i] == "-" || scope[i] == "?") return 0
  return 1
}

# Returns the end of the parenthesis that begins at word i, such as the parenthesis of a constraint.
function behind_parentheses(i,   inner) {
  for (inner = 0; i <= words; ++i) {
    if (word_of[i] == "(") ++inner
    if (word_of[i] == ")" && --inner == 0) return i
  }
  return i
}

function note_type(   i, angle, name, key) {
  angle = 0
  for (i = 1; i <= words; ++i) {
    if (word_of[i] == "<") ++angle
    else if (word_of[i] == ">") { if (angle > 0) --angle }
    else if (word_of[i] == "(" && word_of[i - 1] ~ /^(requires|&|[|]|!)$/) i = behind_parentheses(i)
    else if (angle == 0 && (word_of[i] == "=" || word_of[i] == "(")) return
    else if (angle == 0 && word_of[i] ~ /^(struct|class|union|enum)$/) break
  }
  if (i > words) return
  for (++i; i <= words; ++i) {
    if (word_of[i] == "class" || word_of[i] == "struct") continue
    if (word_of[i] == "[") { while (i <= words && word_of[i] != "]") ++i; if (word_of[i + 1] == "]") ++i; continue }
    if (word_of[i] == "alignas") { while (i <= words && word_of[i] != ")") ++i; continue }
    break
  }
  name = ""
  for (; i <= words && (word_of[i] ~ /^[A-Za-z_]/ || word_of[i] == "::"); ++i) {
    if (word_of[i] == "final") break
    name = name word_of[i]
  }
  # Nothing, bases, or "final" may follow a name; "<" makes a specialisation, "(" a function that returns a type.
  if (name == "" || (i <= words && word_of[i] != ":" && word_of[i] != "final")) return
  key = ""
  for (i = 1; i <= depth; ++i) if (scope[i] != "+") key = key scope[i] "::"
  key = key name
  if (index(where[key] " ", " " FILENAME ":")) return
  if (where[key] == "") order[++keys] = key
  where[key] = where[key] " " FILENAME ":" FNR
  ++count[key]
}

END {
  if (depth != 0) { print previous ": braces do not match"; bad = 1 }
  if (keys == 0) { print "no types were found"; bad = 1 }
  for (i = 1; i <= keys; ++i)
    if (count[order[i]] > 1) { print order[i] " is defined in" where[order[i]]; bad = 1 }
  exit bad
}
