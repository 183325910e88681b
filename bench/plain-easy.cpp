// EASY backfilling as a bare loop, the rival of bench/engine.ts: no checks, no metrics, no other policy.
// Reads doubles: the number of jobs, the processors, then the columns submit, run, estimate and size.
// Writes doubles: CPU time of the fastest run in ms, then the start of each job.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

using Column = std::vector<double>;
using End = std::pair<double, int>;

static Column read(size_t count) {
  Column column(count);
  if (fread(column.data(), sizeof(double), count, stdin) != count) exit(1);
  return column;
}

static Column easy(double free, const Column& submit, const Column& run, const Column& estimate,
                   const Column& size) {
  const size_t count = submit.size();
  Column start(count);
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends;
  std::vector<End> running;  // by the estimated end
  std::vector<int> queue;
  const auto begin = [&](int job, double now) {
    start[job] = now;
    free -= size[job];
    ends.push({now + run[job], job});
    const End expected{now + estimate[job], job};
    running.insert(std::lower_bound(running.begin(), running.end(), expected), expected);
  };
  for (size_t next = 0; next < count || !ends.empty();) {
    double now = next < count ? submit[next] : std::numeric_limits<double>::infinity();
    if (!ends.empty()) now = std::min(now, ends.top().first);
    for (; !ends.empty() && ends.top().first == now; ends.pop()) {
      const int job = ends.top().second;
      free += size[job];
      running.erase(std::lower_bound(running.begin(), running.end(), End{start[job] + estimate[job], job}));
    }
    for (; next < count && submit[next] == now; next++) queue.push_back(next);
    size_t heads = 0;
    while (heads < queue.size() && size[queue[heads]] <= free) begin(queue[heads++], now);
    queue.erase(queue.begin(), queue.begin() + heads);
    if (queue.size() < 2 || free == 0) continue;
    double shadow = now, sum = free;
    for (const auto& [at, job] : running) {
      if (sum >= size[queue[0]] && at > shadow) break;
      sum += size[job];
      shadow = at;
    }
    double spare = sum - size[queue[0]];
    size_t kept = 1;
    for (size_t i = 1; i < queue.size(); i++) {
      const int job = queue[i];
      const bool isLong = now + estimate[job] > shadow;
      if (size[job] > free || (isLong && size[job] > spare)) {
        queue[kept++] = job;
        continue;
      }
      if (isLong) spare -= size[job];
      begin(job, now);
    }
    queue.resize(kept);
  }
  return start;
}

int main() {
  const Column head = read(2);
  const size_t count = head[0];
  const Column submit = read(count), run = read(count), estimate = read(count), size = read(count);
  double leastMs = std::numeric_limits<double>::infinity();
  Column start;
  for (int i = 0; i < 5; i++) {
    const std::clock_t from = std::clock();
    start = easy(head[1], submit, run, estimate, size);
    leastMs = std::min(leastMs, 1000.0 * (std::clock() - from) / CLOCKS_PER_SEC);
  }
  fwrite(&leastMs, sizeof leastMs, 1, stdout);
  fwrite(start.data(), sizeof(double), count, stdout);
}
