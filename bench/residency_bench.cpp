// SPDX-License-Identifier: Apache-2.0
// Programs that share a device by a residency manager: the experiments of "GDM: Device Memory Management for GPGPU
// Computing" (SIGMETRICS 2014, section 6) with programs of the same patterns (residency/). Cases, by name:
//
//   alone/SPACE/plain/PROGRAM          in plain device memory: the times that all others are compared with
//   alone/SPACE/POLICY/PROGRAM         by the manager; of_plain: the time relative to plain device memory, and
//                                      kernels_of_plain: that of the kernels alone
//   half/SPACE/POLICY/PROGRAM          with a budget of half of what the program has at the same time
//   pair/SPACE/plain|POLICY/A+B        beside each other (Fig. 8 and 9); contended: 1 where the two need more than
//                                      there is
//   leak/SPACE/plain|POLICY/iteration:I  theano (Fig. 7): a case for each iteration; allocable_mib
//   beside_leak/SPACE/POLICY/PROGRAM   beside theano, which is repeated until the program is done
//   attack/SPACE/POLICY/PROGRAM        beside a program that takes all memory and rewrites it for ever (section 6.5)
//   mean/SPACE/POLICY/...              means of the cases before, as the paper gives them
//
// What does not fit into plain device memory, or with gdm-base, is reported as `does not fit`, and has no time.
//
// POLICY is lru-cost, lru, or gdm-base. With gdm-base, launches load all data of the program, instead of what they
// touch, and wait for them (not in half/, where a program does not fit). With the others, they use in place what does
// not fit.
//
// Times are wall-clock times of whole programs, from the first transfer to the last, medians of the repetitions; a run
// that is not timed comes first. Figures: throughput (of a pair): the weighted speedup, solo_i / combo_i summed, where
// solo is the time in plain device memory; in_mib, out_mib: moved to and from the device; evictions; compared_s: time
// of signatures; efficiency: the work efficiency of the paper, (a x + b y) / c, with kernels in c as they were alone,
// so that moves and signatures are the overhead; efficiency_of_spans: the same with the kernels in c as they were,
// which counts the time twice in which kernels of both programs share the device. The times a and b are those of runs
// alone with lazy transfers, except with gdm-base, because transfers are lazy while programs compete.
//
// The results of all programs are checked: against a serial program at a small size, and against the result in plain
// device memory at the size of the benchmark.
//
//   residency_bench [--size MIB] [--repeat N] [--only TEXT] [--quick] [--space cpu|cuda] [--json FILE]
//
// --size: the device memory, 1,400 MiB on a GPU as in the paper, and 28 on a CPU, to which programs and blocks are
// scaled. --quick: an eighth of that, and one repetition. --only: cases whose names contain the text.
#include <cmath>
#include <cstdio>
#include <map>
#include <new>
#include <string>
#include <string_view>

#include "../exec/device.hpp"
#include "residency/co_run.hpp"
#include "residency/report.hpp"
#include "residency/settings.hpp"

namespace wyrm::bench::gdm {

namespace {

[[nodiscard]] double mean(std::vector<double> const& x) {
  double sum = 0;
  for (double const value : x) sum += value;
  return x.empty() ? 0 : sum / static_cast<double>(x.size());
}

void add_moves(figures& all, residency::statistics const& s, double runs) {
  all.emplace_back("in_mib", mib_of(s.moved_in_bytes) / runs);
  all.emplace_back("out_mib", mib_of(s.moved_out_bytes) / runs);
  all.emplace_back("reloaded_mib", mib_of(s.reloaded_bytes) / runs);
  all.emplace_back("clean_evictions", static_cast<double>(s.clean_evictions) / runs);
  all.emplace_back("dirty_evictions", static_cast<double>(s.dirty_evictions) / runs);
  all.emplace_back("moves_s", s.move_seconds / runs);
  all.emplace_back("compared_s", s.signature_seconds / runs);
}

/// What a run of a program takes alone by a manager.
struct alone {
  double kernel_seconds;
  double gpu_seconds;  // with moves and transfers, which go to host memory first if they do so in pairs
};

template <class Space>
class experiments {
 public:
  experiments(std::array<Space, 3> const& spaces, settings const& s, report& to)
      : spaces_(spaces),
        repeats_(s.repeats),
        device_(s.mib << 20),
        block_(block_bytes_for(spaces[0], device_)),
        to_(to) {
    to_.about("device_memory_mib", std::to_string(s.mib));
    to_.about("block_bytes", std::to_string(block_));
    to_.about("repeats", std::to_string(repeats_));
  }

