// Two jobs beside each other.
import { api, body, type JobDetail } from '../api/client';
import { LineChart } from '../charts/line_chart';
import { count, duration, factor, latency } from '../format';
import { pairTasks, spentSeconds, tuningResultOf, type TuningResult } from '../job_facts';
import { navigate, query } from '../router';
import { useLoaded } from '../ui/loading';
import { Badge, Card, Empty, ErrorNote, Loading, ViewHead, WideTable } from '../ui/parts';
import { readJob } from './use_job';

const MOST_OFFERED = 200;

interface Side {
  job: JobDetail;
  result: TuningResult | null;
}

function useSide(id: string) {
  return useLoaded<Side | null>(async () => {
    if (id === '') return null;
    const job = await readJob(id);
    return { job, result: tuningResultOf(job.result) };
  }, [id]);
}

function Choice({ label, id, name, ids }: { label: string; id: string; name: 'a' | 'b'; ids: readonly string[] }) {
  const choose = (next: string): void => {
    const changed = new URLSearchParams(query.value);
    changed.set(name, next);
    navigate(`/compare?${changed.toString()}`, { replace: true });
  };
  return (
    <div class="field">
      <label for={`compare-${name}`}>{label}</label>
      <select id={`compare-${name}`} value={id} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">choose a job</option>
        {(ids.includes(id) || id === '' ? ids : [id, ...ids]).map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </div>
  );
}

// How many times as fast B is as A.
function ratio(a: number | undefined, b: number | undefined): number | null {
  return a !== undefined && b !== undefined && a > 0 && b > 0 ? a / b : null;
}

function Ratio({ of }: { of: number | null }) {
  const tone = of === null || Math.abs(of - 1) < 0.02 ? '' : of > 1 ? 'good' : 'bad';
  return <span class={tone}>{factor(of)}</span>;
}

function Summary({ a, b }: { a: Side; b: Side }) {
  const now = Date.now();
  const rows: [string, (side: Side) => string][] = [
    ['Device', ({ job }) => (job.on === '' ? '–' : job.on)],
    ['Model', ({ result }) => (result === null ? '–' : result.model)],
    ['Threads', ({ result }) => (result === null ? '–' : String(result.threads))],
    ['Search', ({ result }) => (result === null ? '–' : result.search)],
    ['Baseline', ({ result }) => latency(result?.untunedMs)],
    ['Tuned', ({ result }) => latency(result?.tunedMs)],
    ['Gain', ({ result }) => factor(ratio(result?.untunedMs, result?.tunedMs))],
    ['Trials', ({ result }) => (result === null ? '–' : count(result.trials))],
    ['Took', ({ job }) => duration(spentSeconds(job, now))],
  ];
  return (
    <WideTable label="Summary">
      <thead>
        <tr>
          <td />
          {[a, b].map(({ job }, i) => (
            <th key={i} scope="col">
              <a href={`/jobs/${encodeURIComponent(job.id)}`}>{job.id}</a>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">State</th>
          {[a, b].map(({ job }, i) => (
            <td key={i}>
              <Badge state={job.state} />
            </td>
          ))}
        </tr>
        {rows.map(([name, show]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{show(a)}</td>
            <td>{show(b)}</td>
          </tr>
        ))}
      </tbody>
    </WideTable>
  );
}

function Tasks({ a, b }: { a: TuningResult; b: TuningResult }) {
  return (
    <WideTable label="Kernels of both">
      <thead>
        <tr>
          <th scope="col">Kernel</th>
          <th scope="col" class="number">First</th>
          <th scope="col" class="number">Second</th>
          <th scope="col" class="number">Speedup of the second</th>
        </tr>
      </thead>
      <tbody>
        {pairTasks(a, b).map((pair) => (
          <tr key={pair.task}>
            <th scope="row">
              <span class="task">{pair.description}</span>
              {pair.a !== null && pair.b !== null && pair.a.config !== pair.b.config && (
                <code class="config">
                  {pair.a.config} → {pair.b.config}
                </code>
              )}
            </th>
            <td class="number">{latency(pair.a?.tunedMs)}</td>
            <td class="number">{latency(pair.b?.tunedMs)}</td>
            <td class="number strong">
              <Ratio of={ratio(pair.a?.tunedMs, pair.b?.tunedMs)} />
            </td>
          </tr>
        ))}
      </tbody>
    </WideTable>
  );
}

export function CompareView() {
  const idA = query.value.get('a') ?? '';
  const idB = query.value.get('b') ?? '';
  const jobs = useLoaded(() => body(api.GET('/v1/jobs', { params: { query: { most: MOST_OFFERED } } })), []);
  const ids = (jobs.value?.jobs ?? []).map((job) => job.id);
  const a = useSide(idA);
  const b = useSide(idB);
  const both = a.value !== null && b.value !== null ? { a: a.value, b: b.value } : null;
  const curves = [both?.a.result?.curve ?? [], both?.b.result?.curve ?? []];
  return (
    <>
      <ViewHead title="Compare two jobs" lead="Shows which one is faster, by which kernels, and at what cost." />
      <div class="fields fields-above">
        <Choice label="First job" id={idA} name="a" ids={ids} />
        <Choice label="Second job" id={idB} name="b" ids={ids} />
      </div>
      <ErrorNote text={jobs.error ?? a.error ?? b.error} />
      {idA !== '' && idB !== '' && both === null && a.error === null && b.error === null && <Loading of="both jobs" />}
      {(idA === '' || idB === '') && <Empty title="Choose two jobs">Their latencies and kernels are then shown side by side.</Empty>}
      {both !== null && (
        <div class="stack">
          <Card title="Summary">
            <Summary a={both.a} b={both.b} />
          </Card>
          {curves.every((curve) => curve.length > 0) && (
            <Card title="Latency over time">
              <LineChart
                label={`Latency over time of ${idA}, to ${latency(curves[0]?.at(-1)?.ms)}, and of ${idB}, to ${latency(curves[1]?.at(-1)?.ms)}.`}
                curves={[
                  { label: idA, color: '--accent', points: (curves[0] ?? []).map(({ seconds, ms }) => [seconds, ms] as const), kind: 'steps' },
                  { label: idB === idA ? `${idB} again` : idB, color: '--second', points: (curves[1] ?? []).map(({ seconds, ms }) => [seconds, ms] as const), kind: 'steps' },
                ]}
                x={duration}
                y={latency}
                fromZero
              />
            </Card>
          )}
          {both.a.result !== null && both.b.result !== null && (
            <Card title="Kernels" hint="Green where the second job's kernel is faster by 2 % or more.">
              <Tasks a={both.a.result} b={both.b.result} />
            </Card>
          )}
        </div>
      )}
    </>
  );
}
