// One job: what it has reached, what it does, and what it has made.
import { useState } from 'preact/hooks';
import { api, fileAddress, may, type JobDetail } from '../api/client';
import { GainTable } from '../charts/gains';
import { GanttChart } from '../charts/gantt';
import { LineChart } from '../charts/line_chart';
import { Roofline } from '../charts/roofline';
import { bytes, count, duration, factor, latency, moment, percent, shortDigest } from '../format';
import { ganttOf, isOver, spentSeconds, stageSums, tuningResultOf, type CurvePoint, type TuningResult } from '../job_facts';
import { quantizationResultOf } from '../quantization_facts';
import { useAction } from '../ui/action';
import { ConfirmDialog } from '../ui/confirm_dialog';
import { useNow } from '../ui/loading';
import { Badge, Card, ErrorNote, Loading, Moment, Stat, ViewHead, WideTable } from '../ui/parts';
import { PromiseTable } from './promises';
import { SignatureCard } from './signature_card';
import { TraceCard } from './trace_card';
import { useJob } from './use_job';
import { VariantsCard } from './variants_card';

const TUNED_FILE = 'out/result.atn';

function Actions({ job, best }: { job: JobDetail; best: string }) {
  const [isAsked, setAsked] = useState(false);
  const { error, isBusy, run } = useAction();
  const cancel = (): void => run(() => api.POST('/v1/jobs/{id}/cancel', { params: { path: { id: job.id } } }), `${job.id} is being cancelled`);
  const hasTuned = job.state === 'done' && job.files.some((file) => file.name === TUNED_FILE);
  return (
    <>
      <a class="button" href={`/compare?a=${encodeURIComponent(job.id)}`}>
        Compare
      </a>
      {!isOver(job.state) && may('member') && (
        <button class="button button-bad" type="button" disabled={isBusy} aria-haspopup="dialog" onClick={() => setAsked(true)}>
          Cancel
        </button>
      )}
      {isAsked && !isOver(job.state) && (
        <ConfirmDialog title="Cancel this job?" yes="Cancel the job" no="Keep it running" onYes={cancel} onClose={() => setAsked(false)}>
          {job.id} ends for good. What it has measured stays in its records; a job that is to go on is submitted anew.
        </ConfirmDialog>
      )}
      {hasTuned && (
        <a class="button button-main" href={fileAddress(job.id, TUNED_FILE)} download={`${job.id}.atn`}>
          Download the tuned network
        </a>
      )}
      {best !== '' && (
        <a class="button button-main" href={fileAddress(job.id, best)} download={`${job.id}.onnx`}>
          Download the best quantized model
        </a>
      )}
      <ErrorNote text={error} />
    </>
  );
}

export function Stats({ job, result, curve }: { job: JobDetail; result: TuningResult | null; curve: readonly CurvePoint[] }) {
  const now = useNow(!isOver(job.state));
  const before = result !== null && result.untunedMs > 0 ? result.untunedMs : (curve[0]?.ms ?? null);
  const after = result !== null && result.tunedMs > 0 ? result.tunedMs : (curve.at(-1)?.ms ?? null);
  const gain = before !== null && after !== null && after > 0 ? before / after : null;
  const device = job.stages.reduce((sum, stage) => sum + stage.seconds, 0);
  return (
    <dl class="stats">
      <Stat name="Latency" value={latency(after)} detail={before === null ? 'not measured yet' : `from ${latency(before)}`} />
      <Stat name="Faster" value={factor(gain)} {...(gain !== null && gain > 1.005 ? { tone: 'good' as const } : {})} detail={gain !== null && gain > 1 ? `${percent(1 - 1 / gain)} of the time saved` : 'than the baseline'} />
      <Stat name="Trials" value={result === null ? (curve.at(-1) === undefined ? '–' : count(curve.at(-1)?.trials ?? 0)) : count(result.trials)} detail={result === null ? 'so far' : `on ${result.threads} thread${result.threads === 1 ? '' : 's'}`} />
      <Stat name={isOver(job.state) ? 'Took' : 'Since'} value={duration(spentSeconds(job, now))} detail={job.remaining_seconds === null ? `${duration(device)} in stages` : `about ${duration(job.remaining_seconds)} left`} />
    </dl>
  );
}

function LatencyCard({ job, curve }: { job: JobDetail; curve: readonly CurvePoint[] }) {
  if (curve.length === 0)
    return (
      <Card title="Latency over time">
        <p class="muted">{isOver(job.state) ? 'This job has no latencies.' : 'The first point appears when the first batch of kernels is measured.'}</p>
      </Card>
    );
  const first = curve[0];
  const last = curve.at(-1);
  return (
    <Card title="Latency over time" hint="One inference: the sum of the best kernels so far.">
      <LineChart
        label={`Latency over time, from ${latency(first?.ms)} to ${latency(last?.ms)} within ${duration(last?.seconds)}.`}
        curves={[{ label: 'latency', color: '--accent', points: curve.map(({ seconds, ms }) => [seconds, ms] as const), kind: 'steps' }]}
        x={duration}
        y={latency}
        fromZero
      />
      <details>
        <summary>As a table</summary>
        <WideTable label="Latency over time">
          <thead>
            <tr>
              <th scope="col" class="number">After</th>
              <th scope="col" class="number">Trials</th>
              <th scope="col" class="number">Latency</th>
            </tr>
          </thead>
          <tbody>
            {curve.map((point, i) => (
              <tr key={i}>
                <td class="number">{duration(point.seconds)}</td>
                <td class="number">{count(point.trials)}</td>
                <td class="number">{latency(point.ms)}</td>
              </tr>
            ))}
          </tbody>
        </WideTable>
      </details>
    </Card>
  );
}

