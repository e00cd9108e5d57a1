import { expect, test } from 'vitest';
import type { JobDetail } from './api/client';
import { curveOfEvents, ganttOf, jobNameOf, pairTasks, roofShare, stageSums, traceIdOf, tuningResultOf } from './job_facts';

const BEGIN = Date.parse('2026-01-01T12:00:00Z');
const at = (seconds: number): string => new Date(BEGIN + seconds * 1000).toISOString();
const stage = (name: string, ended: number, seconds: number, waited = 0, outcome: 'done' | 'lost' = 'done') => ({ name, outcome, runner: 'r', reason: '', waited_seconds: waited, seconds, ended: at(ended) });
const job = {
  id: 'net-1',
  state: 'running',
  stage: 'measure',
  runner: 'r',
  submitted: at(0),
  stages: [stage('build', 3, 2, 1), stage('measure', 5, 2), stage('measure', 8, 1, 2, 'lost')],
} as unknown as JobDetail;

test('stages are bars on one axis of time, and a running one ends now', () => {
  const gantt = ganttOf(job, BEGIN + 12_000);
  expect(gantt.lanes).toEqual(['build', 'measure']);
  expect(gantt.bars.map(({ asked, begin, end, outcome }) => [asked - BEGIN, begin - BEGIN, end - BEGIN, outcome])).toEqual([
    [0, 1000, 3000, 'done'],
    [3000, 3000, 5000, 'done'],
    [5000, 7000, 8000, 'lost'],
    [8000, 8000, 12_000, 'running'],
  ]);
  expect([gantt.begin, gantt.end]).toEqual([BEGIN, BEGIN + 12_000]);
});
test('stages are summed by name', () => {
  expect(stageSums(job)).toEqual([
    { name: 'build', runs: 1, seconds: 2, waited: 1, failed: 0 },
    { name: 'measure', runs: 2, seconds: 3, waited: 2, failed: 1 },
  ]);
});
test('a job that has done nothing yet has an axis nevertheless', () => {
  const empty = ganttOf({ ...job, state: 'waiting', stages: [] }, BEGIN);
  expect(empty.bars).toEqual([]);
  expect(empty.end).toBeGreaterThan(empty.begin);
});
test('a result of another shape is none', () => {
  for (const result of [null, 3, 'x', [], {}, { tasks: 3 }]) expect(tuningResultOf(result)).toBeNull();
  const result = tuningResultOf({ tasks: [{ task: 't', tuned_ms: 2, bound_ms: 1, untuned_ms: 'x' }, 7], curve: [{ seconds: 1, ms: 0 }, { seconds: 2, ms: 3 }] });
  expect(result?.tasks).toHaveLength(1);
  expect(result?.tasks[0]).toMatchObject({ untunedMs: 0, tunedMs: 2, bytes: null });
  expect(roofShare(result?.tasks[0] ?? ({} as never))).toBe(0.5);
  expect(result?.curve).toEqual([{ seconds: 2, ms: 3, trials: 0 }]);
});
test('a bound that a kernel refutes is none', () => {
  const [fast, even] = tuningResultOf({ tasks: [{ task: 'a', tuned_ms: 0.8, bound_ms: 1 }, { task: 'b', tuned_ms: 1, bound_ms: 1 }] })?.tasks ?? [];
  expect(fast && roofShare(fast)).toBeNull();
  expect(even && roofShare(even)).toBe(1);
});
test('the curve continues where a run was resumed', () => {
  const line = (seconds: number, ms: number) => JSON.stringify({ event: 'stage', state: 'ends', seconds, network_seconds: ms / 1e3, trials: 8 });
  const text = [line(1, 4), '{"event":"trial","seconds":1.5}', line(2, 3), line(0.5, 2), '{"event":"sta'].join('\n');
  expect(curveOfEvents(text).map(({ seconds, ms }) => [seconds, ms])).toEqual([
    [1, 4],
    [2, 3],
    [2.5, 2],
  ]);
});
test('tasks of two results are paired', () => {
  const result = (...tasks: string[]) => tuningResultOf({ tasks: tasks.map((task) => ({ task, description: task })) });
  expect(pairTasks(result('a', 'b'), result('c', 'b')).map(({ task, a, b }) => [task, a !== null, b !== null])).toEqual([
    ['b', true, true],
    ['a', true, false],
    ['c', false, true],
  ]);
});
test('names of jobs are what the server takes', () => {
  expect(['net.onnx', '<script>alert(1)<script>.onnx', 'ein Netz ü.tflite', '.onnx', 'a'.repeat(99)].map(jobNameOf)).toEqual(['net', 'script-alert-1-script', 'ein-Netz', 'network', 'a'.repeat(64)]);
});
test('a trace has its id in each span', () => {
  expect(traceIdOf({ resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: 'ab12' }, { traceId: 'ab12' }] }] }] })).toBe('ab12');
  expect(traceIdOf({ resourceSpans: [] })).toBeNull();
  expect(traceIdOf(null)).toBeNull();
});