  void run() {
    for (table_entry const& e : paper_programs) attempt("alone", "plain", e.name, [&] { (void)plain(e); });
    for (char const* const policy : residency::policy_names) {
      std::string const p = policy;
      for (table_entry const& e : paper_programs) {
        attempt("alone", p, e.name, [&] { (void)by_manager(p, e); });
        attempt("half", p, e.name, [&] { half(p, e); });
      }
      for_each_pair([&](table_entry const& a, table_entry const& b, std::string const& both) {
        attempt("pair", p, both, [&] { pair(p, a, b, both); });
      });
      for (table_entry const& e : paper_programs) attempt("attack", p, e.name, [&] { under_attack(p, e); });
      for (table_entry const& e : paper_programs) attempt("beside_leak", p, e.name, [&] { beside_leak(p, e); });
      devices_.erase(p);  // its memory
      lazy_.reset();
    }
    for_each_pair([&](table_entry const& a, table_entry const& b, std::string const& both) {
      attempt("pair", "plain", both, [&] { plain_pair(a, b, both); });
    });
    for (std::string const p : {"plain", "lru-cost", "lru", "gdm-base"})
      attempt("leak", p, "iteration:", [&] { leaking(p); });
    summarize();
  }

 private:
  [[nodiscard]] std::string name_of(char const* what, std::string const& policy, std::string_view which) const {
    return std::string(what) + "/" + Space::name + "/" + policy + "/" + std::string(which);
  }
  /// f() measures a case. A pair in plain device memory, and a launch that loads all data of its program, may not fit.
  template <class F>
  void attempt(char const* what, std::string const& policy, std::string_view which, F const& f) {
    std::string const name = name_of(what, policy, which);
    if (!to_.selects(name)) return;
    try {
      f();
    } catch (error const& failed) {
      bool const may_not_fit = policy == "plain" ? std::string_view(what) == "pair" : is_base(policy);
      if (failed.code() == error_code::out_of_memory && may_not_fit)
        std::printf("%-52s does not fit: %s\n", name.c_str(), failed.what());
      else
        to_.add_failure(name, failed.what());
    } catch (std::exception const& failed) {
      to_.add_failure(name, failed.what());
    }
  }

  /// f(a, b, "A+B")
  template <class F>
  static void for_each_pair(F const& f) {
    for (std::size_t i = 0; i < paper_programs.size(); ++i)
      for (std::size_t j = i + 1; j < paper_programs.size(); ++j) {
        table_entry const& a = paper_programs[i];
        table_entry const& b = paper_programs[j];
        f(a, b, std::string(a.name) + "+" + std::string(b.name));
      }
  }

  /// The program, whose result is checked at a small size. Made once.
  named_program<Space> const& program(table_entry const& e) {
    auto const at = programs_.find(e.name);
    if (at != programs_.end()) return at->second;
    std::string const name(e.name);
    {
      auto const small = make_program<Space>(e.name, std::size_t{128} << 10);
      plain_memory<Space> memory(spaces_[0], device_);
      small->run(memory);
      require_right(name + " at a small size", small->checksum(), small->expected());
    }
    named_program<Space> made{name, make_program<Space>(e.name, scaled(e.allocated, device_)), 0};
    plain_memory<Space> memory(spaces_[0], device_);
    made.program->run(memory);
    made.correct = made.program->checksum();
    return programs_.emplace(e.name, std::move(made)).first->second;
  }
  [[nodiscard]] static bool is_base(std::string const& policy) { return policy == residency::gdm_base::name; }
  [[nodiscard]] shared_device<Space>& device_of(std::string const& policy) {
    auto& kept = devices_[policy];
    if (!kept)
      kept = std::make_unique<shared_device<Space>>(spaces_, policy, device_, block_, moving{!is_base(policy), false});
    return *kept;
  }

