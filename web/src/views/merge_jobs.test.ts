import { expect, test } from 'vitest';
import type { Job } from '../api/client';
import { mergeJob } from './merge_jobs';

const job = (id: string, submitted: string, state = 'running') => ({ id, submitted, state }) as Job;
const list = [job('c', '3'), job('a', '1')];
const ids = (jobs: Job[]) => jobs.map(({ id, state }) => `${id} ${state}`);

test('a job that is known changes where it stands', () => {
  expect(ids(mergeJob(list, job('a', '1', 'done'), 'all'))).toEqual(['c running', 'a done']);
});
test('a new one comes where its time is', () => {
  expect(ids(mergeJob(list, job('b', '2'), 'all'))).toEqual(['c running', 'b running', 'a running']);
  expect(ids(mergeJob(list, job('0', '0'), 'all'))).toEqual(['c running', 'a running', '0 running']);
});
test('one that does not pass the filter leaves', () => {
  expect(ids(mergeJob(list, job('c', '3', 'done'), 'running'))).toEqual(['a running']);
  expect(ids(mergeJob(list, job('d', '4', 'done'), 'running'))).toEqual(['c running', 'a running']);
});
