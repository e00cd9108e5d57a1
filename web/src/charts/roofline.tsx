// The kernels under the device's roofline: rate over arithmetic intensity, both axes logarithmic.
import { gflops } from '../format';
import { roofShare, type TuningResult } from '../job_facts';
import { LineChart, type Curve } from './line_chart';
import { kernelPoints, roofOf, type RoofPoint } from './roof';

const MARGIN = 2;

export function Roofline({ result }: { result: TuningResult }) {
  const points = kernelPoints(result.tasks);
  const { peakGflops, l2BytesPerSecond, memoryBytesPerSecond } = result;
  if (peakGflops === null || memoryBytesPerSecond === null || points.length === 0) return null;
  const at = [...points.map(({ intensity }) => intensity), (peakGflops * 1e9) / memoryBytesPerSecond];
  const range = [Math.min(...at) / MARGIN, Math.max(...at) * MARGIN] as const;
  const xy = ({ intensity, gflops: rate }: RoofPoint): readonly [number, number] => [intensity, rate];
  const curves: Curve[] = [{ label: 'from memory', color: '--second', points: roofOf(peakGflops, memoryBytesPerSecond, range).map(xy) }];
  if (l2BytesPerSecond !== null) curves.push({ label: 'from L2', color: '--good', points: roofOf(peakGflops, l2BytesPerSecond, range).map(xy) });
  curves.push({ label: 'kernels', color: '--accent', points: points.map(xy), kind: 'dots' });
  const shares = result.tasks.map(roofShare).filter((share) => share !== null);
  const best = Math.max(0, ...shares);
  return (
    <LineChart
      label={`Roofline: ${points.length} kernels under a peak of ${gflops(peakGflops)}; the best reaches ${Math.round(best * 100)} % of its bound. The table of kernels has the numbers.`}
      curves={curves}
      x={(value) => `${Number(value.toPrecision(2))} FLOP/B`}
      y={gflops}
      isLog
      height={300}
    />
  );
}