  /// Seconds in plain device memory. Measured and reported once.
  double plain(table_entry const& e) {
    if (auto const at = plain_.find(e.name); at != plain_.end()) return at->second;
    named_program<Space> const& p = program(e);
    plain_memory<Space> memory(spaces_[0], device_);
    double const seconds = median(run_alone(memory, p, repeats_));
    double const kernels = memory.kernel_seconds() / (repeats_ + 1);
    to_.add(name_of("alone", "plain", e.name), seconds,
            {{"kernels_s", kernels}, {"footprint_mib", mib_of(scaled(e.footprint, device_))}});
    plain_kernels_[e.name] = kernels;
    return plain_[e.name] = seconds;
  }
  alone const& by_manager(std::string const& policy, table_entry const& e) {
    auto const key = std::pair(policy, std::string(e.name));
    if (auto const at = alone_.find(key); at != alone_.end()) return at->second;
    double const reference = plain(e);
    auto const [seconds, moved] = measure(device_of(policy), e);
    double const runs = repeats_ + 1;
    double const kernels = moved.launch_seconds / runs;
    figures all{{"of_plain", seconds / reference},
                {"kernels_of_plain", kernels / plain_kernels_[e.name]},
                {"kernels_s", kernels}};
    add_moves(all, moved, runs);
    to_.add(name_of("alone", policy, e.name), seconds, all);
    of_plain_[policy].push_back(seconds / reference);
    kernels_of_plain_[policy].push_back(kernels / plain_kernels_[e.name]);
    double gpu_seconds = (moved.launch_seconds + moved.move_seconds) / runs;
    if (!is_base(policy)) {
      if (!lazy_) lazy_ = std::make_unique<shared_device<Space>>(spaces_, policy, device_, block_, moving{true, true});
      residency::statistics const lazily = measure(*lazy_, e).second;
      gpu_seconds = (lazily.launch_seconds + lazily.move_seconds) / runs;
    }
    return alone_[key] = {kernels, gpu_seconds};
  }
  std::pair<double, residency::statistics> measure(shared_device<Space>& device, table_entry const& e) {
    residency::statistics const before = device.counters();
    double seconds = 0;
    {
      auto client = device.make_client(0);
      managed_memory<Space> memory = device.memory_of(client, 0);
      seconds = median(run_alone(memory, program(e), repeats_));
    }
    return {seconds, difference(device.counters(), before)};
  }
  void half(std::string const& policy, table_entry const& e) {
    double const reference = plain(e);
    std::size_t const budget = std::max(scaled(e.footprint, device_) / 2 / block_, std::size_t{1}) * block_;
    shared_device<Space> device(spaces_, policy, budget, block_);
    auto const [seconds, moved] = measure(device, e);
    figures all{{"of_plain", seconds / reference}, {"budget_mib", mib_of(budget)}};
    add_moves(all, moved, repeats_ + 1);
    to_.add(name_of("half", policy, e.name), seconds, all);
  }
  void pair(std::string const& policy, table_entry const& a, table_entry const& b, std::string const& both) {
    alone const& of_a = by_manager(policy, a);
    alone const& of_b = by_manager(policy, b);
    combo const c = run_pair(device_of(policy), program(a), program(b), repeats_);
    double const speedup = speedup_of(c, a, b);
    std::array const work{work_done{c.repetitions[0], of_a.gpu_seconds}, work_done{c.repetitions[1], of_b.gpu_seconds}};
    double const overhead = c.moved.move_seconds + c.moved.signature_seconds;
    double const kernels = c.repetitions[0] * of_a.kernel_seconds + c.repetitions[1] * of_b.kernel_seconds;
    double const efficiency = work_efficiency(work, kernels + overhead);
    figures all{{"throughput", speedup},
                {"efficiency", efficiency},
                {"efficiency_of_spans", work_efficiency(work, c.moved.launch_seconds + overhead)},
                {"contended", contend(a, b) ? 1.0 : 0.0}};
    add_runs(all, c, a, b);
    add_moves(all, c.moved, 1);
    to_.add(name_of("pair", policy, both), c.wall_seconds, all);
    if (!contend(a, b)) return;
    throughput_[policy][both] = speedup;
    efficiency_[policy].push_back(efficiency);
  }
  void plain_pair(table_entry const& a, table_entry const& b, std::string const& both) {
    (void)plain(a);
    (void)plain(b);
    plain_device<Space> device(spaces_, device_);
    combo const c = run_pair(device, program(a), program(b), repeats_);
    figures all{{"throughput", speedup_of(c, a, b)}, {"contended", contend(a, b) ? 1.0 : 0.0}};
    add_runs(all, c, a, b);
    to_.add(name_of("pair", "plain", both), c.wall_seconds, all);
  }
  [[nodiscard]] double speedup_of(combo const& c, table_entry const& a, table_entry const& b) {
    return weighted_speedup(
        std::array{solo_and_combo{plain(a), mean(c.seconds[0])}, solo_and_combo{plain(b), mean(c.seconds[1])}});
  }
  void add_runs(figures& all, combo const& c, table_entry const& a, table_entry const& b) {
    all.emplace_back("slowdown_a", mean(c.seconds[0]) / plain(a));
    all.emplace_back("slowdown_b", mean(c.seconds[1]) / plain(b));
    all.emplace_back("runs_a", c.repetitions[0]);
    all.emplace_back("runs_b", c.repetitions[1]);
  }
  void under_attack(std::string const& policy, table_entry const& e) {
    combo const c = run_under_attack(device_of(policy), program(e), device_ / block_ * block_, repeats_);
    slowdown_[policy].push_back(add_slowdown("attack", policy, e, c));
  }
  void beside_leak(std::string const& policy, table_entry const& e) {
    leak leaking(scaled(paper_leak, device_));
    combo const c = run_beside_leak(device_of(policy), program(e), leaking, repeats_);
    beside_leak_[policy].push_back(add_slowdown("beside_leak", policy, e, c));
  }
  double add_slowdown(char const* subject, std::string const& policy, table_entry const& e, combo const& c) {
    double const seconds = mean(c.seconds[0]);
    double const slowdown = seconds / plain(e);
    figures all{{"slowdown", slowdown}};
    add_moves(all, c.moved, 1);
    to_.add(name_of(subject, policy, e.name), seconds, all);
    return slowdown;
  }
  void leaking(std::string const& policy) {
    leak program(scaled(paper_leak, device_));
    std::string why;
    residency::statistics moved;
    if (policy == "plain") {
      plain_memory<Space> memory(spaces_[0], device_);
      try {
        program.run(memory);
      } catch (error const& refused) {
        if (refused.code() != error_code::out_of_memory) throw;
        why = refused.what();
      }
    } else {
      shared_device<Space> device(spaces_, policy, device_, block_);
      {
        auto client = device.make_client(0);
        managed_memory<Space> memory = device.memory_of(client, 0);
        program.run(memory);
      }
      moved = device.counters();
      require_right(leak::name, program.checksum(), program.expected());
    }
    double before = 0;
    for (std::size_t i = 0; i < program.seconds().size(); ++i) {
      // By a manager, what has leaked can be evicted: all but the array of the iteration.
      std::size_t const in_use = std::min(device_, program.array_bytes() * (policy == "plain" ? i + 1 : 1));
      std::string const name = name_of("leak", policy, "iteration:" + std::to_string(i + 1));
      to_.add(name, program.seconds()[i], {{"allocable_mib", mib_of(device_ - in_use)}});
      before += program.seconds()[i];
    }
    if (!why.empty()) {  // what the paper shows of a system without a manager
      std::printf("%s ended in iteration %zu: %s\n", name_of("leak", policy, leak::name).c_str(),
                  program.seconds().size() + 1, why.c_str());
      return;
    }
    figures all;
    add_moves(all, moved, 1);
    to_.add(name_of("leak", policy, leak::name), before, all);
  }

