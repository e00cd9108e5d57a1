import { expect, test } from 'vitest';
import type { TaskGain } from '../job_facts';
import { kernelPoints, roofOf } from './roof';

const task = (flops: number, bytes: number | null, tunedMs: number) => ({ flops, bytes, tunedMs }) as TaskGain;

test('kernels stand at their intensity and rate', () => {
  expect(kernelPoints([task(8e6, 1e6, 2), task(2e6, 1e6, 1), task(1, null, 1), task(0, 1, 1), task(1, 1, 0)])).toEqual([
    { intensity: 2, gflops: 2 },
    { intensity: 8, gflops: 4 },
  ]);
});
test('a roof rises with the intensity and ends at the peak', () => {
  const roof = roofOf(100, 10e9, [1, 100]);
  expect(roof[0]).toEqual({ intensity: 1, gflops: 10 });
  expect(roof.at(-1)?.gflops).toBe(100);
  expect(roof.every((point, i) => i === 0 || point.gflops >= (roof[i - 1]?.gflops ?? 0))).toBe(true);
});
