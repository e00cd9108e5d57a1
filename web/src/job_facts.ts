// The facts about a job for its view, from the server's answer.
import type { JobDetail } from './api/client';

export type JobState = JobDetail['state'];

export interface TaskGain {
  task: string;
  description: string;
  uses: number;
  flops: number; // of one execution
  bytes: number | null; // that one execution must move; null: not told
  untunedMs: number; // of one execution; 0: not measured
  tunedMs: number;
  boundMs: number; // by the roofline
  config: string;
  baseline: string;
  trials: number;
  failed: number;
}

export interface CurvePoint {
  seconds: number;
  ms: number;
  trials: number;
}

export interface TuningResult {
  model: string;
  device: string;
  threads: number;
  search: string;
  trials: number;
  seconds: number;
  untunedMs: number;
  tunedMs: number;
  peakGflops: number | null; // of all threads
  l2BytesPerSecond: number | null;
  memoryBytesPerSecond: number | null;
  tasks: TaskGain[];
  curve: CurvePoint[];
}

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
function numberOf(fields: Fields, name: string): number {
  const value = fields[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
function positiveOf(fields: Fields, name: string): number | null {
  const value = numberOf(fields, name);
  return value > 0 ? value : null;
}
function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}
function listOf(fields: Fields, name: string): Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isFields) : [];
}

// Null if the job has none yet, or is of another kind.
export function tuningResultOf(result: unknown): TuningResult | null {
  if (!isFields(result) || !Array.isArray(result['tasks'])) return null;
  return {
    model: textOf(result, 'model'),
    device: textOf(result, 'device'),
    threads: numberOf(result, 'threads'),
    search: textOf(result, 'search'),
    trials: numberOf(result, 'trials'),
    seconds: numberOf(result, 'seconds'),
    untunedMs: numberOf(result, 'untuned_ms'),
    tunedMs: numberOf(result, 'tuned_ms'),
    peakGflops: positiveOf(result, 'peak_gflops'),
    l2BytesPerSecond: positiveOf(result, 'l2_bytes_per_second'),
    memoryBytesPerSecond: positiveOf(result, 'memory_bytes_per_second'),
    tasks: listOf(result, 'tasks').map((task) => ({
      task: textOf(task, 'task'),
      description: textOf(task, 'description'),
      uses: numberOf(task, 'uses'),
      flops: numberOf(task, 'flops'),
      bytes: positiveOf(task, 'bytes'),
      untunedMs: numberOf(task, 'untuned_ms'),
      tunedMs: numberOf(task, 'tuned_ms'),
      boundMs: numberOf(task, 'bound_ms'),
      config: textOf(task, 'tuned_config'),
      baseline: textOf(task, 'untuned_config'),
      trials: numberOf(task, 'trials'),
      failed: numberOf(task, 'failed'),
    })),
    curve: listOf(result, 'curve')
      .map((point) => ({ seconds: numberOf(point, 'seconds'), ms: numberOf(point, 'ms'), trials: numberOf(point, 'trials') }))
      .filter((point) => point.ms > 0),
  };
}

// The latency over time from the events of a run that is in progress (src/tune/job/events.h), a line each. Seconds
// count anew when the run continues on another machine.
export function curveOfEvents(text: string): CurvePoint[] {
  const points: CurvePoint[] = [];
  let before = 0;
  let last = 0;
  for (const line of text.split('\n')) {
    let event: unknown;
    try {
      event = JSON.parse(line);
    } catch {
      continue; // the last line may be cut
    }
    if (!isFields(event)) continue;
    const seconds = numberOf(event, 'seconds');
    if (seconds < last) before += last;
    last = seconds;
    const ms = numberOf(event, 'network_seconds') * 1e3;
    if (event['event'] === 'stage' && event['state'] === 'ends' && ms > 0)
      points.push({ seconds: before + seconds, ms, trials: numberOf(event, 'trials') });
  }
  return points;
}

export function gainOf(task: TaskGain): number | null {
  return task.untunedMs > 0 && task.tunedMs > 0 ? task.untunedMs / task.tunedMs : null;
}

