/**
 * What a job's command runs in: environment modules, an environment of conda, a virtual environment of
 * Python, or a container. A script of bash goes in front of the command, on every machine where it starts,
 * and ends with `exec`: exit code, signals, input and output, CPUs and folder stay those of the command.
 * Without a command, the script only says whether all this can be had, which clients ask before they submit.
 *
 * With -p, bash passes on exported functions as they are, but does not define them: the script does, for
 * `module`. Its variables begin with tutti__, because those of the job are exported.
 *
 * apptainer and podman are called as their manuals say. bubblewrap makes a root of the entries of a folder.
 * Bound are the job's folders: the working directory, the home, TMPDIR, and Tutti's own of the job, where its
 * script and its host file are. A container of podman stays in the control groups of the job, or its turns
 * and its limits would not hold.
 */

export interface JobEnvironment {
  readonly modules?: readonly string[] | undefined;
  readonly conda?: string | undefined;
  readonly venv?: string | undefined;
  readonly image?: string | undefined;
}

/** Exit code of a command whose environment could not be made: that of a shim that cannot start one. */
export const NO_ENVIRONMENT = 74;
/** Begins the line on standard error that says why. */
export const WHY_PREFIX = "tutti: ";

const SCRIPT = `
tutti__verb=$1 tutti__modules=$2 tutti__conda=$3 tutti__venv=$4 tutti__image=$5
shift 5

fail() {
  printf '${WHY_PREFIX}%s\\n' "$1" >&2
  # The conductor reads the reason there.
  [ "$tutti__verb" = check ] || printf '%s\\n' "$1" 2> /dev/null > "\${TUTTI_HOSTFILE%/*}/lost"
  exit ${NO_ENVIRONMENT}
}

# A path of a #TUTTI line has its ~ still.
whole_path() {
  case $1 in
    "~"/*) printf '%s' "$HOME/\${1#??}" ;;
    /*) printf '%s' "$1" ;;
    *) printf '%s' "$PWD/$1" ;;
  esac
}

find_module() {
  for tutti__name in module _module_raw ml; do
    tutti__text=$(printenv "BASH_FUNC_$tutti__name%%") && eval "$tutti__name $tutti__text"
  done
  declare -F module > /dev/null && return
  if [ -x "$LMOD_CMD" ]; then
    module() { eval "$("$LMOD_CMD" bash "$@")"; }
    return
  fi
  for tutti__file in "$MODULESHOME/init/bash" /etc/profile.d/{modules,lmod,z00_lmod}.sh; do
    [ -r "$tutti__file" ] && . "$tutti__file" && declare -F module > /dev/null && return
  done
  return 1
}

load_modules() {
  find_module || fail "Cannot load modules on $HOSTNAME: there is no command module, expected Environment Modules or Lmod by the function module, LMOD_CMD, MODULESHOME or /etc/profile.d; install one, or leave out --module"
  while [ -n "$tutti__modules" ]; do
    tutti__name=\${tutti__modules%%,*}
    tutti__modules=\${tutti__modules#"$tutti__name"}
    tutti__modules=\${tutti__modules#,}
    module load "$tutti__name" < /dev/null || fail "Cannot load the module \\"$tutti__name\\" on $HOSTNAME: module load has failed, expected a module that module avail lists; name another one with --module"
  done
}

activate_conda() {
  for tutti__exe in "$CONDA_EXE" "$(type -P conda)" "$(type -P mamba)" "$(type -P micromamba)" \\
    "$HOME"/{miniconda3,miniforge3,mambaforge,anaconda3}/bin/conda /opt/conda/bin/conda; do
    [ -x "$tutti__exe" ] && break
    tutti__exe=
  done
  [ -n "$tutti__exe" ] || fail "Cannot activate the conda environment \\"$tutti__conda\\" on $HOSTNAME: there is no conda, expected CONDA_EXE, or conda, mamba or micromamba in the PATH or in the home folder; install one, or leave out --conda"
  case $tutti__conda in "~"/*) tutti__conda=$(whole_path "$tutti__conda") ;; esac
  case $tutti__exe in
    # What the function conda does, which the shell of a job does not have.
    */conda) tutti__text=$("$tutti__exe" shell.posix activate "$tutti__conda" < /dev/null) && eval "$tutti__text" ;;
    *) tutti__text=$("$tutti__exe" shell hook -s bash < /dev/null) && eval "$tutti__text" &&
      "\${tutti__exe##*/}" activate "$tutti__conda" < /dev/null ;;
  esac || fail "Cannot activate the conda environment \\"$tutti__conda\\" on $HOSTNAME: $tutti__exe has refused it, expected a name or path that conda env list has; make it, or name another one with --conda"
}

activate_venv() {
  tutti__venv=$(whole_path "$tutti__venv")
  [ -x "$tutti__venv/bin/python" ] || fail "Cannot use the virtual environment \\"$tutti__venv\\" on $HOSTNAME: it has no bin/python that runs, expected a folder that python3 -m venv has made; make it, or name another one with --venv"
  unset PYTHONHOME
  export VIRTUAL_ENV=$tutti__venv PATH=$tutti__venv/bin\${PATH:+:$PATH}
}

# Sets tutti__with to the program for the image.
find_program() {
  tutti__with=
  for tutti__exe; do
    tutti__with=$(type -P "$tutti__exe") && return
  done
  tutti__text=$*
  fail "Cannot run the image \\"$tutti__image\\" on $HOSTNAME: $1 is not there, expected \${tutti__text// / or } in the PATH; install it, or use another kind of image with --image"
}

# Sets tutti__bound to the folders that the command needs, each once.
bound_folders() {
  tutti__bound=()
  for tutti__folder in "$PWD" "$HOME" "$TMPDIR" "\${TUTTI_HOSTFILE%/*/*}"; do
    [ "$tutti__folder" = / ] || [ ! -d "$tutti__folder" ] || tutti__bound+=("$tutti__folder")
  done
}

in_apptainer() {
  find_program apptainer singularity
  tutti__words=(exec --pwd "$PWD")
  [ -z "$CUDA_VISIBLE_DEVICES" ] || tutti__words+=(--nv)
  [ -z "$ROCR_VISIBLE_DEVICES" ] || tutti__words+=(--rocm)
  for tutti__folder in "\${tutti__bound[@]}"; do tutti__words+=(--bind "$tutti__folder"); done
  tutti__words+=("$tutti__image")
}

in_podman() {
  find_program podman
  # The entry point of an image is for those who name no command.
  tutti__words=(run --rm --interactive --entrypoint= --workdir "$PWD" --cgroups=disabled --log-driver=none)
  tutti__words+=(--network=host --ipc=host --pid=host --ulimit=host --security-opt=label=disable)
  [ "$EUID" = 0 ] || tutti__words+=(--userns=keep-id)
  [ ! -t 0 ] || tutti__words+=(--tty)
  [ -z "$CUDA_VISIBLE_DEVICES" ] || tutti__words+=(--device=nvidia.com/gpu=all)
  [ -z "$ROCR_VISIBLE_DEVICES" ] || tutti__words+=(--device=/dev/kfd --device=/dev/dri --group-add=keep-groups)
  for tutti__folder in "\${tutti__bound[@]}"; do tutti__words+=(--volume "$tutti__folder:$tutti__folder"); done
  # Where programs are, the image says.
  for tutti__name in $(compgen -e); do
    case $tutti__name in PATH | LD_LIBRARY_PATH) ;; *) tutti__words+=(--env "$tutti__name") ;; esac
  done
  tutti__words+=("\${tutti__image#docker://}")
}

in_bubblewrap() {
  find_program bwrap
  # Slurm's word container means a bundle, which has its root in a folder.
  [ ! -d "$tutti__image/rootfs" ] || tutti__image=$tutti__image/rootfs
  tutti__hidden=" dev proc sys "
  # Nothing can be made in what is only to be read: such a folder gives way to what is bound in it.
  for tutti__folder in "\${tutti__bound[@]}"; do
    tutti__name=\${tutti__folder#/}
    [ -d "$tutti__image$tutti__folder" ] || tutti__hidden+="\${tutti__name%%/*} "
  done
  tutti__words=()
  for tutti__file in "$tutti__image"/*; do
    tutti__name=\${tutti__file##*/}
    case $tutti__hidden in *" $tutti__name "*) continue ;; esac
    if [ -L "$tutti__file" ]; then tutti__words+=(--symlink "$(readlink "$tutti__file")" "/$tutti__name")
    else tutti__words+=(--ro-bind "$tutti__file" "/$tutti__name"); fi
  done
  tutti__words+=(--dev-bind /dev /dev --proc /proc --ro-bind /sys /sys)
  for tutti__name in tmp run; do
    case $tutti__hidden in *" $tutti__name "*) ;; *) tutti__words+=(--tmpfs "/$tutti__name") ;; esac
  done
  for tutti__folder in "\${tutti__bound[@]}"; do tutti__words+=(--bind "$tutti__folder" "$tutti__folder"); done
  tutti__words+=(--chdir "$PWD" --)
}

# Sets tutti__with and tutti__words to what goes before the command.
in_image() {
  bound_folders
  case $tutti__image in
    docker://*)
      if type -P apptainer singularity > /dev/null || ! type -P podman > /dev/null; then in_apptainer; else in_podman; fi
      return ;;
    *://*) in_apptainer; return ;;
  esac
  tutti__file=$(whole_path "$tutti__image")
  if [ -e "$tutti__file" ]; then
    tutti__image=$tutti__file
    if [ ! -d "$tutti__file" ]; then in_apptainer
    elif ! type -P bwrap > /dev/null && type -P apptainer singularity > /dev/null; then in_apptainer
    else in_bubblewrap; fi
    return
  fi
  case $tutti__image in
    /* | "~"/* | ./* | ../* | *.sif)
      fail "Cannot run the image \\"$tutti__image\\" on $HOSTNAME: there is no such file or folder, expected a .sif file, a folder with a root file system, an address such as docker://debian, or a name for podman; name another one with --image" ;;
  esac
  in_podman
}

[ -z "$tutti__modules" ] || load_modules
[ -z "$tutti__conda" ] || activate_conda
[ -z "$tutti__venv" ] || activate_venv
[ -z "$tutti__image" ] || in_image
[ "$tutti__verb" = start ] || exit 0
[ -z "$tutti__image" ] || exec -- "$tutti__with" "\${tutti__words[@]}" "$@"
type -P -- "$1" > /dev/null || fail "Cannot run \\"$1\\": no such command, expected a program in the job's PATH or a path to one"
# As at the submit: bash sets it where it was not.
grep -qzs ^SHLVL= /proc/$$/environ || set -- env -u SHLVL -- "$@"
exec -- "$@"
`;

/**
 * What goes in front of a command that is to run in this; nothing if it asks for nothing.
 * @param verb check: no command follows, and the script ends with `NO_ENVIRONMENT` if it cannot be had
 */
export function environmentWords(of: JobEnvironment, verb: "start" | "check" = "start"): readonly string[] {
  const { modules = [], conda = "", venv = "", image = "" } = of;
  if (modules.length === 0 && conda === "" && venv === "" && image === "") return [];
  return ["bash", "--norc", "-p", "-c", SCRIPT, "tutti", verb, modules.join(","), conda, venv, image];
}
