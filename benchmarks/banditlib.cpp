// Plays one policy of the library jkomiyama/banditlib, of which a checkout is on the include path:
//     program POLICY HORIZON RUNS SEED MEAN...
// Prints the nanoseconds of CPU time a step, then the regret of each run.
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "arm/arm_bernoulli.hpp"
#include "policy/policy_klucb.hpp"
#include "policy/policy_moss.hpp"
#include "policy/policy_ts.hpp"
#include "policy/policy_ucb.hpp"
#include "policy/policy_ucbv.hpp"

static std::unique_ptr<bandit::Policy> make(const std::string& name, unsigned k) {
  if (name == "UCB") return std::unique_ptr<bandit::Policy>(new bandit::UCBPolicy(k, 2.0));
  if (name == "UCB-V") return std::unique_ptr<bandit::Policy>(new bandit::UCBVPolicy(k));
  if (name == "KL-UCB") return std::unique_ptr<bandit::Policy>(new bandit::KLUCBPolicy(k));
  if (name == "MOSS") return std::unique_ptr<bandit::Policy>(new bandit::MOSSPolicy(k));
  return std::unique_ptr<bandit::Policy>(new bandit::ThompsonBinaryPolicy(k));
}

int main(int count, char** given) {
  const std::string name = given[1];
  const unsigned horizon = std::atoi(given[2]), runs = std::atoi(given[3]);
  bandit::randomEngine.seed(std::atoi(given[4]));
  std::vector<bandit::BernoulliArm> arms;
  double best = 0.0;
  for (int i = 5; i < count; ++i) {
    arms.push_back(bandit::BernoulliArm(std::atof(given[i])));
    best = std::max(best, arms.back().getExpectedReward());
  }
  std::vector<double> regrets(runs, 0.0);
  const std::clock_t start = std::clock();
  for (double& regret : regrets) {
    std::unique_ptr<bandit::Policy> policy = make(name, arms.size());
    for (unsigned t = 0; t < horizon; ++t) {
      const int arm = policy->selectNextArm();
      policy->updateState(arm, arms[arm].pull());
      regret += best - arms[arm].getExpectedReward();
    }
  }
  const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  std::cout << seconds * 1e9 / horizon / runs << "\n";
  for (double regret : regrets) std::cout << regret << "\n";
}
