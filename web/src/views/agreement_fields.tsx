// The fields of an agreement, and what would be promised to a job that has it.
import { useState } from 'preact/hooks';
import { quantityOf, rangeText, sentenceOfAgreement, type AgreementWish, type Offer } from '../agreement';
import { api, body, sentenceOf, type NewJob, type Schemas } from '../api/client';
import { duration, latency, percent } from '../format';
import { NumberField, SelectField, type Choice } from '../ui/fields';
import { Badge, Card, ErrorNote } from '../ui/parts';
import { PromiseTable } from './promises';

type Prediction = Schemas['Prediction'];
const MOST = 1_000_000;
const PRIORITIES: readonly Choice[] = [
  { value: '', name: 'standard' },
  { value: 'low', name: 'low: when no other job waits' },
  { value: 'high', name: 'high: before others' },
];

export function AgreementFields({ wish, change }: { wish: AgreementWish; change: (next: Partial<AgreementWish>) => void }) {
  return (
    <Card title="Targets" hint="All are optional. The server predicts at once whether it can meet them, and refuses what is impossible.">
      <div class="fields">
        <NumberField id="mean" label="Mean latency, ms" min={0} max={MOST} step="any" value={wish.meanMs} set={(meanMs) => change({ meanMs })} />
        <NumberField id="p99" label="99 % of latencies, ms" min={0} max={MOST} step="any" value={wish.p99Ms} set={(p99Ms) => change({ p99Ms })} />
        <NumberField id="loss" label="Loss of accuracy, %" hint="On samples that are held out; tuning alone loses none" min={0} max={100} step="any" value={wish.lossPercent} set={(lossPercent) => change({ lossPercent })} />
        <NumberField id="size" label="Size, MB" min={0} max={MOST} step="any" value={wish.megabytes} set={(megabytes) => change({ megabytes })} />
        <NumberField id="deadline" label="Done within, minutes" min={0} max={MOST} step="any" value={wish.deadlineMinutes} set={(deadlineMinutes) => change({ deadlineMinutes })} />
        <NumberField id="device-time" label="Device time, minutes" min={0} max={MOST} step="any" value={wish.deviceMinutes} set={(deviceMinutes) => change({ deviceMinutes })} />
        <NumberField id="least" label="Refuse below a probability of, %" hint="Default: 50" min={0} max={100} step="any" value={wish.leastPercent} set={(leastPercent) => change({ leastPercent })} />
        <SelectField id="priority" label="Priority" choices={PRIORITIES} value={wish.priority} set={(priority) => change({ priority })} />
      </div>
    </Card>
  );
}

const VERDICTS: Record<Prediction['verdict'], string> = {
  known: 'A known result meets these targets.',
  accepted: 'This will be accepted.',
  renegotiated: 'Not all of this is likely; see the limits that are.',
  refused: 'This would be refused.',
};

interface ToldProps {
  prediction: Prediction;
  isQuantized: boolean;
  takeOffers: (offers: readonly Offer[]) => void;
}
function Told({ prediction, isQuantized, takeOffers }: ToldProps) {
  const { latency_ms: times, finish_seconds: finish, offers } = prediction;
  return (
    <div class="stack" role="status">
      <p>
        <Badge state={prediction.verdict} /> {VERDICTS[prediction.verdict]} {sentenceOfAgreement(prediction.reason)}
      </p>
      <dl class="facts">
        <dt>Latency</dt>
        <dd>{rangeText({ name: 'latency_mean', ...times })}</dd>
        {!isQuantized && (
          <>
            <dt>Roofline bound</dt>
            <dd>{latency(prediction.bound_ms)}</dd>
          </>
        )}
        <dt>Done within</dt>
        <dd>
          {rangeText({ name: 'deadline_seconds', ...finish })}, of which {duration(prediction.queue_seconds)} in the queue
        </dd>
      </dl>
      {prediction.promises.length > 0 && <PromiseTable promises={prediction.promises} />}
      {offers.length > 0 && (
        <div>
          <p>Instead, this can be promised:</p>
          <ul class="offers">
            {offers.map((offer) => (
              <li key={offer.name}>
                {quantityOf(offer.name).name}: {quantityOf(offer.name).show(offer.limit)} holds with {percent(offer.probability)}
              </li>
            ))}
          </ul>
          <button class="button" type="button" onClick={() => takeOffers(offers)}>
            Take these limits
          </button>
        </div>
      )}
    </div>
  );
}

export interface Predicted {
  prediction: Prediction | null;
  error: string | null;
  ask: () => void;
}

// The prediction for the job, until the job is another one. `lack`: the sentence that says why there is none.
export function usePrediction(job: NewJob | null, lack: string | null): Predicted {
  const subject = JSON.stringify(job);
  const [told, setTold] = useState<{ subject: string; prediction: Prediction | null; error: string | null } | null>(null);
  const ask = (): void => {
    if (job === null) return setTold({ subject, prediction: null, error: lack });
    body(api.POST('/v1/predictions', { body: job })).then(
      (prediction) => setTold({ subject, prediction, error: null }),
      (reason: unknown) => setTold({ subject, prediction: null, error: sentenceOf(reason) }),
    );
  };
  const isOfThis = told !== null && told.subject === subject;
  return { prediction: isOfThis ? told.prediction : null, error: isOfThis ? told.error : null, ask };
}

interface PredictionCardProps {
  predicted: Predicted;
  isQuantized: boolean;
  takeOffers: (offers: readonly Offer[]) => void;
}
export function PredictionCard({ predicted: { prediction, error, ask }, isQuantized, takeOffers }: PredictionCardProps) {
  return (
    <Card
      title="Prediction"
      hint="Predicted from known results, similar networks, the roofline and the queue. Nothing is submitted."
      actions={
        <button class="button" type="button" onClick={ask}>
          What can be promised?
        </button>
      }
    >
      <ErrorNote text={error} />
      {prediction !== null && <Told prediction={prediction} isQuantized={isQuantized} takeOffers={takeOffers} />}
    </Card>
  );
}
