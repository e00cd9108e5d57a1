// The stages of a job over time, a lane for each name.
import { duration } from '../format';
import type { Bar, Gantt } from '../job_facts';

const LANE = 28;
const WIDTH = 1000;
const LEAST_WIDTH = 2;
const TICKS = 5;

function describe(bar: Bar): string {
  const seconds = (bar.end - bar.begin) / 1e3;
  const waited = (bar.begin - bar.asked) / 1e3;
  const parts = [`${bar.name.replaceAll('_', ' ')}: ${bar.outcome}, ${duration(seconds)}`];
  if (waited > 0.05) parts.push(`waited ${duration(waited)}`);
  if (bar.runner !== '') parts.push(`on ${bar.runner}`);
  if (bar.reason !== '') parts.push(bar.reason);
  return parts.join('; ');
}

export function GanttChart({ gantt, label }: { gantt: Gantt; label: string }) {
  const span = gantt.end - gantt.begin;
  const x = (time: number): number => ((time - gantt.begin) / span) * WIDTH;
  const height = gantt.lanes.length * LANE;
  return (
    <div class="gantt" role="img" aria-label={label}>
      <ul class="gantt-lanes" aria-hidden="true">
        {gantt.lanes.map((lane) => (
          <li key={lane}>{lane.replaceAll('_', ' ')}</li>
        ))}
      </ul>
      <div class="gantt-plot" aria-hidden="true">
        <svg viewBox={`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" height={height}>
          {Array.from({ length: TICKS + 1 }, (_, i) => (
            <line key={i} class="gantt-grid" x1={(i * WIDTH) / TICKS} x2={(i * WIDTH) / TICKS} y1={0} y2={height} />
          ))}
          {gantt.bars.map((bar, i) => {
            const y = gantt.lanes.indexOf(bar.name) * LANE;
            return (
              <g key={i}>
                <title>{describe(bar)}</title>
                {bar.begin > bar.asked && (
                  <rect class="gantt-wait" x={x(bar.asked)} y={y + LANE / 2 - 2} width={x(bar.begin) - x(bar.asked)} height={4} />
                )}
                <rect class={`gantt-bar gantt-${bar.outcome}`} x={x(bar.begin)} y={y + 5} width={Math.max(LEAST_WIDTH, x(bar.end) - x(bar.begin))} height={LANE - 10} />
              </g>
            );
          })}
        </svg>
        <div class="gantt-axis">
          {Array.from({ length: TICKS + 1 }, (_, i) => (
            <span key={i}>{duration((span * i) / TICKS / 1e3)}</span>
          ))}
        </div>
      </div>
    </div>
  );
}
