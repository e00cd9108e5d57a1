// The jobs, as they change.
import { useEffect, useState } from 'preact/hooks';
import { api, body, may, sentenceOf, type Job } from '../api/client';
import { follow } from '../api/events';
import { duration } from '../format';
import { isOver } from '../job_facts';
import { navigate, query } from '../router';
import { announce } from '../ui/announce';
import { Badge, Empty, ErrorNote, Loading, Moment, ViewHead } from '../ui/parts';
import { mergeJob } from './merge_jobs';

const FILTERS = ['all', 'waiting', 'running', 'done', 'failed', 'cancelled'] as const;
type Filter = (typeof FILTERS)[number];
const MOST_COMPARED = 2;

interface Listed {
  jobs: Job[];
  cursor: string | null;
}

async function readPage(filter: Filter, cursor: string | null): Promise<Listed> {
  const state = filter === 'all' ? {} : { state: filter };
  const page = await body(api.GET('/v1/jobs', { params: { query: { ...state, ...(cursor === null ? {} : { cursor }) } } }));
  return { jobs: page.jobs, cursor: page.next_cursor };
}

function useJobs(filter: Filter) {
  const [listed, setListed] = useState<Listed | null>(null);
  const [error, setError] = useState<string | null>(null);
  const fail = (reason: unknown): void => setError(sentenceOf(reason));
  useEffect(() => {
    let isHere = true;
    setListed(null);
    const read = (): void => {
      readPage(filter, null).then((next) => {
        if (!isHere) return;
        setListed(next);
        setError(null);
      }, fail);
    };
    // Also while the stream cannot be had.
    read();
    const end = follow<Job>('/v1/events', {
      event: 'job',
      onOpen: read,
      onEvent: (job) => {
        setListed((old) => (old === null ? old : { ...old, jobs: mergeJob(old.jobs, job, filter) }));
        if (isOver(job.state)) announce(`Job ${job.id} is ${job.state}`);
      },
    });
    return () => {
      isHere = false;
      end();
    };
  }, [filter]);
  const more = (): void => {
    readPage(filter, listed?.cursor ?? null).then((next) => {
      setListed((old) => ({ jobs: [...(old?.jobs ?? []), ...next.jobs], cursor: next.cursor }));
    }, fail);
  };
  return { listed, error, more };
}

function Doing({ job }: { job: Job }) {
  if (job.state === 'failed') return <span class="bad clamp">{job.error}</span>;
  if (job.state === 'waiting') return <span class="clamp">{job.waits_for === '' ? 'waits for its turn' : `waits for ${job.waits_for}`}</span>;
  const left = job.remaining_seconds === null ? '' : ` · about ${duration(job.remaining_seconds)} left`;
  if (job.state === 'running')
    return (
      <span class="clamp">
        <span class="stage">{job.stage}</span> {job.progress}
        {left}
      </span>
    );
  return <span class="clamp">{job.progress}</span>;
}

const WORST_FIRST = ['broken', 'impossible', 'at_risk', 'unknown', 'expected', 'met'];

// The state of a job's promises, told by the worst of them.
function PromiseSum({ job }: { job: Job }) {
  const worst = WORST_FIRST.find((state) => job.promises.some((promise) => promise.state === state));
  if (worst === undefined) return <span />;
  return (
    <span class="promise-sum">
      <span class="visually-hidden">Promises: </span>
      <Badge state={worst} />
    </span>
  );
}

function JobRow({ job, isChosen, choose }: { job: Job; isChosen: boolean; choose: (on: boolean) => void }) {
  return (
    <li class="job-row">
      <label class="choose">
        <input type="checkbox" checked={isChosen} onChange={(event) => choose(event.currentTarget.checked)} />
        <span class="visually-hidden">Compare {job.id}</span>
      </label>
      <div class="job-name">
        <a href={`/jobs/${encodeURIComponent(job.id)}`}>{job.id}</a>
        <span class="muted">
          {job.kind.replaceAll('_', ' ')}
          {job.on === '' ? '' : ` on ${job.on}`}
        </span>
      </div>
      <Badge state={job.state} />
      <div class="job-doing">
        <Doing job={job} />
      </div>
      <PromiseSum job={job} />
      <div class="job-time muted">
        <Moment time={job.ended ?? job.submitted} />
      </div>
    </li>
  );
}

function Nothing({ filter }: { filter: Filter }) {
  if (filter !== 'all')
    return (
      <Empty title={`No job is ${filter}`}>
        <a href="/">Show all jobs</a>
      </Empty>
    );
  return (
    <Empty title="No jobs yet">
      {may('member') ? (
        <>
          <p>Drop a model, set targets, and watch it become faster.</p>
          <a class="button button-main" href="/new">
            Tune a model
          </a>
        </>
      ) : (
        <p>Members of your tenant can tune a model; ask an operator for the role.</p>
      )}
    </Empty>
  );
}

export function JobsView() {
  const given = query.value.get('state') as Filter | null;
  const filter = given !== null && FILTERS.includes(given) ? given : 'all';
  const { listed, error, more } = useJobs(filter);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const choose = (id: string, on: boolean): void => {
    setChosen((old) => (on ? [...old, id].slice(-MOST_COMPARED) : old.filter((other) => other !== id)));
  };
  return (
    <>
      <ViewHead title="Jobs" lead="Latest first; the list updates itself." />
      <nav class="tabs" aria-label="States of jobs">
        {FILTERS.map((name) => (
          <a key={name} href={name === 'all' ? '/' : `/?state=${name}`} aria-current={name === filter ? 'true' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <ErrorNote text={error} />
      {listed === null && error === null && <Loading of="jobs" />}
      {listed?.jobs.length === 0 && <Nothing filter={filter} />}
      {listed !== null && listed.jobs.length > 0 && (
        <ul class="job-list">
          {listed.jobs.map((job) => (
            <JobRow key={job.id} job={job} isChosen={chosen.includes(job.id)} choose={(on) => choose(job.id, on)} />
          ))}
        </ul>
      )}
      {listed !== null && listed.cursor !== null && (
        <button class="button" type="button" onClick={more}>
          Show earlier jobs
        </button>
      )}
      {chosen.length > 0 && (
        <div class="tray" role="group" aria-label="Comparison">
          <span>{chosen.length === MOST_COMPARED ? chosen.join(' and ') : `${chosen.join('')} is chosen; choose another one to compare it with`}</span>
          <button
            class="button button-main"
            type="button"
            disabled={chosen.length < MOST_COMPARED}
            onClick={() => navigate(`/compare?a=${encodeURIComponent(chosen[0] ?? '')}&b=${encodeURIComponent(chosen[1] ?? '')}`)}
          >
            Compare
          </button>
          <button class="quiet" type="button" onClick={() => setChosen([])}>
            Clear
          </button>
        </div>
      )}
    </>
  );
}
