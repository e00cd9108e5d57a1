// Curves over a common axis, painted by uPlot. A table beside each chart tells the same.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { colorOf, paintings } from '../theme';

export interface Curve {
  label: string;
  color: string; // a custom property
  points: readonly (readonly [number, number])[]; // by ascending x
  kind?: 'steps' | 'line' | 'dots';
}

export interface LineChartProps {
  label: string; // what it shows, in one sentence
  curves: readonly Curve[];
  x: (value: number) => string;
  y: (value: number) => string;
  isLog?: boolean; // both axes
  fromZero?: boolean;
  height?: number;
}

const LOG_SCALE = 3;

function ticks(show: (value: number) => string): (_: uPlot, values: (number | null)[]) => string[] {
  return (_, values) => values.map((value) => (value === null ? '' : value === 0 ? '0' : show(value)));
}

function seriesOf(curve: Curve, y: (value: number) => string): uPlot.Series {
  const color = colorOf(curve.color);
  const kind = curve.kind ?? 'line';
  return {
    label: curve.label,
    stroke: color,
    width: kind === 'dots' ? 0 : 2,
    spanGaps: true,
    value: (_, value) => (typeof value === 'number' ? y(value) : '–'),
    points: kind === 'dots' ? { show: true, size: 8, fill: color, stroke: colorOf('--surface') } : { show: false },
    ...(kind === 'dots' ? { paths: () => null } : {}),
    ...(kind === 'steps' && uPlot.paths.stepped !== undefined ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
  };
}

function optionsOf(props: LineChartProps, width: number): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: colorOf('--muted'),
    grid: { stroke: colorOf('--line'), width: 1 },
    ticks: { stroke: colorOf('--line'), width: 1 },
    font: '12px system-ui, sans-serif',
  };
  const isLog = props.isLog === true;
  return {
    width,
    height: props.height ?? 260,
    scales: {
      x: { time: false, ...(isLog ? { distr: LOG_SCALE } : {}) },
      y: isLog ? { distr: LOG_SCALE } : props.fromZero === true ? { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] } : {},
    },
    axes: [
      { ...axis, values: ticks(props.x) },
      { ...axis, size: 94, values: ticks(props.y) },
    ],
    series: [{ label: 'at', value: (_, value) => (typeof value === 'number' ? props.x(value) : '–') }, ...props.curves.map((curve) => seriesOf(curve, props.y))],
    cursor: { drag: { x: false, y: false } },
  };
}

function dataOf(curves: readonly Curve[]): uPlot.AlignedData {
  if (curves.length === 0) return [[]];
  return uPlot.join(curves.map((curve) => [curve.points.map(([x]) => x), curve.points.map(([, y]) => y)]));
}

export function LineChart(props: LineChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const painting = paintings.value;
  const points = props.curves.map((curve) => [curve.label, curve.points.length, ...(curve.points.at(-1) ?? [])].join(' ')).join('|');
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const chart = new uPlot(optionsOf(props, element.clientWidth), dataOf(props.curves), element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: props.height ?? 260 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [painting, points]);
  return <div class="chart" ref={place} role="img" aria-label={props.label} />;
}
