// allot-mpi: `allot reproduce` and `allot sweep` on the ranks of an MPI job, as in `mpirun -n 8 allot-mpi
// reproduce`.
//
// Every rank runs the same command; rank 0 prints and keeps the store, the others compute silently.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "apps/allot/app.hpp"
#include "integrations/mpi/ranks.hpp"

int main(int argc, char** argv) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED) {
    std::fputs("error: this MPI cannot run beside threads\n", stderr);
    return 1;
  }
  // mpirun gives rank 0 its own terminal, wherever the output finally goes.
  ::setenv("NO_COLOR", "1", 0);
  allot::app::Console console;
  const bool in_charge = allot::mpi::rank() == 0;
  if (!in_charge) console.mute();
  const allot::app::Exit status = allot::app::run(argc, argv, console);
  if (in_charge) {
    allot::mpi::release_ranks();
  } else {
    allot::mpi::report_unfit(console.unsaid());
  }
  MPI_Finalize();
  // One status for the job: that of rank 0.
  return in_charge ? static_cast<int>(status) : 0;
}
