// The measurements of jobs: a job, its kernels, and the trials of each.
import { useState } from 'preact/hooks';
import { api, body, type Schemas } from '../api/client';
import { LineChart } from '../charts/line_chart';
import { count, latency, percent } from '../format';
import { navigate, query } from '../router';
import { useLoaded } from '../ui/loading';
import { Badge, Card, Empty, ErrorNote, Loading, Moment, ViewHead, WideTable } from '../ui/parts';
import { bestSoFar } from './best_so_far';
import { CostModelCard } from './cost_model_card';

type RecordTask = Schemas['RecordTask'];
type Measurement = Schemas['Record'];
const MOST_OFFERED = 200;
const PAGE = 200;

function go(changes: Record<string, string | null>): void {
  const changed = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  }
  navigate(`/records?${changed.toString()}`);
}

function Tasks({ tasks, chosen }: { tasks: readonly RecordTask[]; chosen: string }) {
  return (
    <WideTable label="Kernels">
      <thead>
        <tr>
          <th scope="col">Kernel</th>
          <th scope="col">Device</th>
          <th scope="col" class="number">Threads</th>
          <th scope="col" class="number">Best</th>
          <th scope="col" class="number">Records</th>
          <th scope="col" class="number">Failed</th>
          <th scope="col">Last</th>
        </tr>
      </thead>
      <tbody>
        {tasks.map((task) => (
          <tr key={`${task.task} ${task.device} ${task.threads}`} class={task.task === chosen ? 'chosen' : ''}>
            <th scope="row">
              <button type="button" class="as-link" aria-pressed={task.task === chosen} onClick={() => go({ task: task.task === chosen ? null : task.task })}>
                {task.description}
              </button>
            </th>
            <td>
              <code>{task.device}</code>
            </td>
            <td class="number">{task.threads}</td>
            <td class="number strong">{latency(task.best_ms)}</td>
            <td class="number">{count(task.records)}</td>
            <td class="number">{percent(task.records === 0 ? 0 : task.failed / task.records)}</td>
            <td>
              <Moment time={task.last} />
            </td>
          </tr>
        ))}
      </tbody>
    </WideTable>
  );
}

function configText(record: Measurement): string {
  const numbers = Object.entries(record.config as Record<string, unknown>).map(([name, value]) => `${name}=${String(value)}`);
  return [record.strategy, ...numbers].join(' ');
}

function Trials({ job, task }: { job: string; task: string }) {
  const [pages, setPages] = useState(1);
  const { value, error } = useLoaded(async () => {
    const all: Measurement[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < pages; ++page) {
      const next: { records: Measurement[]; next_cursor: string | null } = await body(
        api.GET('/v1/jobs/{id}/records', { params: { path: { id: job }, query: { task, most: PAGE, ...(cursor === null ? {} : { cursor }) } } }),
      );
      all.push(...next.records);
      cursor = next.next_cursor;
      if (cursor === null) break;
    }
    return { records: all, hasMore: cursor !== null };
  }, [job, task, pages]);
  if (error !== null) return <ErrorNote text={error} />;
  if (value === null) return <Loading of="trials" />;
  const good = value.records.flatMap((record, i) => (record.outcome === 'ok' && record.ms > 0 ? [[i + 1, record.ms] as const] : []));
  return (
    <>
      {good.length > 0 && (
        <LineChart
          label={`${good.length} measured trials, the best of which takes ${latency(Math.min(...good.map(([, ms]) => ms)))}. The table has all.`}
          curves={[
            { label: 'trials', color: '--second', points: good, kind: 'dots' },
            { label: 'best so far', color: '--accent', points: bestSoFar(good), kind: 'steps' },
          ]}
          x={(trial) => (Number.isInteger(trial) ? `no. ${trial}` : '')}
          y={latency}
          fromZero
        />
      )}
      <WideTable label="Trials">
        <thead>
          <tr>
            <th scope="col">Config</th>
            <th scope="col">Proposed by</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="number">Time</th>
            <th scope="col" class="number">Interval</th>
          </tr>
        </thead>
        <tbody>
          {value.records.map((record, i) => (
            <tr key={i}>
              <th scope="row">
                <code>{configText(record)}</code>
                {record.reason !== '' && <span class="bad task">{record.reason}</span>}
              </th>
              <td>{record.search}</td>
              <td>
                <Badge state={record.outcome === 'ok' ? 'ok' : record.outcome} />
              </td>
              <td class="number strong">{latency(record.ms)}</td>
              <td class="number">{record.ms > 0 ? `${latency(record.low_ms)} – ${latency(record.high_ms)}` : '–'}</td>
            </tr>
          ))}
        </tbody>
      </WideTable>
      {value.hasMore && (
        <button class="button" type="button" onClick={() => setPages(pages + 1)}>
          Show more
        </button>
      )}
    </>
  );
}

function OfJob({ job }: { job: string }) {
  const task = query.value.get('task') ?? '';
  const { value, error } = useLoaded(() => body(api.GET('/v1/jobs/{id}/tasks', { params: { path: { id: job } } })), [job]);
  if (error !== null) return <ErrorNote text={error} />;
  if (value === null) return <Loading of="records" />;
  if (value.tasks.length === 0) return <Empty title="No measurements yet">Records appear with its first batch of kernels.</Empty>;
  const chosen = value.tasks.find((one) => one.task === task);
  return (
    <div class="stack">
      <Card title="Kernels" hint="Choose a kernel to see its trials.">
        <Tasks tasks={value.tasks} chosen={task} />
      </Card>
      {chosen !== undefined && (
        <Card title="Trials" hint={chosen.description}>
          <Trials key={`${job} ${task}`} job={job} task={task} />
        </Card>
      )}
    </div>
  );
}

export function RecordsView() {
  const { value, error } = useLoaded(() => body(api.GET('/v1/jobs', { params: { query: { most: MOST_OFFERED } } })), []);
  const jobs = (value?.jobs ?? []).filter((job) => job.kind === 'tuning').map((job) => job.id);
  const job = query.value.get('job') ?? jobs[0] ?? '';
  return (
    <>
      <ViewHead title="Records" lead="All measured versions of kernels, the fast ones and the failed ones." />
      <ErrorNote text={error} />
      {value === null && error === null && <Loading of="jobs" />}
      {value !== null && job === '' && <Empty title="No records yet">Tuning jobs make records: tune a model first.</Empty>}
      {job !== '' && (
        <div class="stack">
          <div class="fields">
            <div class="field">
              <label for="records-job">Job</label>
              <select id="records-job" value={job} onChange={(event) => go({ job: event.currentTarget.value, task: null })}>
                {(jobs.includes(job) ? jobs : [job, ...jobs]).map((id) => (
                  <option key={id} value={id}>
                    {id}
                  </option>
                ))}
              </select>
            </div>
          </div>
          <OfJob key={job} job={job} />
        </div>
      )}
      <div class="below">
        <CostModelCard />
      </div>
    </>
  );
}
