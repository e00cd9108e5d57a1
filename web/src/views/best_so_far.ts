// The running minimum of points.
export function bestSoFar(points: readonly (readonly [number, number])[]): [number, number][] {
  let best = Infinity;
  return points.map(([x, y]) => [x, (best = Math.min(best, y))]);
}
