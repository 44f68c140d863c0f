// Runs a program as a shell would, and keeps what it wrote and how it ended.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace allot::testing {

struct Finished {
  int status = -1;  ///< exit status, or 128 + the signal that ended it
  std::string out;
  std::string err;
};

/// One program to run. Set it up, then `run`, or `start`, do something and `finish`.
class Process {
 public:
  explicit Process(std::vector<std::string> words) : words_(std::move(words)) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  Process& input(std::string text) {
    input_ = std::move(text);
    return *this;
  }
  Process& environment(std::string name, std::string value) {
    environment_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  /// Standard output goes to this file instead, such as /dev/full.
  Process& output_to(std::string path) {
    output_path_ = std::move(path);
    return *this;
  }
  /// Standard output is closed from the beginning.
  Process& output_closed() {
    output_closed_ = true;
    return *this;
  }
  /// Standard output is a pipe that nobody reads.
  Process& output_unread() {
    output_unread_ = true;
    return *this;
  }
  /// Standard output and error are a terminal of so many columns.
  Process& on_terminal(unsigned short columns) {
    terminal_columns_ = columns;
    return *this;
  }

  Finished run() {
    start();
    return finish();
  }

  void start() {
    ::signal(SIGPIPE, SIG_IGN);
    const auto in = make_pipe();
    auto out = make_pipe();
    const auto err = make_pipe();
    if (terminal_columns_ > 0) {
      winsize size{};
      size.ws_col = terminal_columns_;
      size.ws_row = 50;
      ::close(out[0]);
      ::close(out[1]);
      if (::openpty(&out[0], &out[1], nullptr, nullptr, &size) != 0) throw std::runtime_error("openpty");
    }
    if (output_unread_) ::close(std::exchange(out[0], -1));
    std::vector<char*> arguments;
    for (std::string& word : words_) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      ::signal(SIGPIPE, SIG_DFL);
      ::unsetenv("NO_COLOR");
      for (const auto& [name, value] : environment_) ::setenv(name.c_str(), value.c_str(), 1);
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(output_path_.empty() ? out[1] : ::open(output_path_.c_str(), O_WRONLY), STDOUT_FILENO);
      ::dup2(terminal_columns_ > 0 ? out[1] : err[1], STDERR_FILENO);
      if (output_closed_) ::close(STDOUT_FILENO);
      for (const int file : {in[0], in[1], out[0], out[1], err[0], err[1]}) {
        if (file > STDERR_FILENO) ::close(file);
      }
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    ::close(err[1]);
    in_ = in[1];
    out_ = out[0];
    err_ = err[0];
  }

  void send(int signal) const { ::kill(pid_, signal); }

  /// Whether it has not ended yet.
  bool running() const {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == 0;
  }

  Finished finish() {
    Finished result;
    // Inputs of the tests fit a pipe, so writing all of it first cannot block for ever.
    for (std::size_t at = 0; at < input_.size();) {
      const ssize_t written = ::write(in_, input_.data() + at, input_.size() - at);
      if (written <= 0) break;
      at += static_cast<std::size_t>(written);
    }
    ::close(in_);
    drain(result);
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
  }

 private:
  static std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    return ends;
  }

  void drain(Finished& result) const {
    std::array<pollfd, 2> files = {{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    std::array<std::string*, 2> texts = {&result.out, &result.err};
    int open = (out_ >= 0 ? 1 : 0) + 1;
    while (open > 0 && ::poll(files.data(), files.size(), -1) > 0) {
      for (std::size_t at = 0; at < files.size(); ++at) {
        if (files[at].fd < 0 || files[at].revents == 0) continue;
        std::array<char, 4096> buffer{};
        const ssize_t count = ::read(files[at].fd, buffer.data(), buffer.size());
        if (count > 0) {
          texts[at]->append(buffer.data(), static_cast<std::size_t>(count));
          continue;
        }
        ::close(files[at].fd);
        files[at].fd = -1;
        --open;
      }
    }
  }

  std::vector<std::string> words_;
  std::vector<std::pair<std::string, std::string>> environment_;
  std::string input_;
  std::string output_path_;
  bool output_closed_ = false;
  bool output_unread_ = false;
  unsigned short terminal_columns_ = 0;
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
};

/// The built command with these arguments.
inline std::vector<std::string> allot_words(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ALLOT_COMMAND);
  return arguments;
}

inline Finished run_allot(std::vector<std::string> arguments) {
  return Process(allot_words(std::move(arguments))).run();
}

}  // namespace allot::testing
