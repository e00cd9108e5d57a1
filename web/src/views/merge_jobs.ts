import type { Job } from '../api/client';

// The list after a job has changed: the latest first, and only those that pass the filter.
export function mergeJob(jobs: readonly Job[], job: Job, filter: string): Job[] {
  const passes = filter === 'all' || job.state === filter;
  const at = jobs.findIndex((other) => other.id === job.id);
  if (at >= 0) return passes ? jobs.with(at, job) : jobs.toSpliced(at, 1);
  if (!passes) return [...jobs];
  const place = jobs.findIndex((other) => other.submitted < job.submitted);
  return jobs.toSpliced(place < 0 ? jobs.length : place, 0, job);
}
