// The roofline of a device, and where kernels stand below it.
import type { TaskGain } from '../job_facts';

export interface RoofPoint {
  intensity: number; // FLOP a byte
  gflops: number;
}

// Where kernels are, ascending by intensity.
export function kernelPoints(tasks: readonly TaskGain[]): RoofPoint[] {
  return tasks
    .filter((task) => task.bytes !== null && task.flops > 0 && task.tunedMs > 0)
    .map((task) => ({ intensity: task.flops / (task.bytes ?? 1), gflops: task.flops / (task.tunedMs * 1e6) }))
    .sort((a, b) => a.intensity - b.intensity);
}

const ROOF_STEPS = 60;

// The most that a kernel reaches whose bytes come at this rate, over so wide a range that all points have room.
export function roofOf(peakGflops: number, bytesPerSecond: number, range: readonly [number, number]): RoofPoint[] {
  const [least, most] = range;
  return Array.from({ length: ROOF_STEPS + 1 }, (_, i) => {
    const intensity = least * (most / least) ** (i / ROOF_STEPS);
    return { intensity, gflops: Math.min(peakGflops, (intensity * bytesPerSecond) / 1e9) };
  });
}