function StagesCard({ job }: { job: JobDetail }) {
  const now = useNow(job.state === 'running');
  const gantt = ganttOf(job, now);
  const sums = stageSums(job);
  return (
    <Card title="Stages" hint="Thin lines show waiting: for a device, a runner or its turn.">
      {gantt.bars.length === 0 ? (
        <p class="muted">{isOver(job.state) ? 'No stage has run.' : `It waits${job.waits_for === '' ? ' for its turn' : ` for ${job.waits_for}`}.`}</p>
      ) : (
        <GanttChart gantt={gantt} label={`${gantt.bars.length} stages of ${gantt.lanes.length} kinds over ${duration((gantt.end - gantt.begin) / 1e3)}. The table has their times.`} />
      )}
      {sums.length > 0 && (
        <details>
          <summary>As a table</summary>
          <WideTable label="Stages">
            <thead>
              <tr>
                <th scope="col">Stage</th>
                <th scope="col" class="number">Runs</th>
                <th scope="col" class="number">Took</th>
                <th scope="col" class="number">Waited</th>
                <th scope="col" class="number">Failed or lost</th>
              </tr>
            </thead>
            <tbody>
              {sums.map((sum) => (
                <tr key={sum.name}>
                  <th scope="row">{sum.name.replaceAll('_', ' ')}</th>
                  <td class="number">{sum.runs}</td>
                  <td class="number">{duration(sum.seconds)}</td>
                  <td class="number">{duration(sum.waited)}</td>
                  <td class="number">{sum.failed}</td>
                </tr>
              ))}
            </tbody>
          </WideTable>
        </details>
      )}
    </Card>
  );
}

function FilesCard({ job }: { job: JobDetail }) {
  if (job.files.length === 0) return null;
  return (
    <Card title="Files" hint="Inputs are below in/, outputs below out/.">
      <WideTable label="Files">
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col" class="number">Size</th>
            <th scope="col">SHA-256</th>
          </tr>
        </thead>
        <tbody>
          {job.files.map((file) => (
            <tr key={file.name}>
              <th scope="row">
                <a href={fileAddress(job.id, file.name)} download={file.name.replace(/^.*\//, '')}>
                  {file.name}
                </a>
              </th>
              <td class="number">{bytes(file.bytes)}</td>
              <td>
                <code title={file.sha256}>{shortDigest(file.sha256)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </Card>
  );
}

function State({ job }: { job: JobDetail }) {
  return (
    <p class="job-state">
      <Badge state={job.state} />
      <span class="muted">
        {job.kind.replaceAll('_', ' ')}
        {job.on === '' ? '' : ` on ${job.on}`}, submitted <Moment time={job.submitted} />
        {job.ended === null ? '' : `, ended ${moment(job.ended)}`}
      </span>
      {job.state === 'running' && (
        <span>
          <span class="stage">{job.stage}</span> {job.progress}
        </span>
      )}
      {job.state === 'waiting' && job.waits_for !== '' && <span>waits for {job.waits_for}</span>}
    </p>
  );
}

export function JobView({ id }: { id: string }) {
  const { job, error, curve } = useJob(id);
  if (job === null)
    return (
      <>
        <ViewHead title={id} />
        {error === null ? <Loading of="the job" /> : <ErrorNote text={error} />}
      </>
    );
  const result = tuningResultOf(job.result);
  const quantized = quantizationResultOf(job.result, job.files.map((file) => file.name));
  return (
    <>
      <ViewHead title={job.id} lead={<State job={job} />}>
        <Actions job={job} best={quantized?.variants.find(({ name }) => name === quantized.best)?.file ?? ''} />
      </ViewHead>
      <ErrorNote text={error} />
      {job.state === 'failed' && <ErrorNote text={job.error === '' ? 'the job has failed without a reason; see its log on the runner' : job.error} />}
      <div class="stack">
        {job.kind === 'tuning' && <Stats job={job} result={result} curve={curve} />}
        {job.promises.length > 0 && (
          <Card title="Promises" hint="Requested limits, their probability, and in the end whether they were met.">
            <PromiseTable promises={job.promises} />
          </Card>
        )}
        {job.kind === 'tuning' && <LatencyCard job={job} curve={curve} />}
        {quantized !== null && quantized.variants.length > 0 && <VariantsCard job={job.id} result={quantized} />}
        <StagesCard job={job} />
        {result !== null && result.tasks.length > 0 && (
          <Card title="Kernels" hint={`Gain of each kernel${result.model === '' ? '' : ` in ${result.model}`}, and its share of the roofline.`}>
            <Roofline result={result} />
            <GainTable tasks={result.tasks} />
          </Card>
        )}
        <FilesCard job={job} />
        {job.files.some((file) => file.name.endsWith('.atn')) && <SignatureCard />}
        <TraceCard job={job.id} />
      </div>
    </>
  );
}