  void summarize() {
    for (std::string const policy : residency::policy_names) {
      figures all;
      if (auto const& x = of_plain_[policy]; !x.empty()) all.emplace_back("of_plain", mean(x));
      if (auto const& x = kernels_of_plain_[policy]; !x.empty()) all.emplace_back("kernels_of_plain", mean(x));
      if (auto const& x = efficiency_[policy]; !x.empty()) all.emplace_back("efficiency", mean(x));
      if (auto const& x = slowdown_[policy]; !x.empty()) all.emplace_back("slowdown_under_attack", mean(x));
      if (auto const& x = beside_leak_[policy]; !x.empty()) all.emplace_back("slowdown_beside_leak", mean(x));
      std::vector<double> throughput;
      std::vector<double> of_base;
      for (auto const& [pair, speedup] : throughput_[policy]) {
        throughput.push_back(speedup);
        auto const& base = throughput_[residency::gdm_base::name];
        if (auto const at = base.find(pair); at != base.end()) of_base.push_back(speedup / at->second);
      }
      if (!throughput.empty()) all.emplace_back("throughput", mean(throughput));
      if (!of_base.empty()) all.emplace_back("throughput_of_gdm_base", mean(of_base));
      if (!all.empty()) to_.add(name_of("mean", policy, "all"), 0, all);
    }
  }

