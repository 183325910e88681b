# What login shells of a cluster set up: Lmod's function, exported as Lmod exports it, and the site's programs.
# The .bash_profile that reads this file has set SITE_TOOLS.
export SITE_TOOLS
export PATH="$SITE_TOOLS/bin:$PATH" LMOD_CMD="$SITE_TOOLS/bin/lmod"
module() { eval "$("$LMOD_CMD" bash "$@")"; }
ml() { if [ $# = 0 ]; then module list; else module load "$@"; fi; }
export -f module ml
# Open MPI in containers and on few cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