// The attained rate as a share of what the roofline allows. Null if the kernel is faster than its bound: results of
// older jobs may have wrong ones.
export function roofShare(task: TaskGain): number | null {
  return task.boundMs > 0 && task.tunedMs >= task.boundMs ? task.boundMs / task.tunedMs : null;
}

export interface Bar {
  name: string;
  outcome: 'done' | 'failed' | 'lost' | 'running';
  asked: number; // ms since 1970
  begin: number;
  end: number;
  runner: string;
  reason: string;
}

export interface Gantt {
  lanes: string[]; // names of stages in the order in which they first came
  bars: Bar[];
  begin: number;
  end: number;
}

// The stages on one axis of time; a running one ends at `now`.
export function ganttOf(job: JobDetail, now: number): Gantt {
  const bars: Bar[] = job.stages.map((stage) => {
    const end = Date.parse(stage.ended);
    const begin = end - stage.seconds * 1e3;
    return { name: stage.name, outcome: stage.outcome, asked: begin - stage.waited_seconds * 1e3, begin, end, runner: stage.runner, reason: stage.reason };
  });
  const last = bars.at(-1)?.end ?? Date.parse(job.submitted);
  if (job.state === 'running' && job.stage !== '')
    bars.push({ name: job.stage, outcome: 'running', asked: last, begin: last, end: Math.max(now, last), runner: job.runner, reason: '' });
  const lanes = [...new Set(bars.map((bar) => bar.name))];
  const begin = Math.min(Date.parse(job.submitted), ...bars.map((bar) => bar.asked));
  return { lanes, bars, begin, end: Math.max(begin + 1, ...bars.map((bar) => bar.end)) };
}

// For the list of stages by name: how often, how long.
export interface StageSum {
  name: string;
  runs: number;
  seconds: number;
  waited: number;
  failed: number;
}
export function stageSums(job: JobDetail): StageSum[] {
  const sums = new Map<string, StageSum>();
  for (const stage of job.stages) {
    const sum = sums.get(stage.name) ?? { name: stage.name, runs: 0, seconds: 0, waited: 0, failed: 0 };
    sum.runs += 1;
    sum.seconds += stage.seconds;
    sum.waited += stage.waited_seconds;
    if (stage.outcome !== 'done') sum.failed += 1;
    sums.set(stage.name, sum);
  }
  return [...sums.values()];
}

export function isOver(state: JobState): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

// The times that a job took, in seconds.
export function spentSeconds(job: { submitted: string; ended: string | null }, now: number): number {
  const end = job.ended === null ? now : Date.parse(job.ended);
  return Math.max(0, (end - Date.parse(job.submitted)) / 1e3);
}

export interface TaskPair {
  task: string;
  description: string;
  a: TaskGain | null;
  b: TaskGain | null;
}
// The tasks of two results, those of both first.
export function pairTasks(a: TuningResult | null, b: TuningResult | null): TaskPair[] {
  const pairs = new Map<string, TaskPair>();
  for (const task of a?.tasks ?? []) pairs.set(task.task, { task: task.task, description: task.description, a: task, b: null });
  for (const task of b?.tasks ?? []) {
    const pair = pairs.get(task.task);
    if (pair === undefined) pairs.set(task.task, { task: task.task, description: task.description, a: null, b: task });
    else pair.b = task;
  }
  return [...pairs.values()].sort((x, y) => Number(y.a !== null && y.b !== null) - Number(x.a !== null && x.b !== null));
}

// A name for a job that is made from the one of a file: only what the server takes.
export function jobNameOf(file: string): string {
  const stem = file.replace(/\.[^.]*$/, '');
  const name = stem.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 64);
  return name === '' ? 'network' : name;
}

// From an answer in OTLP/JSON, whose spans all have the same.
export function traceIdOf(trace: unknown): string | null {
  const first = (value: unknown, name: string): unknown => (isFields(value) ? listOf(value, name)[0] : undefined);
  const span = first(first(first(trace, 'resourceSpans'), 'scopeSpans'), 'spans');
  const id = isFields(span) ? textOf(span, 'traceId') : '';
  return id === '' ? null : id;
}
