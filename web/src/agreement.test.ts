import { expect, test } from 'vitest';
import { agreementOf, NO_WISH, quantityOf, rangeText, sentenceOfAgreement, withOffers, type PromiseOfJob } from './agreement';

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
test('offers take the places of what is not likely, and are never less than offered', () => {
  const offers = [
    { name: 'latency_mean', limit: 1.23412, probability: 0.8 },
    { name: 'deadline_seconds', limit: 61, probability: 0.8 },
    { name: 'something_new', limit: 1, probability: 0.8 },
  ];
  expect(withOffers({ ...NO_WISH, meanMs: '1', megabytes: '5' }, offers)).toEqual({ ...NO_WISH, meanMs: '1.235', megabytes: '5', deadlineMinutes: '1.017' });
});
test('sentences about agreements are for people', () => {
  expect(sentenceOfAgreement('/agreement: latency_mean: 1 ms is impossible')).toBe('Mean latency: 1 ms is impossible');
});
test('promises have their units', () => {
  const promise = { name: 'latency_mean', low: 2.8, median: 3.1, high: 3.6 } as PromiseOfJob;
  expect(rangeText(promise)).toBe('3.10 ms (2.80 ms to 3.60 ms)');
  expect(rangeText({ ...promise, high: null })).toBe('3.10 ms (2.80 ms to unknown)');
  expect(rangeText({ ...promise, low: 0, median: 0 })).toBe('–');
  expect(quantityOf('something_new').name).toBe('something new');
});
