import { expect, test } from 'vitest';
import { agreementOf, NO_WISH, quantityOf, rangeText, type PromiseOfJob } from './agreement';

test('what is not asked for is left out', () => {
  expect(agreementOf(NO_WISH)).toBeNull();
  expect(agreementOf({ ...NO_WISH, p99Ms: '7', lossPercent: '1', megabytes: '20', deadlineMinutes: '30', deviceMinutes: '10', priority: 'high' })).toEqual({
    latency_ms: { p99: 7 },
    accuracy_loss: 0.01,
    size_bytes: 20e6,
    deadline_seconds: 1800,
    device_seconds: 600,
    priority: 'high',
  });
});
test('promises have their units', () => {
  const promise = { name: 'latency_mean', low: 2.8, median: 3.1, high: 3.6 } as PromiseOfJob;
  expect(rangeText(promise)).toBe('3.10 ms (2.80 ms to 3.60 ms)');
  expect(rangeText({ ...promise, high: null })).toBe('3.10 ms (2.80 ms to unknown)');
  expect(rangeText({ ...promise, low: 0, median: 0 })).toBe('–');
  expect(quantityOf('something_new').name).toBe('something new');
});
