// SPDX-License-Identifier: Apache-2.0
// The program's arrangement with the system: signals and standard streams. Needs POSIX.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace wyrm::apps {

/// The exit status after SIGINT, SIGTERM or SIGHUP.
inline constexpr int interrupted_status = 130;

/// main calls this first, when the process has one thread.
///
/// SIGINT, SIGTERM and SIGHUP remove the temporary files of all output files, and end the program with
/// interrupted_status; a signal that is ignored when the program starts stays ignored. Writing to a closed pipe, or
/// beyond the limit of the size of a file, fails instead of ending the program. A standard stream that is closed when
/// the program starts fails when it is used; no file that the program opens gets its number.
void set_up_process();

/// From now on the first signal makes interrupted() true and has no other effect; the second one ends the program.
/// Signals within 200 ms of the first count as one with it.
void finish_when_interrupted();

/// Whether there was a signal since finish_when_interrupted().
[[nodiscard]] bool interrupted();

/// From now on SIGUSR1 prints a line with status() to standard error; an empty function ends that, and waits until a
/// call of the last one has returned. status() runs in the thread of signals. While there is none, SIGUSR1 prints that
/// there is no status.
void set_status(std::function<std::string()> status);

/// A descriptor that poll() reports as readable once interrupted() is true. Nothing may be read from it.
[[nodiscard]] int interruption();

/// A signal that ends this program ends this child process, too, until a call with 0. There is one at a time.
void end_with_program(pid_t child);

/// To be called after a signal has ended a child process: the same signal may be about to end this program. Then does
/// not return.
void await_end_after_signal();

}  // namespace wyrm::apps
