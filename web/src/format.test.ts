import { expect, test } from 'vitest';
import { ago, bytes, duration, factor, gflops, latency, percent } from './format';

test('latencies have the unit that fits', () => {
  expect([1.8412, 0.3124, 0.0000041, 25.04, 1234, 0, null].map(latency)).toEqual(['1.84 ms', '312 µs', '4.10 ns', '25.0 ms', '1.23 s', '–', '–']);
});
test('durations are read as people say them', () => {
  expect([0.0321, 3.2, 59.6, 61, 3720, 90_000, -1].map(duration)).toEqual(['32 ms', '3.2 s', '1 min', '1 min 1 s', '1 h 2 min', '1 d 1 h', '–']);
});
test('sizes, factors, shares and rates', () => {
  expect([0, 999, 1500, 8 * 2 ** 30].map(bytes)).toEqual(['0 B', '999 B', '1.50 kB', '8.59 GB']);
  expect([1.8412, 12.34, null, 0, Infinity].map(factor)).toEqual(['1.84×', '12.3×', '–', '–', '–']);
  expect([0.123, 0.0123, 1, null].map(percent)).toEqual(['12 %', '1.2 %', '100 %', '–']);
  expect([45.2, 1234].map(gflops)).toEqual(['45.2 GFLOP/s', '1.23 TFLOP/s']);
});
test('moments are told by how long ago they were', () => {
  const now = new Date('2026-01-01T12:00:00Z');
  expect(['2026-01-01T11:59:58Z', '2026-01-01T11:59:30Z', '2026-01-01T11:00:01Z', '2025-12-31T12:00:00Z', '2026-01-01T13:00:00Z'].map((time) => ago(time, now))).toEqual(['just now', '30 s ago', '59 min ago', '1 d ago', 'just now']);
});