  std::array<Space, 3> spaces_;
  unsigned repeats_;
  std::size_t device_;
  std::size_t block_;
  report& to_;
  std::map<std::string_view, named_program<Space>> programs_;
  std::map<std::string, std::unique_ptr<shared_device<Space>>> devices_;  // by policy
  std::unique_ptr<shared_device<Space>> lazy_;                            // of the present policy
  std::map<std::string_view, double> plain_;
  std::map<std::pair<std::string, std::string>, alone> alone_;
  std::map<std::string_view, double> plain_kernels_;
  std::map<std::string, std::vector<double>> of_plain_;
  std::map<std::string, std::vector<double>> kernels_of_plain_;
  std::map<std::string, std::vector<double>> efficiency_;
  std::map<std::string, std::vector<double>> slowdown_;
  std::map<std::string, std::vector<double>> beside_leak_;
  std::map<std::string, std::map<std::string, double>> throughput_;
};

template <class Space>
void run_on(std::array<Space, 3> const& spaces, settings s, std::size_t usual_mib, report& to) {
  if (s.mib == 0) s.mib = s.is_quick ? usual_mib / 8 : usual_mib;
  std::size_t const host_mib = exec::host_space(1).memory_limit() >> 20;
  if (8 * s.mib > host_mib)
    throw error(error_code::out_of_memory, "--size " + std::to_string(s.mib) + " needs about " +
                                               std::to_string(8 * s.mib) + " MiB of host memory, and the host has " +
                                               std::to_string(host_mib) + "; use a smaller one");
  to.about("device", spaces[0].description());
  experiments<Space>(spaces, s, to).run();
}

int run(int argc, char** argv) {
  return exit_status("residency_bench", "--size", [&] {
    settings const s = parse(argc, argv, "residency_bench", "--size MIB", 3);
    report to(s.only, s.json);
#if WYRM_WITH_CUDA
    bool const is_gpu = s.space == "cuda" || (s.space.empty() && exec::cuda_space::device_count() > 0);
    if (is_gpu)
      run_on<exec::cuda_space>({exec::cuda_space(0), exec::cuda_space(0), exec::cuda_space(0)}, s, 1400, to);
    else
#else
    if (s.space == "cuda")
      throw error(error_code::bad_argument, "--space cuda: this program was built without CUDA; use --space cpu");
#endif
      run_on<exec::host_space>({exec::host_space(), exec::host_space(), exec::host_space()}, s, 28, to);
    to.finish();
    return to.failures() == 0 ? 0 : 1;
  });
}

}  // namespace

}  // namespace wyrm::bench::gdm

int main(int argc, char** argv) { return wyrm::bench::gdm::run(argc, argv); }
