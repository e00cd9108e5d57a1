// The fields of an agreement, and what would be promised to a job that has it.
import { useState } from 'preact/hooks';
import type { AgreementWish } from '../agreement';
import { quantityOf } from '../agreement';
import { api, body, sentenceOf, type NewJob, type Schemas } from '../api/client';
import { duration, latency, percent } from '../format';
import { NumberField } from '../ui/number_field';
import { Badge, Card, ErrorNote } from '../ui/parts';
import { PromiseTable } from './promises';

type Prediction = Schemas['Prediction'];
const MOST = 1_000_000;

export function AgreementFields({ wish, change }: { wish: AgreementWish; change: (next: Partial<AgreementWish>) => void }) {
  return (
    <Card title="What it has to reach" hint="All are optional. The server says at once what it can promise, or refuses what is impossible.">
      <div class="fields">
        <NumberField id="mean" label="Mean latency, ms" min={0} max={MOST} step="any" value={wish.meanMs} set={(meanMs) => change({ meanMs })} />
        <NumberField id="p99" label="99 % of latencies, ms" min={0} max={MOST} step="any" value={wish.p99Ms} set={(p99Ms) => change({ p99Ms })} />
        <NumberField id="loss" label="Loss of accuracy, %" min={0} max={100} step="any" value={wish.lossPercent} set={(lossPercent) => change({ lossPercent })} />
        <NumberField id="size" label="Size, MB" min={0} max={MOST} step="any" value={wish.megabytes} set={(megabytes) => change({ megabytes })} />
        <NumberField id="deadline" label="Done within, minutes" min={0} max={MOST} step="any" value={wish.deadlineMinutes} set={(deadlineMinutes) => change({ deadlineMinutes })} />
        <NumberField id="device-time" label="Device time, minutes" min={0} max={MOST} step="any" value={wish.deviceMinutes} set={(deviceMinutes) => change({ deviceMinutes })} />
        <div class="field">
          <label for="priority">Priority</label>
          <select id="priority" value={wish.priority} onChange={(event) => change({ priority: event.currentTarget.value })}>
            <option value="">standard</option>
            <option value="low">low: when nobody else waits</option>
            <option value="high">high: before others</option>
          </select>
        </div>
      </div>
    </Card>
  );
}

const VERDICTS: Record<Prediction['verdict'], string> = {
  known: 'A result that is known already keeps this.',
  accepted: 'This will be accepted.',
  renegotiated: 'Not all of this is likely; see what is.',
  refused: 'This would be refused.',
};

function Told({ prediction }: { prediction: Prediction }) {
  return (
    <div class="stack" role="status">
      <p>
        <Badge state={prediction.verdict} /> {VERDICTS[prediction.verdict]} {prediction.reason}
      </p>
      <p class="muted">
        Latency about {latency(prediction.latency_ms.median)}, never below {latency(prediction.bound_ms)}; done in about {duration(prediction.finish_seconds.median)}, of which {duration(prediction.queue_seconds)} in the queue.
      </p>
      {prediction.promises.length > 0 && <PromiseTable promises={prediction.promises} />}
      {prediction.offers.length > 0 && (
        <ul class="offers">
          {prediction.offers.map((offer) => (
            <li key={offer.name}>
              {quantityOf(offer.name).name}: {quantityOf(offer.name).show(offer.limit)} holds with {percent(offer.probability)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

// `job` is null until there is something to predict for.
export function PredictionCard({ job }: { job: NewJob | null }) {
  const [prediction, setPrediction] = useState<Prediction | null>(null);
  const [error, setError] = useState<string | null>(null);
  const predict = (): void => {
    if (job === null) return setError('add a model first: drop its file above, and wait until it is sent');
    setError(null);
    body(api.POST('/v1/predictions', { body: job })).then(setPrediction, (reason: unknown) => setError(sentenceOf(reason)));
  };
  return (
    <Card
      title="Prediction"
      hint="From known results, similar networks, the roofline and the queue; nothing is submitted."
      actions={
        <button class="button" type="button" onClick={predict}>
          What can be promised?
        </button>
      }
    >
      <ErrorNote text={error} />
      {prediction !== null && <Told prediction={prediction} />}
    </Card>
  );
}
