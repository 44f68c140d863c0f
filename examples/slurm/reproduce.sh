#!/bin/sh
# Runs `allot-mpi reproduce` on the cores that Slurm gives, and goes on where it was when it is submitted again.
#
#   sbatch examples/slurm/reproduce.sh                       # all figures, into $SLURM_SUBMIT_DIR/out/reproduce
#   sbatch examples/slurm/reproduce.sh --figure 2 --runs 60  # what follows is given to `allot-mpi reproduce`
#   sbatch --ntasks=64 --time=00:10:00 examples/slurm/reproduce.sh
#
#SBATCH --job-name=allot-reproduce
#SBATCH --ntasks=16
#SBATCH --cpus-per-task=1
#SBATCH --time=00:30:00
#SBATCH --output=allot-%j.log
# A job that is taken off its node or lost with it is queued again, and goes on from the store.
#SBATCH --requeue
# Output goes to the end of the same file then.
#SBATCH --open-mode=append
set -eu

# Where the program is, unless it is in the PATH; and a folder that the first node sees, such as your home.
allot_mpi=${ALLOT_MPI:-allot-mpi}
out=${ALLOT_OUT:-out/reproduce}

# mpirun asks Slurm which nodes there are and how many ranks each takes.
exec mpirun "$allot_mpi" reproduce --out "$out" "$@"
